// SPDX-License-Identifier: Apache-2.0
//
// Bad input: everything that makes a table.
#include <Eigen/Core>

#include "bad_input/bad_input.hpp"
#include "eigen_rope/tables/cache.hpp"
#include "eigen_rope/tables/float_recurrence.hpp"
#include "eigen_rope/tables/growing_cache.hpp"
#include "eigen_rope/tables/token_row.hpp"
#include "eigen_rope/tables/xpos.hpp"

namespace eigen_rope::test::tables_tests {
namespace {

using Ints = std::vector<int>;
using Doubles = std::vector<double>;
using FloatCache = Cache<float>;
using Growing = GrowingCache<float>;

Frequencies eight() { return Frequencies::powers({8}); }
Frequencies of_rates(const Doubles& rates) { return Frequencies::explicit_rates(rates); }
Positions at(double position) { return Positions::ids(Doubles{position}); }
Positions two_batches() { return Positions::per_batch(Ints{0, 1, 5, 6}, Batches{2}); }
/// No tokens in more sequences than can be gone through.
Positions empty_sequences() { return Positions::per_batch(Ints{}, Batches{two_to_62}); }
Sections three_axes() { return {SectionPattern::contiguous, {2, 1, 1}}; }

/// A cache of four pairs for positions below 100.
struct Grown : Memory {
  Growing cache{eight(), Layout::bsnd(), {10, 100}};
};

/// A row that stands at position 7, whose entries must stay.
struct Row : Memory {
  TokenRow<float> row{eight()};
  TokenRow<float> of_axes{eight(), three_axes()};
  Row() {
    row.at(7);
    of_axes.at(Ints{7, 8, 9});
  }

 protected:
  std::vector<unsigned char> bytes() const override {
    std::vector<unsigned char> all = Memory::bytes();
    for (const TokenRow<float>* each : {&row, &of_axes}) {
      for (const float* part : {each->cos(), each->sin()}) {
        const auto* begin = reinterpret_cast<const unsigned char*>(part);
        all.insert(all.end(), begin, begin + each->pairs() * static_cast<Index>(sizeof(float)));
      }
    }
    return all;
  }
};

void recurrence(const Powers<>& powers, const GgmlYarn<>& yarn = {0.0}) {
  (void)float_recurrence_cache(powers, yarn, Positions::range(0, 2));
}
/// Of a table of two equal halves for three tokens.
FloatCache from_halves_behind(int axes) {
  const std::vector<float> ones(12, 1.0F);
  TableView<float> repeated{ones.data(), ones.data(), 4, Shape{3}};
  repeated.feature_axis = axes;
  return FloatCache::from_halves(repeated);
}
void xpos(const Xpos& parameters, const Positions& positions = Positions::range(0, 2),
          const Layout& layout = Layout::bsnd()) {
  (void)xpos_cache<float>(eight(), positions, parameters, XposSide::query, layout);
}

constexpr const char* no_batch_axis =
    "the layout must have a batch axis for positions of several batches, got 2";
constexpr const char* too_far = "positions must be at most 2^63 in size for a table, got 1e+19";

const Cell<Memory> tables[] = {
    {"table, rates", Fault::huge,
     [](Memory&) {
       FloatCache(of_rates({1, -2e12}), Positions::range(0, 1));
     },
     "rate 1 must be at most 2^40 radians per token in size for a table, got -2000000000000"},
    {"table, positions", Fault::huge, [](Memory&) { FloatCache(eight(), at(1e300)); },
     "positions must be at most 2^63 in size for a table, got 1e+300"},
    {
        "table, positions",
        Fault::huge,
        [](Memory&) {
          FloatCache(eight(), Positions::ids(std::vector<std::int64_t>{int64_min, int64_max}));
        },
        nullptr,
        "every int64 is exact",
    },
    {"table, positions", Fault::huge,
     [](Memory&) { FloatCache(eight(), Positions::range(two_to_40, 2)); }, nullptr,
     "peers lose accuracy from 2^24 on; here none is lost"},
    {"table, layout", Fault::missing,
     [](Memory&) { FloatCache(eight(), two_batches(), Layout::tnd()); }, no_batch_axis},
    {"table of half, layout", Fault::missing,
     [](Memory&) { Cache<Eigen::half>(eight(), two_batches(), Layout::sd()); }, no_batch_axis},
    {"table, sequences", Fault::missing,
     [](Memory&) { FloatCache(std::vector<Frequencies>{}, Positions::range(0, 1)); },
     "there must be frequencies of at least one sequence, got none"},
    {"table, sequences", Fault::wrong_length,
     [](Memory&) {
       FloatCache({eight(), of_rates({1, 2})}, Positions::range(0, 1));
     },
     "the frequencies of sequence 1 must have as many pairs as those of sequence 0, 4, got 2"},
    {"table, sequences", Fault::missing,
     [](Memory&) {
       FloatCache({eight(), eight()}, Positions::range(0, 1), Layout::tnd());
     },
     "the layout must have a batch axis for frequencies of several sequences, got 2"},
    {"table, sequences", Fault::wrong_length,
     [](Memory&) {
       FloatCache({eight(), eight(), eight()}, two_batches());
     },
     "positions must be of one batch, which all share, or of 3, as there are frequencies, got 2"},
    {"table, batches of no tokens", Fault::huge,
     [](Memory&) { FloatCache(eight(), empty_sequences(), Layout::sd()); },
     "the layout must have a batch axis for positions of several batches, got 4611686018427387904"},
    {"table, batches of no tokens", Fault::huge,
     [](Memory&) { FloatCache(eight(), empty_sequences()); }, nullptr,
     "an empty table, made at once"},
    {"table from rates", Fault::wrong_length,
     [](Memory&) { (void)Cache<double>::from_rates({}, 1.0, Positions::range(0, 2)); },
     "the number of rates must be positive, got 0"},
    {"table from rates, layout", Fault::missing,
     [](Memory&) { (void)Cache<double>::from_rates({1.0}, 1.0, two_batches(), Layout::sd()); },
     no_batch_axis},
    {"table from rates, batches of no tokens", Fault::huge,
     [](Memory&) { (void)Cache<double>::from_rates({1.0}, 1.0, empty_sequences()); }, nullptr,
     "an empty table, made at once"},
    {"table from rates", Fault::nan,
     [](Memory&) { (void)Cache<double>::from_rates({nan}, 1.0, Positions::range(0, 2)); }, nullptr,
     "values of a differentiable scalar pass through, as NaN in x does"},
    {"table from halves, feature axis", Fault::negative,
     [](Memory&) { (void)from_halves_behind(-1); },
     "the table's feature axis must be one of its 2 axes, counted from 0, got -1"},
    {"table from halves, feature axis", Fault::too_large,
     [](Memory&) { (void)from_halves_behind(2); },
     "the table's feature axis must be one of its 2 axes, counted from 0, got 2"},
    {"table from angles", Fault::wrong_length,
     [](Memory&) {
       (void)Cache<double>::from_angles({1, 2, 3}, 1.0, 2, Shape{2});
     },
     "angles must be one per pair and row of the table (4), got 3"},
    {"table from angles, pairs", Fault::zero,
     [](Memory&) { (void)Cache<double>::from_angles({}, 1.0, 0, Shape{2}); },
     "the number of pairs must be positive, got 0"},
    {"table from angles, pairs", Fault::negative,
     [](Memory&) { (void)Cache<double>::from_angles({}, 1.0, int64_min, Shape{2}); },
     "the number of pairs must be positive, got -9223372036854775808"},
    {"table from angles, entries that wrap to 0", Fault::huge,
     [](Memory&) {
       (void)Cache<double>::from_angles({}, 1.0, Index{1} << 32, Shape{Index{1} << 32});
     },
     "the number of entries in the table must fit a 64-bit count, got 4294967296 x 4294967296"},
    {"float recurrence, rotary dims", Fault::odd, [](Memory&) { recurrence({7}); },
     "rotary dims must be even, got 7", "peer: ggml, odd dims"},
    {"float recurrence, base", Fault::zero,
     [](Memory&) {
       recurrence({8, 0.0});
     },
     "base must be finite and greater than 0, got 0", "peer: ggml, base <= 0 gives NaN silently"},
    {"float recurrence, base", Fault::huge,
     [](Memory&) {
       recurrence({8, 1e300});
     },
     "base must be within the range of float in the float recurrence, got 1e+300"},
    {"float recurrence, base", Fault::too_small,
     [](Memory&) {
       recurrence({8, 1e-60});
     },
     "base must be within the range of float in the float recurrence, got 1e-60"},
    {"float recurrence, linear scale", Fault::too_small,
     [](Memory&) {
       recurrence({8, 1e4, 1e-60});
     },
     "linear scale must be within the range of float in the float recurrence, got 1e-60"},
    {"float recurrence, attention factor", Fault::huge,
     [](Memory&) {
       recurrence({8, 1e4, 1, 1e60});
     },
     "attention factor must be within the range of float in the float recurrence, got 1e+60"},
    {"float recurrence, factors", Fault::too_small,
     [](Memory&) {
       recurrence({8, 1e4, 1, 1, {1, 1, 1e-60, 1}});
     },
     "frequency factor 2 must be within the range of float in the float recurrence, got 1e-60",
     "peer: ggml, frequency factor 0 gives NaN silently"},
    {"float recurrence, factors", Fault::wrong_length,
     [](Memory&) {
       recurrence({8, 1e4, 1, 1, {1, 1, 1}});
     },
     "frequency factors must be at least one per pair (4), got 3",
     "peer: ggml, freq factors shorter than dims/2 are read past their end"},
    {"float recurrence, ext factor", Fault::huge,
     [](Memory&) {
       recurrence({8}, {1e60, 4096});
     },
     "ext factor must be within the range of float in the float recurrence, got 1e+60"},
    {"float recurrence, exponents", Fault::too_large,
     [](Memory&) {
       recurrence({4, 1e4, 1, 1, {}, {0, 2}});
     },
     "exponents of a float recurrence must be 0 to 1, got 2"},
    {"float recurrence, exponents", Fault::negative,
     [](Memory&) {
       recurrence({4, 1e4, 1, 1, {}, {0, -1}});
     },
     "exponents of a float recurrence must be 0 to 1, got -1"},
    {"float recurrence, ends", Fault::unknown,
     [](Memory&) {
       recurrence({8}, {1.0, 4096, 32.0, 1.0, RampEnds::exact});
     },
     "ends of YaRN's ramp must be rounded in the float recurrence, as ggml rounds them, got exact "
     "ends"},
    {"xpos, scale base", Fault::zero, [](Memory&) { xpos({0}); },
     "scale base must be finite and greater than 0, got 0"},
    {"xpos, scale base", Fault::nan, [](Memory&) { xpos({nan}); },
     "scale base must be finite and greater than 0, got nan"},
    {"xpos, gamma", Fault::zero,
     [](Memory&) {
       xpos({512, 0});
     },
     "gamma must be finite and greater than 0, got 0"},
    {"xpos, gamma", Fault::negative,
     [](Memory&) {
       xpos({512, -0.4});
     },
     "gamma must be finite and greater than 0, got -0.4"},
    {"xpos, center", Fault::infinite,
     [](Memory&) {
       xpos({512, 0.4, infinity});
     },
     "center must be finite, got inf"},
    {"xpos, positions", Fault::huge, [](Memory&) { xpos({}, at(18000)); },
     "xPos's magnitude of pair 0 at position 18000 must be from 2^-62 to 2^62 (a nearer center "
     "helps), got 2^-63.5"},
    {"xpos, positions", Fault::huge, [](Memory&) { xpos({}, at(1e19)); }, too_far},
    {"xpos, attention factor", Fault::zero,
     [](Memory&) {
       (void)xpos_cache<float>(Frequencies::powers({8, 1e4, 1, 0}), at(0), {}, XposSide::key);
     },
     "the attention factor must not be 0 with xPos, got 0"},
    {"xpos, layout", Fault::missing, [](Memory&) { xpos({}, two_batches(), Layout::sd()); },
     no_batch_axis},
    {"xpos, batches of no tokens", Fault::huge, [](Memory&) { xpos({}, empty_sequences()); },
     nullptr, "an empty table, made at once"},
};

const Cell<Grown> growing[] = {
    {"growing cache, first tokens", Fault::zero,
     [](Grown&) {
       Growing(eight(), Layout::sd(), {0, 10});
     },
     "first tokens must be at least 1, got 0"},
    {"growing cache, first tokens", Fault::negative,
     [](Grown&) {
       Growing(eight(), Layout::sd(), {int64_min, 10});
     },
     "first tokens must be at least 1, got -9223372036854775808"},
    {"growing cache, max tokens", Fault::too_small,
     [](Grown&) {
       Growing(eight(), Layout::sd(), {11, 10});
     },
     "max tokens must be at least first tokens (11), got 10"},
    {"growing cache, rates", Fault::huge, [](Grown&) { Growing(of_rates({2e12})); },
     "rate 0 must be at most 2^40 radians per token in size for a table, got 2000000000000"},
    {"growing cache, first tokens", Fault::huge,
     [](Grown&) {
       Growing(eight(), Layout::sd(), {two_to_62, two_to_62}).rows(0, 1);
     },
     "the number of entries in the table must fit a 64-bit count, got 4611686018427387904 x 4"},
    {"growing cache, bytes", Fault::huge,
     [](Grown&) {
       Growing(of_rates({1}), Layout::sd(), {1, two_to_62}).reserve(two_to_62);
     },
     "the number of bytes in the table must fit a 64-bit count, got 4611686018427387904 x 16"},
    {"rows, first", Fault::negative, [](Grown& g) { g.cache.rows(-1, 1); },
     "positions of a growing cache must not be negative, got -1"},
    {"rows, tokens", Fault::negative, [](Grown& g) { g.cache.rows(0, -2); },
     "tokens must not be negative, got -2"},
    {"rows, first", Fault::too_large, [](Grown& g) { g.cache.rows(100, 1); },
     "positions of a growing cache must be below its max_tokens 100, got start 100 and 1 tokens",
     "peer: flash-attention, positions past the table turn into cos 1 and sin 0"},
    {"rows, first", Fault::huge, [](Grown& g) { g.cache.rows(int64_max, int64_max); },
     "positions of a growing cache must be below its max_tokens 100, got start 9223372036854775807 "
     "and 9223372036854775807 tokens"},
    {"rows, first", Fault::huge, [](Grown& g) { g.cache.rows(int64_min, int64_max); },
     "positions of a growing cache must not be negative, got -9223372036854775808"},
    {"reserve, tokens", Fault::too_large, [](Grown& g) { g.cache.reserve(101); },
     "positions of a growing cache must be below its max_tokens 100, got start 0 and 101 tokens"},
    {"reserve, tokens", Fault::negative, [](Grown& g) { g.cache.reserve(-1); },
     "tokens must not be negative, got -1"},
    {"gather, positions", Fault::negative, [](Grown& g) { (void)g.cache.gather(at(-5)); },
     "positions of a growing cache must not be negative, got -5"},
    {"gather, positions", Fault::odd, [](Grown& g) { (void)g.cache.gather(at(2.5)); },
     "positions of a growing cache must be whole numbers, got 2.5"},
    {"gather, positions", Fault::too_large, [](Grown& g) { (void)g.cache.gather(at(100)); },
     "positions of a growing cache must be below its max_tokens 100, got 100"},
    {"gather, positions", Fault::huge,
     [](Grown& g) { (void)g.cache.gather(Positions::ids(std::vector<std::int64_t>{int64_max})); },
     "positions of a growing cache must be below its max_tokens 100, got 9.223372036854776e+18"},
    {"gather, layout", Fault::missing,
     [](Grown&) {
       (void)Growing(eight(), Layout::sd(), {10, 100}).gather(two_batches());
     },
     no_batch_axis},
    {"gather, batches of no tokens", Fault::huge,
     [](Grown& g) { (void)g.cache.gather(empty_sequences()); }, nullptr,
     "an empty table, made at once"},
};

const Cell<Row> rows[] = {
    {"token row, rates", Fault::huge, [](Row&) { TokenRow<float> row(of_rates({2e12})); },
     "rate 0 must be at most 2^40 radians per token in size for a table, got 2000000000000"},
    {"token row, position", Fault::infinite, [](Row& r) { r.row.at(infinity); },
     "position must be finite, got inf"},
    {"token row, position", Fault::nan,
     [](Row& r) { r.row.at(std::numeric_limits<float>::quiet_NaN()); },
     "position must be finite, got nan"},
    {"token row, position", Fault::huge, [](Row& r) { r.row.at(1e19); }, too_far},
    {"token row, position", Fault::negative, [](Row& r) { r.row.at(int64_min); }, nullptr,
     "positions have a sign"},
    {"token row of axes, positions", Fault::wrong_length,
     [](Row& r) {
       r.of_axes.at(Ints{1, 2});
     },
     "positions must be one per axis (3), got 2"},
    {"token row of axes, positions", Fault::huge,
     [](Row& r) {
       r.of_axes.at(Doubles{1, 2, 1e19});
     },
     too_far},
    {"token row of axes, positions", Fault::nan,
     [](Row& r) {
       r.of_axes.at(Doubles{nan, 2, 3});
     },
     "position must be finite, got nan"},
    {"token row of one axis, positions", Fault::wrong_length,
     [](Row& r) {
       r.row.at(Ints{1, 2});
     },
     "positions must be one per axis (1), got 2"},
};

const Area tables_area("tables", tables);
const Area growing_area("growing tables", growing);
const Area rows_area("rows of one token", rows);
TEST(BadInput, Tables) { expect_refusals(tables); }
TEST(BadInput, GrowingTables) { expect_refusals(growing); }
TEST(BadInput, TokenRows) { expect_refusals(rows); }

}  // namespace
}  // namespace eigen_rope::test::tables_tests
