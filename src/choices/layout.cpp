// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/layout.hpp"

#include <algorithm>
#include <ostream>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope {

Layout::Layout(std::initializer_list<AxisRole> fastest_first) {
  if (fastest_first.size() > roles_.size()) {
    detail::fail("a layout must have at most 7 outer axes",
                 static_cast<std::int64_t>(fastest_first.size()));
  }
  for (const AxisRole role : fastest_first) roles_[static_cast<std::size_t>(axes_++)] = role;
  const auto tokens = std::count(fastest_first.begin(), fastest_first.end(), AxisRole::token);
  const auto batches = std::count(fastest_first.begin(), fastest_first.end(), AxisRole::batch);
  if (tokens != 1)
    detail::fail("a layout must have exactly one token axis", static_cast<std::int64_t>(tokens));
  if (batches > 1)
    detail::fail("a layout must have at most one batch axis", static_cast<std::int64_t>(batches));
}

bool Layout::has_batch() const {
  return std::find(roles_.begin(), roles_.begin() + axes_, AxisRole::batch) !=
         roles_.begin() + axes_;
}

std::string Layout::text() const {
  std::string text = "[";
  for (int axis = 0; axis < axes_; ++axis) {
    const AxisRole role = (*this)[axis];
    if (axis > 0) text += ", ";
    text += role == AxisRole::token ? "token" : role == AxisRole::batch ? "batch" : "other";
  }
  return text + "]";
}

bool operator==(const Layout& a, const Layout& b) {
  return a.axes_ == b.axes_ && a.roles_ == b.roles_;
}

std::ostream& operator<<(std::ostream& stream, const Layout& layout) {
  return stream << layout.text();
}

const Layout& Layout::bsnd() {
  static const Layout layout{AxisRole::other, AxisRole::token, AxisRole::batch};
  return layout;
}

const Layout& Layout::bnsd() {
  static const Layout layout{AxisRole::token, AxisRole::other, AxisRole::batch};
  return layout;
}

const Layout& Layout::sbnd() {
  static const Layout layout{AxisRole::other, AxisRole::batch, AxisRole::token};
  return layout;
}

const Layout& Layout::tnd() {
  static const Layout layout{AxisRole::other, AxisRole::token};
  return layout;
}

const Layout& Layout::bsd() {
  static const Layout layout{AxisRole::token, AxisRole::batch};
  return layout;
}

const Layout& Layout::sd() {
  static const Layout layout{AxisRole::token};
  return layout;
}

}  // namespace eigen_rope
