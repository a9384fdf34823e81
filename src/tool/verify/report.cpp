// SPDX-License-Identifier: Apache-2.0
#include "tool/verify/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "eigen_rope/numbers/error.hpp"
#include "tool/io/files.hpp"

namespace eigen_rope::tool {
namespace fs = std::filesystem;
namespace {

using GroupKey = std::pair<std::string, std::string>;  // folder and name

struct Group {
  GroupKey key{};
  std::int64_t cases = 0, failed = 0;
  double worst = 0;
};

// Groups in the order of their first case.
std::vector<Group> groups_of(const Report& report) {
  std::vector<Group> groups;
  std::map<GroupKey, std::size_t> places;
  for (const CaseResult& result : report.cases) {
    const GroupKey key(result.folder, result.group);
    const auto [place, added] = places.emplace(key, groups.size());
    if (added) groups.push_back({key, 0, 0, 0});
    Group& group = groups[place->second];
    ++group.cases;
    group.failed += result.passed() ? 0 : 1;
    for (const Check& check : result.checks) group.worst = std::max(group.worst, check.ratio);
  }
  return groups;
}

std::string table_of(const Report& report) {
  const std::vector<Group> groups = groups_of(report);
  std::size_t width = std::string_view("group").size();
  for (const Group& group : groups) width = std::max(width, group.key.second.size());
  std::string text = fmt::format("{:<{}}  {:>6}  {:>12}\n", "group", width, "cases", "worst/bound");
  for (const Group& group : groups) {
    text += fmt::format("{:<{}}  {:>6}  {:>12.4g}  {}\n", group.key.second, width, group.cases,
                        group.worst, group.failed == 0 ? "ok" : "FAILED");
  }
  return text;
}

std::string failure_text(const CaseResult& result) {
  std::string text = fmt::format("FAILED {}: case {} (group {})\n  {}\n", result.folder,
                                 result.name, result.group, result.parameters);
  if (!result.refusal.empty())
    text += fmt::format("  the operator refused it: {}\n", result.refusal);
  for (const Check& check : result.checks) {
    if (check.passed()) continue;
    text += fmt::format(
        "  {} {}: error {:.6g}, bound {:.6g}; element {}: mine {:.17g}, stored {:.17g}\n",
        check.policy, check.output, check.error, check.bound, check.element, check.mine,
        check.stored);
    if (!check.problem.empty()) text += fmt::format("    {}\n", check.problem);
  }
  return text;
}

Json json_of(const Check& check) {
  return {{"policy", check.policy},   {"output", check.output},   {"error", check.error},
          {"bound", check.bound},     {"ratio", check.ratio},     {"element", check.element},
          {"mine", check.mine},       {"stored", check.stored},   {"unequal", check.unequal},
          {"rounded", check.rounded}, {"problem", check.problem}, {"passed", check.passed()}};
}

Json json_of(const Report& report) {
  Json cases = Json::array();
  for (const CaseResult& result : report.cases) {
    Json checks = Json::array();
    for (const Check& check : result.checks) checks.push_back(json_of(check));
    cases.push_back({{"folder", result.folder},
                     {"name", result.name},
                     {"group", result.group},
                     {"passed", result.passed()},
                     {"refusal", result.refusal},
                     {"checks", std::move(checks)}});
  }
  Json groups = Json::array();
  for (const Group& group : groups_of(report)) {
    groups.push_back({{"folder", group.key.first},
                      {"name", group.key.second},
                      {"cases", group.cases},
                      {"failed", group.failed},
                      {"worst", group.worst}});
  }
  return {{"passed", report.passed()},
          {"failed", report.failed()},
          {"not_checked", report.remarks},
          {"groups", std::move(groups)},
          {"cases", std::move(cases)}};
}

}  // namespace

bool CaseResult::passed() const {
  return refusal.empty() && std::all_of(checks.begin(), checks.end(),
                                        [](const Check& check) { return check.passed(); });
}

CaseResult run_case(const GoldenIndex& index, const Entry& entry,
                    const std::function<std::vector<Check>()>& check) {
  CaseResult result;
  result.folder = index.folder().string();
  result.parameters = parameters_of(entry);
  try {
    result.checks = check();
  } catch (const Error& error) {
    result.refusal = error.what();
  }
  return result;
}

void Report::apply_group_rules() {
  struct Share {
    std::int64_t unequal = 0, rounded = 0;
  };
  std::map<std::pair<GroupKey, std::string>, Share> shares;  // by policy as well
  for (const CaseResult& result : cases) {
    for (const Check& check : result.checks) {
      Share& share = shares[{{result.folder, result.group}, check.policy}];
      share.unequal += check.unequal;
      share.rounded += check.rounded;
    }
  }
  for (CaseResult& result : cases) {
    for (Check& check : result.checks) {
      if (check.unequal == 0) continue;
      const Share share = shares[{{result.folder, result.group}, check.policy}];
      const std::int64_t allowed = std::max<std::int64_t>(1, share.rounded / check.share);
      if (share.unequal <= allowed) continue;
      if (!check.problem.empty()) check.problem += "; ";
      check.problem += fmt::format(
          "{} elements are not the expected value rounded once, {} of {} in the group, where {} "
          "may",
          check.unequal, share.unequal, share.rounded, allowed);
    }
  }
}

std::int64_t Report::passed() const {
  return std::count_if(cases.begin(), cases.end(),
                       [](const CaseResult& result) { return result.passed(); });
}

std::int64_t Report::failed() const { return static_cast<std::int64_t>(cases.size()) - passed(); }

std::string text_of(const Report& report, Detail detail) {
  std::string text;
  if (detail == Detail::full) {
    for (const std::string& remark : report.remarks) text += remark + "\n";
    if (!report.cases.empty()) text += table_of(report);
  }
  for (const CaseResult& result : report.cases) {
    if (!result.passed()) text += failure_text(result);
  }
  return text + fmt::format("{} passed, {} failed\n", report.passed(), report.failed());
}

void write_json(const Report& report, const fs::path& path) {
  // Numbers that are not finite become null.
  const std::string text =
      json_of(report).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  write_whole(path, text);
}

}  // namespace eigen_rope::tool
