// SPDX-License-Identifier: Apache-2.0
//
// Bad input: shapes, positions, sections and layouts.
#include "eigen_rope/choices/positions.hpp"
#include "bad_input/bad_input.hpp"
#include "eigen_rope/choices/layout.hpp"
#include "eigen_rope/choices/sections.hpp"
#include "eigen_rope/numbers/shape.hpp"

namespace eigen_rope::test::positions_tests {
namespace {

using Ints = std::vector<int>;
using Doubles = std::vector<double>;
using Pattern = SectionPattern;

constexpr AxisRole token = AxisRole::token;
constexpr AxisRole batch = AxisRole::batch;
constexpr AxisRole other = AxisRole::other;

Sections two_axes() { return {Pattern::contiguous, {2, 2}}; }

const Cell<Memory> shapes[] = {
    {"shape, extent", Fault::negative,
     [](Memory&) {
       (void)Shape{8, -1, 2};
     },
     "extents must not be negative, got -1"},
    {"shape, extent", Fault::negative, [](Memory&) { (void)Shape{int64_min}; },
     "extents must not be negative, got -9223372036854775808"},
    {"shape, extent", Fault::zero,
     [](Memory&) {
       (void)Shape{8, 0, 2};
     },
     nullptr, "an empty array"},
    {"shape, rank", Fault::too_large, [](Memory&) { (void)Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}; },
     "rank must be at most 8, got 9"},
    {"shape, rank", Fault::zero, [](Memory&) { (void)Shape{}; }, nullptr,
     "one row: the outer extents of a table of one token"},
    {"shape, elements", Fault::huge,
     [](Memory&) {
       (void)Shape{two_to_62, 2};
     },
     "the number of elements must fit a 64-bit count, got 4611686018427387904 x 2"},
    {"shape, elements", Fault::huge,
     [](Memory&) {
       (void)Shape{2, int64_max};
     },
     "the number of elements must fit a 64-bit count, got 2 x 9223372036854775807"},
    {"shape, elements", Fault::huge,
     [](Memory&) {
       (void)Shape{Index{1} << 32, two_to_31};
     },
     "the number of elements must fit a 64-bit count, got 4294967296 x 2147483648"},
    {"shape, elements that wrap to 0", Fault::huge,
     [](Memory&) {
       (void)Shape{Index{1} << 32, Index{1} << 32};
     },
     "the number of elements must fit a 64-bit count, got 4294967296 x 4294967296"},
    {"shape, elements that wrap to 2", Fault::huge,
     [](Memory&) {
       (void)Shape{(Index{1} << 33) + 2, two_to_31 + 1, 3};
     },
     "the number of elements must fit a 64-bit count, got 8589934594 x 2147483649"},
    {"shape, elements", Fault::huge,
     [](Memory&) {
       (void)Shape{two_to_40, two_to_40};
     },
     "the number of elements must fit a 64-bit count, got 1099511627776 x 1099511627776"},
    {"shape, elements", Fault::huge,
     [](Memory&) {
       (void)Shape{two_to_62, 1};
     },
     nullptr, "2^62 elements can be counted, as long as nothing has them"},
    {"outer extents of an empty shape", Fault::huge,
     [](Memory&) {
       (void)Shape{0, two_to_40, two_to_40}.outer();
     },
     "the number of elements must fit a 64-bit count, got 1099511627776 x 1099511627776"},
};

const Cell<Memory> positions[] = {
    {"range, tokens", Fault::negative, [](Memory&) { (void)Positions::range(0, -1); },
     "tokens must not be negative, got -1"},
    {"range, tokens", Fault::zero, [](Memory&) { (void)Positions::range(int64_max, 0); }, nullptr,
     "an empty prompt"},
    {"range, start", Fault::huge, [](Memory&) { (void)Positions::range(int64_max, 2); },
     "positions must fit 64 bits, got start 9223372036854775807 and 2 tokens"},
    {"range, tokens", Fault::huge, [](Memory&) { (void)Positions::range(2, int64_max); },
     "positions must fit 64 bits, got start 2 and 9223372036854775807 tokens"},
    {"range, tokens", Fault::huge, [](Memory&) { (void)Positions::range(1, int64_max); },
     "the number of bytes of all positions must fit a 64-bit count, got 9223372036854775807 x 16"},
    {"range, tokens", Fault::huge, [](Memory&) { (void)Positions::range(int64_min, two_to_62); },
     "the number of bytes of all positions must fit a 64-bit count, got 4611686018427387904 x 16"},
    {"ids", Fault::nan,
     [](Memory&) {
       (void)Positions::ids(Doubles{0, nan});
     },
     "position must be finite, got nan"},
    {"ids", Fault::infinite,
     [](Memory&) {
       (void)Positions::ids(std::vector<float>{-std::numeric_limits<float>::infinity()});
     },
     "position must be finite, got -inf"},
    {"ids", Fault::negative,
     [](Memory&) { (void)Positions::ids(std::vector<std::int64_t>{int64_min}); }, nullptr,
     "positions have a sign: a rotation back"},
    {"ids", Fault::wrong_length, [](Memory&) { (void)Positions::ids(Ints{}); }, nullptr,
     "no tokens; a table checks how many x has"},
    {"per batch, batches", Fault::negative,
     [](Memory&) { (void)Positions::per_batch(Ints(5), Batches{-1}); },
     "batches must not be negative, got -1"},
    {"per batch, batches", Fault::zero,
     [](Memory&) { (void)Positions::per_batch(Ints(5), Batches{0}); },
     "the number of positions must be a multiple of axes x batches (1 x 0), got 5"},
    {"per batch, ids", Fault::wrong_length,
     [](Memory&) { (void)Positions::per_batch(Ints(5), Batches{2}); },
     "the number of positions must be a multiple of axes x batches (1 x 2), got 5"},
    {"per batch, batches", Fault::huge,
     [](Memory&) { (void)Positions::per_batch(Ints(5), Batches{two_to_62}); },
     "the number of positions must be a multiple of axes x batches (1 x 4611686018427387904), got "
     "5"},
    {"per batch, batches", Fault::huge,
     [](Memory&) { (void)Positions::per_batch(Ints{}, Batches{two_to_62}); }, nullptr,
     "no tokens in however many sequences"},
    {"multi axis, ids", Fault::wrong_length,
     [](Memory&) { (void)Positions::multi_axis(Ints(5), two_axes()); },
     "the number of positions must be a multiple of axes x batches (2 x 1), got 5"},
    {"multi axis, ids", Fault::wrong_length,
     [](Memory&) { (void)Positions::multi_axis(Ints(6), two_axes(), Batches{2}); },
     "the number of positions must be a multiple of axes x batches (2 x 2), got 6"},
    {"multi axis, batches that wrap to a multiple", Fault::huge,
     [](Memory&) { (void)Positions::multi_axis(Ints{}, two_axes(), Batches{two_to_62}); },
     "axes x batches must fit a 64-bit count, got 2 x 4611686018427387904"},
    {"multi axis, batches", Fault::negative,
     [](Memory&) { (void)Positions::multi_axis(Ints(4), two_axes(), Batches{int64_min}); },
     "batches must not be negative, got -9223372036854775808"},
    {"multi axis, ids", Fault::nan,
     [](Memory&) {
       (void)Positions::multi_axis(Doubles{1, nan}, two_axes());
     },
     "position must be finite, got nan"},
};

constexpr int three[] = {0, 1, 2};

const Cell<Memory> lists[] = {
    {"ids, data", Fault::null,
     [](Memory&) { (void)Positions::ids(static_cast<const int*>(nullptr), 3); },
     "a list of numbers must have data, got a null pointer and count 3"},
    {"ids, data", Fault::null,
     [](Memory&) {
       (void)Positions::ids({static_cast<const double*>(nullptr), 1});
     },
     "a list of numbers must have data, got a null pointer and count 1"},
    {"ids, data", Fault::null,
     [](Memory&) { (void)Positions::ids(static_cast<const int*>(nullptr), 0); }, nullptr,
     "no tokens: an empty vector has no data"},
    {"ids, count", Fault::negative, [](Memory&) { (void)Positions::ids(three, -1); },
     "the length of a list of numbers must not be negative, got -1"},
    {"ids, count", Fault::huge, [](Memory&) { (void)Positions::ids(three, two_to_62); },
     "the number of bytes of all positions must fit a 64-bit count, got 4611686018427387904 x 16"},
    {"ids, one of several types", Fault::nan,
     [](Memory&) {
       (void)Positions::ids({1, nan});
     },
     "position must be finite, got nan"},
    {"per batch, data", Fault::null,
     [](Memory&) { (void)Positions::per_batch(static_cast<const int*>(nullptr), 4, Batches{2}); },
     "a list of numbers must have data, got a null pointer and count 4"},
    {"multi axis, count", Fault::negative,
     [](Memory&) { (void)Positions::multi_axis(three, int64_min, two_axes()); },
     "the length of a list of numbers must not be negative, got -9223372036854775808"},
    {"packed, cu_seqlens", Fault::null,
     [](Memory&) {
       (void)Positions::packed({static_cast<const int*>(nullptr), 3});
     },
     "a list of numbers must have data, got a null pointer and count 3"},
    {"packed, cu_seqlens", Fault::missing, [](Memory&) { (void)Positions::packed({}); },
     "cu_seqlens must begin with 0, got an empty list"},
    {"packed, cu_seqlens with starts", Fault::missing,
     [](Memory&) { (void)Positions::packed({}, {1}); },
     "cu_seqlens must begin with 0, got an empty list"},
    {"packed, cu_seqlens", Fault::too_large,
     [](Memory&) {
       (void)Positions::packed({5, 8});
     },
     "cu_seqlens must begin with 0, got 5"},
    {"packed, cu_seqlens", Fault::negative,
     [](Memory&) {
       (void)Positions::packed({-1, 8});
     },
     "cu_seqlens must begin with 0, got -1"},
    {"packed, cu_seqlens", Fault::too_small,
     [](Memory&) {
       (void)Positions::packed({0, 5, 3});
     },
     "cu_seqlens must not decrease, got 3 behind 5"},
    {"packed, cu_seqlens", Fault::negative,
     [](Memory&) {
       (void)Positions::packed({std::int64_t{0}, int64_min});
     },
     "cu_seqlens must not decrease, got -9223372036854775808 behind 0"},
    {"packed, cu_seqlens", Fault::huge,
     [](Memory&) {
       (void)Positions::packed({std::int64_t{0}, two_to_62});
     },
     "the number of bytes of all positions must fit a 64-bit count, got 4611686018427387904 x 16"},
    {"packed, cu_seqlens", Fault::zero,
     [](Memory&) {
       (void)Positions::packed({0, 0, 0});
     },
     nullptr, "sequences may be empty"},
    {"packed, starts", Fault::wrong_length,
     [](Memory&) {
       (void)Positions::packed({0, 2, 3}, {1});
     },
     "starts must have one position for each sequence (2), got 1"},
    {"packed, starts", Fault::missing,
     [](Memory&) {
       (void)Positions::packed({0, 2, 3}, {});
     },
     "starts must have one position for each sequence (2), got 0"},
    {"packed, starts", Fault::huge,
     [](Memory&) {
       (void)Positions::packed({0, 1, 3}, {std::int64_t{0}, int64_max});
     },
     "positions must fit 64 bits, got start 9223372036854775807 and 2 tokens"},
};

const Cell<Memory> shards[] = {
    {"shard, ranks", Fault::zero,
     [](Memory&) {
       (void)Positions::range(0, 8).shard({0, 0});
     },
     "ranks must be at least 1, got 0"},
    {"shard, ranks", Fault::negative,
     [](Memory&) {
       (void)Positions::range(0, 8).shard({int64_min, int64_min});
     },
     "ranks must be at least 1, got -9223372036854775808"},
    {"shard, rank", Fault::too_large,
     [](Memory&) {
       (void)Positions::range(0, 8).shard({4, 4});
     },
     "rank must be 0 or more and less than the number of ranks (4), got 4"},
    {"shard, rank in the place of ranks", Fault::too_large,
     [](Memory&) {
       (void)Positions::range(0, 8).shard({8, 3});
     },
     "rank must be 0 or more and less than the number of ranks (3), got 8"},
    {"shard, rank", Fault::negative,
     [](Memory&) {
       (void)Positions::range(0, 8).shard({-1, 4});
     },
     "rank must be 0 or more and less than the number of ranks (4), got -1"},
    {"shard, sharding", Fault::unknown,
     [](Memory&) {
       (void)Positions::range(0, 8).shard({0, 1, static_cast<Sharding>(7)});
     },
     "sharding must be contiguous or zigzag, got 7"},
    {"shard, cu_seqlens", Fault::wrong_length,
     [](Memory&) {
       (void)Positions::range(0, 8).shard({0, 2}, {0, 4});
     },
     "cu_seqlens must end with the number of tokens (8), got 4"},
    {"shard, cu_seqlens", Fault::wrong_length,
     [](Memory&) {
       (void)Positions::range(0, 8).shard({0, 2}, {0, 4, 12});
     },
     "cu_seqlens must end with the number of tokens (8), got 12"},
    {"shard, cu_seqlens", Fault::too_small,
     [](Memory&) {
       (void)Positions::range(0, 8).shard({0, 2}, {0, 9, 8});
     },
     "cu_seqlens must not decrease, got 8 behind 9"},
    {"shard, cu_seqlens", Fault::missing,
     [](Memory&) {
       (void)Positions::range(0, 8).shard({0, 2}, {});
     },
     "cu_seqlens must begin with 0, got an empty list"},
    {"shard tokens, tokens", Fault::negative,
     [](Memory&) {
       (void)shard_tokens({0, 2}, -1);
     },
     "tokens must not be negative, got -1"},
    {"shard tokens, tokens", Fault::huge,
     [](Memory&) {
       (void)shard_tokens({0, 1}, int64_max);
     },
     "twice the number of bytes of all tokens must fit a 64-bit count, got 9223372036854775807 x "
     "16"},
    {"shard tokens, ranks", Fault::huge,
     [](Memory&) {
       (void)shard_tokens({0, two_to_62}, 3);
     },
     "the number of chunks must fit a 64-bit count, got 4611686018427387904 x 2"},
    {"shard tokens, ranks", Fault::huge,
     [](Memory&) {
       (void)shard_tokens({int64_max - 1, int64_max, Sharding::contiguous}, 3);
     },
     nullptr, "most ranks have padding alone"},
    {"shard tokens, cu_seqlens", Fault::too_large,
     [](Memory&) {
       (void)shard_tokens({0, 2}, {1, 3});
     },
     "cu_seqlens must begin with 0, got 1"},
};

const Cell<Memory> sections[] = {
    {"sections, lengths", Fault::wrong_length,
     [](Memory&) { (void)Sections(Pattern::contiguous, {}); }, "sections must be 1 to 4, got 0"},
    {"sections, lengths", Fault::wrong_length,
     [](Memory&) {
       (void)Sections(Pattern::contiguous, {1, 1, 1, 1, 1});
     },
     "sections must be 1 to 4, got 5"},
    {"sections, lengths", Fault::wrong_length,
     [](Memory&) {
       (void)Sections(Pattern::vision, {1, 1, 1, 1, 1});
     },
     "sections must be 1 to 4, got 5"},
    {"sections, lengths", Fault::wrong_length,
     [](Memory&) {
       (void)Sections(Pattern::interleaved_ggml, {24, 20, 20});
     },
     "interleaved_ggml sections must be 4 (t, h, w, e), got 3"},
    {"sections, lengths", Fault::wrong_length,
     [](Memory&) {
       (void)Sections(Pattern::interleaved_hf, {24, 20, 20, 0});
     },
     "interleaved_hf sections must be 3 (t, h, w), got 4"},
    {"sections, lengths", Fault::negative,
     [](Memory&) {
       (void)Sections(Pattern::contiguous, {8, -1, 8});
     },
     "section lengths must not be negative, got -1"},
    {"sections, lengths", Fault::zero, [](Memory&) { (void)Sections(Pattern::vision, {0}); },
     "sections must not be 0 on all of the first three axes, got [0]",
     "peer: ggml, sections that sum to 0 raise SIGFPE"},
    {"sections, lengths", Fault::zero,
     [](Memory&) {
       (void)Sections(Pattern::contiguous, {0, 0, 0, 8});
     },
     "sections must not be 0 on all of the first three axes, got [0, 0, 0, 8]"},
    {"sections, lengths", Fault::zero,
     [](Memory&) {
       (void)Sections(Pattern::interleaved_hf, {0, 0, 0});
     },
     "sections must not be 0 on all of the first three axes, got [0, 0, 0]",
     "peer: ggml, sections that sum to 0 raise SIGFPE"},
    {"sections, lengths", Fault::zero,
     [](Memory&) {
       (void)Sections(Pattern::interleaved_ggml, {0, 0, 0, 0});
     },
     "sections must not be 0 on all of the first three axes, got [0, 0, 0, 0]",
     "peer: ggml, sections that sum to 0 raise SIGFPE"},
    {"sections, lengths", Fault::huge,
     [](Memory&) { (void)Sections(Pattern::contiguous, {two_to_31}); },
     "section lengths must sum to less than 2^31, got [2147483648]"},
    {"sections, lengths", Fault::huge,
     [](Memory&) {
       (void)Sections(Pattern::contiguous, {1, int64_max});
     },
     "section lengths must sum to less than 2^31, got [1, 9223372036854775807]"},
    {"sections, lengths", Fault::huge,
     [](Memory&) {
       (void)Sections(Pattern::contiguous, {two_to_31 / 2, two_to_31 / 2});
     },
     "section lengths must sum to less than 2^31, got [1073741824, 1073741824]"},
    {"sections, lengths that wrap to 2", Fault::huge,
     [](Memory&) {
       (void)Sections(Pattern::contiguous, {int64_max, int64_max, 4});
     },
     "section lengths must sum to less than 2^31, got [9223372036854775807, 9223372036854775807, "
     "4]"},
    {"exponents, pairs", Fault::negative, [](Memory&) { (void)two_axes().exponents(-1); },
     "pairs must not be negative, got -1"},
    {"exponents, pairs", Fault::huge, [](Memory&) { (void)two_axes().exponents(two_to_62); },
     "the number of bytes of all exponents must fit a 64-bit count, got 4611686018427387904 x 8"},
    {"exponents, pairs", Fault::zero, [](Memory&) { (void)two_axes().exponents(0); }, nullptr,
     "no pairs, no exponents"},
    {"layout, token axes", Fault::zero,
     [](Memory&) { (void)Layout(std::initializer_list<AxisRole>{}); },
     "a layout must have exactly one token axis, got 0"},
    {"layout, token axes", Fault::zero,
     [](Memory&) {
       (void)Layout{other, batch};
     },
     "a layout must have exactly one token axis, got 0"},
    {"layout, token axes", Fault::too_large,
     [](Memory&) {
       (void)Layout{token, other, token};
     },
     "a layout must have exactly one token axis, got 2"},
    {"layout, batch axes", Fault::too_large,
     [](Memory&) {
       (void)Layout{token, batch, batch};
     },
     "a layout must have at most one batch axis, got 2"},
    {"layout, axes", Fault::too_large,
     [](Memory&) { (void)Layout{token, other, other, other, other, other, other, other}; },
     "a layout must have at most 7 outer axes, got 8"},
};

const Area shapes_area("shapes", shapes);
const Area positions_area("positions", positions);
const Area lists_area("lists of positions", lists);
const Area shards_area("context-parallel shards", shards);
const Area sections_area("sections and layouts", sections);
TEST(BadInput, Shapes) { expect_refusals(shapes); }
TEST(BadInput, Positions) { expect_refusals(positions); }
TEST(BadInput, PositionLists) { expect_refusals(lists); }
TEST(BadInput, ContextShards) { expect_refusals(shards); }
TEST(BadInput, Sections) { expect_refusals(sections); }

}  // namespace
}  // namespace eigen_rope::test::positions_tests
