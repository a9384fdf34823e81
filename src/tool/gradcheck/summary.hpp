// SPDX-License-Identifier: Apache-2.0
//
// The worst ratio of error to bound of each quantity, over all its answers and layouts: what the
// table prints and the picture shows.
//
// Rows in the order of the cases. Not the numbers behind a ratio: those are the report's entries.
#pragma once

#include <map>
#include <vector>

#include "tool/gradcheck/gradcheck.hpp"

namespace eigen_rope::tool {

using WorstRatios = std::map<Quantity, double>;

struct SummaryRow {
  PairKind pairing = PairKind::split_half;
  std::string scaling{};
  ScalarType scalar = ScalarType::f64;
  WorstRatios worst{};
};

/// One row per pairing, scaling and scalar.
inline std::vector<SummaryRow> summary_of(const GradcheckReport& report) {
  std::vector<SummaryRow> rows;
  for (const GradcheckEntry& entry : report.entries) {
    const GradcheckCase& at = entry.at;
    const bool same = !rows.empty() && rows.back().pairing == at.pairing &&
                      rows.back().scaling == at.scaling && rows.back().scalar == at.scalar;
    if (!same) rows.push_back({at.pairing, at.scaling, at.scalar, {}});
    double& worst = rows.back().worst[entry.quantity];
    if (entry.ratio > worst) worst = entry.ratio;
  }
  return rows;
}

}  // namespace eigen_rope::tool
