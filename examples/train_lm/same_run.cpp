// SPDX-License-Identifier: Apache-2.0
#include "same_run.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "checkpoint.hpp"
#include "checksum.hpp"
#include "error.hpp"

namespace train_lm {
namespace {

std::uint64_t program_checksum() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return fnv1a(bytes.data(), bytes.size());
}

template <class S>
std::uint64_t checksum_of(const Parameters<S>& parameters, std::uint64_t hash) {
  const Vector<S>& flat = parameters.flat();
  return fnv1a(reinterpret_cast<const char*>(flat.data()),
               static_cast<std::size_t>(flat.size()) * sizeof(S), hash);
}

/// The first line that the two do not share; empty where there is none.
std::string different_line(const std::string& here, const std::string& there) {
  std::istringstream a(here), b(there);
  std::string line, other;
  while (std::getline(a, line) && std::getline(b, other)) {
    if (line != other) return fmt::format("{}, where the first rank has {}", line, other);
  }
  return here == there ? std::string() : "other options than the first rank";
}

}  // namespace

void require_same_program(Ranks& ranks, const std::string& options) {
  if (ranks.count() == 1) return;
  const std::string program = std::to_string(program_checksum());
  const bool same = ranks.broadcast(program) == program;
  const std::string difference = different_line(options, ranks.broadcast(options));
  if (!same)
    throw Error(fmt::format("rank {} runs another program than the first rank", ranks.rank()));
  if (!difference.empty()) throw Error(fmt::format("rank {} has {}", ranks.rank(), difference));
}

void share_runs(Ranks& ranks, std::vector<SessionRun>& runs) {
  if (ranks.count() == 1) return;
  const std::size_t count = std::stoul(ranks.broadcast(std::to_string(runs.size())));
  for (std::size_t i = 0; i < count; ++i) {
    if (ranks.first()) {
      ranks.broadcast(encode_checkpoint(runs[i].config, runs[i].state));
    } else {
      Checkpoint received = decode_checkpoint(ranks.broadcast({}));
      runs.push_back({received.config, std::move(received.state), {}});
    }
  }
}

void require_same_text(const Ranks& ranks, const Corpus& corpus, const RunConfig& config) {
  if (corpus.checksum == config.text_checksum) return;
  throw Error(
      fmt::format("rank {} has another text in {} than the first rank", ranks.rank(), config.text));
}

void require_equal_states(const RunState& state, Ranks& ranks) {
  if (ranks.count() == 1) return;
  std::uint64_t hash = checksum_of(state.weights, fnv1a_start);
  hash = checksum_of(state.moments.m, hash);
  hash = checksum_of(state.moments.v, hash);
  const std::string here = std::to_string(hash);
  if (ranks.broadcast(here) != here) {
    throw Error(fmt::format("after step {} the weights of rank {} are not those of the first rank",
                            state.step, ranks.rank()));
  }
}

}  // namespace train_lm
