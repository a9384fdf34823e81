// SPDX-License-Identifier: Apache-2.0
//
// The targets of the project against what was measured.
//
// targets.json says, for each target, whose time (`contender`) may be at most `at_most` times whose
// (`over`), for which scalars, pairings and shapes; or how much faster two threads must be
// (`speedup_at_least`), unless two threads copy no better (`or_that_of`: the implementation whose
// own gain is enough). `times_that_of` and `times_that_of_over` name two contenders by whose
// quotient at_most is multiplied: what memory asks of anyone. `or_the_time_of` names a contender
// that it is enough to be as fast as. A contender that was not measured is a miss: renaming one
// must not pass unseen.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ratios.hpp"

namespace bench {

struct Target {
  std::string title;
  std::string contender, over;
  int threads = 1;
  std::vector<std::string> scalars, pairings, shapes;
  /// Exactly one of the two is given.
  std::optional<double> at_most, speedup_at_least;
  std::string or_that_of{};
  /// Another contender, with as many threads, whose time over that of `over` is allowed as well.
  std::string or_the_time_of{};
  /// Of `over`.
  int over_threads = 1;
  std::string times_that_of{}, times_that_of_over{};
  /// What is reached where the target is not, as docs/performance.md explains; a bound of the same
  /// kind.
  std::optional<double> limit{};
};

/// within_limit: the target is missed, by no more than is known and explained.
enum class Outcome { met, within_limit, missed, not_measured };

/// One target for one scalar, pairing and shape.
struct Verdict {
  Outcome outcome;
  const Target* target;
  /// The contender's full name, or the first one that was not measured.
  std::string name;
  double measured = 0;
  double allowed = 0;

  bool passed() const { return outcome == Outcome::met || outcome == Outcome::within_limit; }
};

/// Throws std::runtime_error for a file that cannot be read, nlohmann::json::exception or
/// std::runtime_error for one that says nonsense.
std::vector<Target> read_targets(const std::string& file);
std::vector<Target> parse_targets(const nlohmann::json& json);

/// Every name the targets need measured.
std::set<std::string> needed_names(const std::vector<Target>& targets);

/// One verdict per target, scalar, pairing and shape. They point into `targets`.
std::vector<Verdict> check(const std::vector<Target>& targets, const Results& results);

/// Takes the verdicts of a later measurement where they are better. Both are of the same targets.
void keep_better(std::vector<Verdict>& verdicts, const std::vector<Verdict>& later);

/// A line: outcome, name, measured, allowed.
std::string line_of(const Verdict& verdict);

/// Empty if every program ran with the instruction set the targets were set for; otherwise one line
/// that says so.
std::string instruction_set_note(const Results& results);

}  // namespace bench
