// SPDX-License-Identifier: Apache-2.0
//
// The targets of the project against what was measured.
//
// targets.json says, for each target, whose time (`contender`) may be at most `at_most` times whose
// (`over`), for which scalars, pairings and shapes. `or_the_time_of` names a contender that it is
// enough to be as fast as. A target that is missed by at most 5 % is `near`. A contender that was
// not measured is a miss: renaming one must not pass unseen. Where the processor can run none of
// the loops written by hand (hand*), what is compared with them counts as not measured.
#pragma once

#include <nlohmann/json_fwd.hpp>
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
  double at_most = 0;
  /// Another contender, with as many threads, whose time over that of `over` is allowed as well.
  std::string or_the_time_of{};
  /// Of `over`.
  int over_threads = 1;
};

/// near: missed by at most 5 %.
enum class Outcome { met, near, missed, not_measured, no_hand_loop };

/// One target for one scalar, pairing and shape.
struct Verdict {
  Outcome outcome;
  const Target* target;
  /// The contender's full name, or the first one that was not measured.
  std::string name;
  double measured = 0;
  double allowed = 0;

  bool passed() const { return outcome == Outcome::met || outcome == Outcome::near; }
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

}  // namespace bench
