// SPDX-License-Identifier: Apache-2.0
#include "eigen_rope/choices/layout.hpp"

#include <algorithm>
#include <ostream>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI {

Layout::Layout(std::initializer_list<AxisRole> fastest_first) {
  const auto count = [&](AxisRole role) {
    return std::count(fastest_first.begin(), fastest_first.end(), role);
  };
  const auto tokens = count(AxisRole::token);
  const auto batches = count(AxisRole::batch);
  const auto features = count(AxisRole::feature);
  const auto outer = static_cast<std::int64_t>(fastest_first.size()) - features;
  if (outer > max_rank - 1) detail::fail("a layout must have at most 7 outer axes", outer);
  if (features > 1) {
    detail::fail("a layout must have at most one feature axis",
                 static_cast<std::int64_t>(features));
  }
  for (const AxisRole role : fastest_first) {
    if (role == AxisRole::feature) {
      feature_axis_ = axes_;
    } else {
      roles_[static_cast<std::size_t>(axes_++)] = role;
    }
  }
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
  std::string text;
  const auto add = [&](const char* name) {
    text += text.empty() ? "[" : ", ";
    text += name;
  };
  for (int axis = 0; axis <= axes_; ++axis) {
    // The feature axis is understood where it is the fastest one.
    if (axis == feature_axis_ && feature_axis_ > 0) add("feature");
    if (axis == axes_) break;
    const AxisRole role = (*this)[axis];
    add(role == AxisRole::token ? "token" : role == AxisRole::batch ? "batch" : "other");
  }
  return text + "]";
}

bool operator==(const Layout& a, const Layout& b) {
  return a.axes_ == b.axes_ && a.roles_ == b.roles_ && a.feature_axis_ == b.feature_axis_;
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

const Layout& Layout::dnsb() {
  static const Layout layout{AxisRole::batch, AxisRole::token, AxisRole::other, AxisRole::feature};
  return layout;
}

const Layout& Layout::dsnb() {
  static const Layout layout{AxisRole::batch, AxisRole::other, AxisRole::token, AxisRole::feature};
  return layout;
}

const Layout& Layout::dns() {
  static const Layout layout{AxisRole::token, AxisRole::other, AxisRole::feature};
  return layout;
}

const Layout& Layout::dsb() {
  static const Layout layout{AxisRole::batch, AxisRole::token, AxisRole::feature};
  return layout;
}

const Layout& Layout::ds() {
  static const Layout layout{AxisRole::token, AxisRole::feature};
  return layout;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI
