// SPDX-License-Identifier: Apache-2.0
#include "check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace bench {
namespace {

constexpr double near_factor = 1.05;

/// The names one target, scalar, pairing and shape needs.
struct Needed {
  std::string contender, over, other;
};

Needed needed_of(const Target& t, const std::string& scalar, const std::string& pairing,
                 const std::string& shape) {
  const auto name = [&](const std::string& implementation, int threads) {
    return Name{implementation, scalar, pairing, shape, threads}.text();
  };
  Needed result{name(t.contender, t.threads), name(t.over, t.over_threads), ""};
  if (!t.or_the_time_of.empty()) result.other = name(t.or_the_time_of, t.threads);
  return result;
}

bool is_hand_loop(const std::string& name) {
  return Name::parse(name).implementation.rfind("hand", 0) == 0;
}

bool has_hand_loops(const Results& results) {
  return std::any_of(results.measurements().begin(), results.measurements().end(),
                     [](const Measurement& m) { return is_hand_loop(m.name.text()); });
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
  for (const std::string* name : {&needed.contender, &needed.over, &needed.other}) {
    if (name->empty() || results.find(*name) != nullptr) continue;
    const bool no_loop = is_hand_loop(*name) && !has_hand_loops(results) &&
                         results.find(needed.contender) != nullptr;
    return {no_loop ? Outcome::no_hand_loop : Outcome::not_measured, &target,
            no_loop ? needed.contender : *name};
  }
  const double over = results.find(needed.over)->time();
  Verdict verdict{Outcome::missed, &target, needed.contender};
  verdict.measured = results.find(needed.contender)->time() / over;
  verdict.allowed = target.at_most;
  if (!needed.other.empty())
    verdict.allowed = std::max(verdict.allowed, results.find(needed.other)->time() / over);
  if (verdict.measured <= verdict.allowed) {
    verdict.outcome = Outcome::met;
  } else if (verdict.measured <= near_factor * verdict.allowed) {
    verdict.outcome = Outcome::near;
  }
  return verdict;
}

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
  static const std::set<std::string> known_keys{
      "target",          "contender", "over",    "threads",        "over_threads", "scalars",
      "pairings",        "shapes",    "at_most", "or_the_time_of", "operations",   "flags",
      "threads_of_both", "nearest"};
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
    t.at_most = entry.at("at_most");
    t.or_the_time_of = entry.value("or_the_time_of", "");
    t.over_threads = entry.value("over_threads", 1);
    for (const auto& [key, value] : entry.items()) {
      if (known_keys.count(key) == 0)
        throw std::runtime_error(fmt::format("{}: a target has no {}", t.title, key));
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
    for (const std::string& name : {needed.contender, needed.over, needed.other}) {
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
  if (v.outcome == Outcome::no_hand_loop)
    return fmt::format("none  {:<62} no hand loop    ({})", v.name, v.target->title);
  return fmt::format("{}  {:<62} measured {:6.3f}  allowed {:6.3f}    ({}, over {})",
                     v.outcome == Outcome::met    ? "ok  "
                     : v.outcome == Outcome::near ? "near"
                                                  : "MISS",
                     v.name, v.measured, v.allowed, v.target->title, v.target->over);
}

}  // namespace bench
