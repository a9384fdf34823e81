// SPDX-License-Identifier: Apache-2.0
#include "check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace bench {
namespace {

/// The names one target, scalar, pairing and shape needs.
struct Needed {
  std::string contender, over, other_slow, other_fast;
};

Needed needed_of(const Target& t, const std::string& scalar, const std::string& pairing,
                 const std::string& shape) {
  const auto name = [&](const std::string& implementation, int threads) {
    return Name{implementation, scalar, pairing, shape, threads}.text();
  };
  Needed result{name(t.contender, t.threads), name(t.over, t.over_threads), "", ""};
  if (!t.or_the_time_of.empty()) result.other_slow = name(t.or_the_time_of, t.threads);
  if (!t.or_that_of.empty()) {
    result.other_slow = name(t.or_that_of, 1);
    result.other_fast = name(t.or_that_of, t.threads);
  }
  if (!t.times_that_of.empty()) {
    result.other_slow = name(t.times_that_of, 1);
    result.other_fast = name(t.times_that_of_over, 1);
  }
  return result;
}

template <class Visit>
void for_each_needed(const std::vector<Target>& targets, const Visit& visit) {
  for (const Target& target : targets) {
    for (const std::string& shape : target.shapes) {
      for (const std::string& scalar : target.scalars) {
        for (const std::string& pairing : target.pairings)
          visit(target, needed_of(target, scalar, pairing, shape));
      }
    }
  }
}

Verdict judge(const Target& target, const Needed& needed, const Results& results) {
  for (const std::string* name :
       {&needed.contender, &needed.over, &needed.other_slow, &needed.other_fast}) {
    if (!name->empty() && results.find(*name) == nullptr)
      return {Outcome::not_measured, &target, *name};
  }
  const auto ratio = [&](const std::string& a, const std::string& b) {
    return results.find(a)->time() / results.find(b)->time();
  };
  Verdict verdict{Outcome::missed, &target, needed.contender};
  if (target.at_most) {
    verdict.measured = ratio(needed.contender, needed.over);
    const double factor =
        needed.other_fast.empty() ? 1 : ratio(needed.other_slow, needed.other_fast);
    verdict.allowed = *target.at_most * factor;
    if (!target.or_the_time_of.empty())
      verdict.allowed = std::max(verdict.allowed, ratio(needed.other_slow, needed.over));
    if (target.limit && verdict.measured <= *target.limit * factor)
      verdict.outcome = Outcome::within_limit;
    if (verdict.measured <= verdict.allowed) verdict.outcome = Outcome::met;
  } else {
    verdict.measured = ratio(needed.over, needed.contender);
    verdict.allowed = *target.speedup_at_least;
    if (!needed.other_fast.empty())
      verdict.allowed = std::min(verdict.allowed, ratio(needed.other_slow, needed.other_fast));
    if (target.limit && verdict.measured >= *target.limit) verdict.outcome = Outcome::within_limit;
    if (verdict.measured >= verdict.allowed) verdict.outcome = Outcome::met;
  }
  return verdict;
}

}  // namespace

namespace {

/// An entry for each of its `operations`, `flags` and `threads_of_both`: names are written
/// *_nested, of which the star is the operation, and the flags are appended.
std::vector<nlohmann::json> expanded(const nlohmann::json& entry) {
  if (!entry.contains("operations")) return {entry};
  std::vector<nlohmann::json> entries;
  for (const std::string& operation : entry.at("operations").get<std::vector<std::string>>()) {
    for (const std::string& flags : entry.at("flags").get<std::vector<std::string>>()) {
      for (const int threads : entry.at("threads_of_both").get<std::vector<int>>()) {
        nlohmann::json one = entry;
        one["threads"] = one["over_threads"] = threads;
        for (const char* key : {"contender", "over", "or_the_time_of"}) {
          if (!entry.contains(key)) continue;
          std::string name = entry.at(key);
          const std::size_t star = name.find('*');
          if (star == std::string::npos)
            throw std::runtime_error(
                fmt::format("{}: no star in {}", entry.at("target").dump(), name));
          one[key] = name.replace(star, 1, operation) + flags;
        }
        entries.push_back(std::move(one));
      }
    }
  }
  return entries;
}

std::vector<nlohmann::json> all_entries(const nlohmann::json& file) {
  std::vector<nlohmann::json> entries;
  for (const nlohmann::json& entry : file.at("targets")) {
    for (nlohmann::json& one : expanded(entry)) entries.push_back(std::move(one));
  }
  return entries;
}

}  // namespace

std::vector<Target> parse_targets(const nlohmann::json& json) {
  std::vector<Target> targets;
  for (const nlohmann::json& entry : all_entries(json)) {
    Target t;
    t.title = entry.at("target");
    t.contender = entry.at("contender");
    t.over = entry.at("over");
    t.threads = entry.value("threads", 1);
    t.scalars = entry.at("scalars").get<std::vector<std::string>>();
    t.pairings = entry.at("pairings").get<std::vector<std::string>>();
    t.shapes = entry.at("shapes").get<std::vector<std::string>>();
    if (entry.contains("at_most")) t.at_most = entry.at("at_most").get<double>();
    if (entry.contains("speedup_at_least"))
      t.speedup_at_least = entry.at("speedup_at_least").get<double>();
    t.or_that_of = entry.value("or_that_of", "");
    t.or_the_time_of = entry.value("or_the_time_of", "");
    t.over_threads = entry.value("over_threads", 1);
    if (entry.contains("limit")) t.limit = entry.at("limit").get<double>();
    t.times_that_of = entry.value("times_that_of", "");
    t.times_that_of_over = entry.value("times_that_of_over", "");
    if (t.times_that_of.empty() != t.times_that_of_over.empty()) {
      throw std::runtime_error(t.title + ": times_that_of and times_that_of_over belong together");
    }
    if (t.at_most.has_value() == t.speedup_at_least.has_value()) {
      throw std::runtime_error(t.title + ": a target has either at_most or speedup_at_least");
    }
    if (t.scalars.empty() || t.pairings.empty() || t.shapes.empty()) {
      throw std::runtime_error(t.title + ": a target needs scalars, pairings and shapes");
    }
    targets.push_back(std::move(t));
  }
  if (targets.empty()) throw std::runtime_error("there are no targets");
  return targets;
}

std::vector<Target> read_targets(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file);
  return parse_targets(nlohmann::json::parse(in));
}

std::set<std::string> needed_names(const std::vector<Target>& targets) {
  std::set<std::string> names;
  for_each_needed(targets, [&](const Target&, const Needed& needed) {
    for (const std::string& name :
         {needed.contender, needed.over, needed.other_slow, needed.other_fast}) {
      if (!name.empty()) names.insert(name);
    }
  });
  return names;
}

std::vector<Verdict> check(const std::vector<Target>& targets, const Results& results) {
  std::vector<Verdict> verdicts;
  for_each_needed(targets, [&](const Target& target, const Needed& needed) {
    verdicts.push_back(judge(target, needed, results));
  });
  return verdicts;
}

void keep_better(std::vector<Verdict>& verdicts, const std::vector<Verdict>& later) {
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (later.at(i).outcome < verdicts[i].outcome) verdicts[i] = later[i];
  }
}

std::string line_of(const Verdict& v) {
  if (v.outcome == Outcome::not_measured)
    return fmt::format("MISS  {:<62} not measured    ({})", v.name, v.target->title);
  const bool speedup = v.target->speedup_at_least.has_value();
  return fmt::format("{}  {:<62} measured {:6.3f}  allowed {} {:6.3f}    ({}, over {})",
                     v.outcome == Outcome::met            ? "ok  "
                     : v.outcome == Outcome::within_limit ? "near"
                                                          : "MISS",
                     v.name, v.measured, speedup ? ">=" : "<=", v.allowed, v.target->title,
                     v.target->over);
}

std::string instruction_set_note(const Results& results) {
  for (const Program& program : results.programs()) {
    if (!program.kernel_target.empty() && program.kernel_target.rfind("AVX3", 0) != 0) {
      return "note: the kernels ran with " + program.kernel_target +
             "; the targets were set for AVX-512 (AVX3)";
    }
  }
  return "";
}

}  // namespace bench
