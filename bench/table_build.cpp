// SPDX-License-Identifier: Apache-2.0
#include "table_build.hpp"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

namespace bench {
namespace {

constexpr Index tokens = 4096;
constexpr Index pairs = 64;
constexpr double base = 10000;

/// One set of positions and what both contenders make of it.
struct Tables {
  Tables(std::vector<std::int64_t> list, eigen_rope::Positions same)
      : ids(std::move(list)),
        rates(static_cast<std::size_t>(pairs)),
        positions(std::move(same)),
        cos(static_cast<std::size_t>(tokens * pairs)),
        sin(cos.size()) {
    for (Index k = 0; k < pairs; ++k)
      rates[static_cast<std::size_t>(k)] = std::pow(base, -static_cast<double>(k) / pairs);
  }

  void fill_by_libm() {
    std::size_t at = 0;
    for (const std::int64_t id : ids) {
      for (const double rate : rates) {
        const double angle = static_cast<double>(id) * rate;
        cos[at] = static_cast<float>(std::cos(angle));
        sin[at] = static_cast<float>(std::sin(angle));
        ++at;
      }
    }
  }

  /// libm's angle is rounded once at up to 2^17, the result to float: half an ulp of 1 and a
  /// little.
  bool same(const eigen_rope::Cache<float>& cache) {
    fill_by_libm();
    for (std::size_t i = 0; i < cos.size(); ++i) {
      const float error =
          std::max(std::abs(cache.cos()[i] - cos[i]), std::abs(cache.sin()[i] - sin[i]));
      if (!(error <= Eigen::NumTraits<float>::epsilon())) return false;
    }
    return true;
  }

  std::vector<std::int64_t> ids;
  std::vector<double> rates;
  eigen_rope::Positions positions;
  std::vector<float> cos, sin;
};

std::vector<std::int64_t> consecutive() {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(tokens));
  for (std::size_t s = 0; s < ids.size(); ++s) ids[s] = static_cast<std::int64_t>(s);
  return ids;
}

std::vector<std::int64_t> arbitrary() {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(tokens));
  std::uint32_t state = 5;
  for (std::int64_t& id : ids) {
    state = state * 1664525U + 1013904223U;
    id = state >> 15;
  }
  return ids;
}

void run_positions(Session& session, const std::string& kind,
                   const std::shared_ptr<Tables>& tables) {
  const std::string build = session.name("table_build", "f32", "any", kind, 1);
  const std::string libm = session.name("libm", "f32", "any", kind, 1);
  if (!session.wants(build) && !session.wants(libm)) return;
  const eigen_rope::Frequencies frequencies = eigen_rope::Frequencies::powers({2 * pairs});
  const auto make = [tables, frequencies] {
    return eigen_rope::Cache<float>(frequencies, tables->positions, eigen_rope::Layout::sd());
  };
  const std::size_t bytes = 2 * static_cast<std::size_t>(tokens * pairs) * sizeof(float);
  session.run("table " + kind,
              {{build,
                {[make] { make(); }, [make, tables] { return tables->same(make()); }},
                Repetitions::many,
                bytes},
               {libm,
                {[tables] { tables->fill_by_libm(); }, [] { return true; }},
                Repetitions::many,
                bytes}});
}

}  // namespace

void run_table_build(Session& session) {
  run_positions(session, "consecutive",
                std::make_shared<Tables>(consecutive(), eigen_rope::Positions::range(0, tokens)));
  run_positions(session, "ids",
                std::make_shared<Tables>(arbitrary(), eigen_rope::Positions::ids(arbitrary())));
}

}  // namespace bench
