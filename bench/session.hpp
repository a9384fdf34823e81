// SPDX-License-Identifier: Apache-2.0
//
// One run of Google Benchmark per group of contenders that are compared with each other, and the
// results of all groups in one JSON file.
//
// Timings of shared machines drift within milliseconds, so the contenders of a group (one shape,
// scalar and pairing) take their turns in random order, many short repetitions each, and every
// repetition times memcpy of the same arrays right before the contender: field "memcpy_us" of the
// JSON. The ratio of the two is what is compared. Every contender is checked against the reference
// before the group starts; one that differs is not timed, and the run fails. A group's arrays are
// freed before the next one's are made. Not statistics: those are ratios.hpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "case.hpp"
#include "contender.hpp"

namespace bench {

enum class Pace { normal, quick };

struct SessionOptions {
  std::string out{};
  /// A regular expression searched in names.
  std::string filter{};
  /// If given, only these names are run.
  std::optional<std::set<std::string>> only{};
  Pace pace = Pace::normal;
  /// Appended to every implementation's name: says with which flags the program was compiled.
  std::string suffix{};
};

/// A contender with its arrays, ready to be timed.
struct Entry {
  std::string name;
  Prepared prepared;
  Repetitions repetitions = Repetitions::many;
  /// Read and written by one call.
  std::size_t bytes = 0;
  /// What is timed right before each repetition; none where there is nothing to copy.
  Action memcpy{};
};

class Session {
 public:
  explicit Session(SessionOptions options);

  bool wants(const std::string& name) const;
  Pace pace() const { return options_.pace; }
  /// rotate/<impl>/<scalar>/<pairing>/<shape>/threads:<n>
  std::string name(const std::string& implementation, const std::string& scalar,
                   const std::string& pairing, const std::string& shape, int threads) const;

  /// Checks and times the entries against each other.
  void run(const std::string& title, const std::vector<Entry>& entries);

  /// Makes the arrays of a group and runs the contenders that are wanted.
  template <class T>
  void run_group(const CaseShape& shape, eigen_rope::Pairing pairing,
                 const Contenders<T>& contenders);

  /// Writes what was measured. 0, or 1 if a contender differed from the reference, or 2 if nothing
  /// was measured.
  int finish() const;

 private:
  SessionOptions options_;
  std::regex filter_;
  nlohmann::json results_;
  bool differed_ = false;
};

template <class T>
void Session::run_group(const CaseShape& shape, eigen_rope::Pairing pairing,
                        const Contenders<T>& contenders) {
  const auto name_of = [&](const Contender<T>& contender) {
    return name(contender.implementation, scalar_name<T>, pairing_name(pairing), shape.name,
                contender.threads);
  };
  const auto wanted = [&](const Contender<T>& contender) { return wants(name_of(contender)); };
  if (std::none_of(contenders.begin(), contenders.end(), wanted)) return;
  Case<T> c(shape, pairing);
  const Action copy = [&c] { std::memcpy(static_cast<void*>(c.y.data()), c.x.data(), c.bytes()); };
  std::vector<Entry> entries;
  for (const Contender<T>& contender : contenders) {
    if (wanted(contender))
      entries.push_back(
          {name_of(contender), contender.prepare(c), contender.repetitions, 2 * c.bytes(), copy});
  }
  run(std::string(shape.name) + ' ' + scalar_name<T> + ' ' + pairing_name(pairing), entries);
}

/// The command line of both programs: --out, --filter, --targets, --quick. Calls `groups` and
/// returns the exit code.
int session_main(int argc, char** argv, const std::string& suffix,
                 const std::function<void(Session&)>& groups);

}  // namespace bench
