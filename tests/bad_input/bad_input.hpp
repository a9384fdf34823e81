// SPDX-License-Identifier: Apache-2.0
//
// The bad input matrix: one table of argument x fault, with the exact message of every cell. This
// is the place to look what the library refuses, and what it accepts by design.
//
//   const Cell<Memory> cells[] = {{"base", Fault::zero, [](Memory&) { ... }, "base must be finite
//       and greater than 0, got 0"}, ...};
//   const Area area("frequencies", cells);
//                       counted for the figures
//   TEST(BadInput, Frequencies) { expect_refusals(cells); }
//
// Of every refusal it is checked that it is a eigen_rope::Error whose message is this one, on one
// line, shorter than 600 bytes and beginning with
// "[rope] "; and that all memory the fixture gave out is bit for bit what it was. Not a test of
// what valid calls compute.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "eigen_rope/numbers/error.hpp"
#include "eigen_rope/numbers/shape.hpp"
#include "support/extremes.hpp"

namespace eigen_rope::test {

/// What is wrong with an argument. `unknown` is a choice, a type or a name that is none of those
/// there are; `missing` one that is needed and not given.
enum class Fault {
  null,
  nan,
  infinite,
  zero,
  negative,
  odd,
  too_small,
  too_large,
  wrong_rank,
  wrong_length,
  wrong_shape,
  aliasing,
  overlapping,
  huge,
  unknown,
  missing
};

inline const char* name_of(Fault fault) {
  constexpr const char* names[] = {"null",        "NaN",          "infinite",    "zero",
                                   "negative",    "odd",          "too small",   "too large",
                                   "wrong rank",  "wrong length", "wrong shape", "aliasing",
                                   "overlapping", "huge",         "unknown",     "missing"};
  return names[static_cast<std::size_t>(fault)];
}

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr Index two_to_31 = Index{1} << 31;
inline constexpr Index two_to_40 = Index{1} << 40;
inline constexpr Index two_to_62 = Index{1} << 62;

/// Hands out arrays and remembers them. Elements are poison: the bytes 1, 2, 3, ..., so that a copy
/// to the wrong place shows as well.
class Memory {
 public:
  Memory() = default;
  virtual ~Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  template <class T>
  T* array(std::size_t count) {
    // From the allocator, which aligns it for every T.
    blocks_.push_back(std::make_unique<std::vector<unsigned char>>(count * sizeof(T)));
    std::vector<unsigned char>& block = *blocks_.back();
    for (std::size_t i = 0; i < block.size(); ++i)
      block[i] = static_cast<unsigned char>(1 + i % 61);
    return reinterpret_cast<T*>(block.data());
  }
  /// What a cell itself writes before its call belongs to what must stay.
  void remember() { before_ = bytes(); }
  bool untouched() const { return before_ == bytes(); }

 protected:
  /// Everything, in the order it was given out.
  virtual std::vector<unsigned char> bytes() const {
    std::vector<unsigned char> all;
    for (const auto& block : blocks_) all.insert(all.end(), block->begin(), block->end());
    return all;
  }

 private:
  std::vector<std::unique_ptr<std::vector<unsigned char>>> blocks_;
  std::vector<unsigned char> before_;
};

/// One cell of the matrix. Fixture is a Memory, or derived from it: made anew for every cell.
template <class Fixture>
struct Cell {
  const char* argument;
  Fault fault;
  void (*call)(Fixture&);
  /// Without the "[rope] " every message begins with. nullptr: accepted by design, and the remark
  /// says why.
  const char* message;
  /// Where a peer breaks, or why this is accepted.
  const char* remark = nullptr;
};

/// How many cells an area has.
struct AreaCount {
  std::string name;
  int refused = 0;
  int accepted = 0;
  int peers = 0;  ///< of both: where a peer crashes or is silently wrong
};

inline std::vector<AreaCount>& area_counts() {
  static std::vector<AreaCount> counts;
  return counts;
}

/// Counts a table where it stands, so that the figures are those of the whole executable whatever
/// part of it runs.
class Area {
 public:
  template <class Fixture, std::size_t size>
  Area(const char* name, const Cell<Fixture> (&cells)[size]) {
    AreaCount count{name};
    for (const Cell<Fixture>& cell : cells) {
      ++(cell.message == nullptr ? count.accepted : count.refused);
      if (cell.remark != nullptr && std::strncmp(cell.remark, "peer: ", 6) == 0) ++count.peers;
    }
    area_counts().push_back(count);
  }
};

/// The message of a refusal; empty if there is none. Any other exception fails the test.
template <class Call>
std::string refusal_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
  }
  return "";
}

inline void expect_well_formed(const std::string& message) {
  EXPECT_EQ(message.rfind("[rope] ", 0), 0U);
  EXPECT_LT(message.size(), 600U);
  for (const char c : message)
    EXPECT_GE(static_cast<unsigned char>(c), 0x20U) << "more than one line";
}

template <class Fixture, std::size_t size>
void expect_refusals(const Cell<Fixture> (&cells)[size]) {
  for (const Cell<Fixture>& cell : cells) {
    SCOPED_TRACE(std::string(cell.argument) + ", " + name_of(cell.fault) +
                 (cell.remark == nullptr ? "" : std::string(", ") + cell.remark));
    Fixture fixture;
    fixture.remember();
    const std::string message = refusal_of([&] { cell.call(fixture); });
    if (cell.message == nullptr) {
      EXPECT_EQ(message, "");
      EXPECT_NE(cell.remark, nullptr) << "what is accepted needs a reason";
      continue;
    }
    EXPECT_EQ(message, std::string("[rope] ") + cell.message);
    expect_well_formed(message);
    EXPECT_TRUE(fixture.untouched()) << "written before it was refused";
  }
}

}  // namespace eigen_rope::test
