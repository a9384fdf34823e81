// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iterator>

#include "ratios.hpp"

namespace bench {
namespace {

struct HandColumn {
  const char* label;
  const char* shape;
};

constexpr HandColumn from_one_token[] = {
    {"1 token", "decode"}, {"16", "tok16"}, {"512", "prefill512"}, {"4096", "prefill4096"}};
constexpr HandColumn from_16_tokens[] = {
    {"16", "tok16"}, {"512", "prefill512"}, {"4096", "prefill4096"}};
constexpr HandColumn from_512_tokens[] = {{"512", "prefill512"}, {"4096", "prefill4096"}};
constexpr HandColumn of_partial_rotation[] = {{"512", "partial512"}};

struct HandRow {
  const char* label;
  const char* contender;
  const char* over;
  int threads = 1;
};

constexpr HandRow one_order[] = {{"out of place", "expr", "hand"},
                                 {"in place", "inplace", "hand_inplace"},
                                 {"one token in place on a view", "view_inplace", "hand_inplace"},
                                 {"heads outside tokens", "bnsd", "hand_bnsd"},
                                 {"the same in place", "bnsd_inplace", "hand_bnsd_inplace"},
                                 {"into heads outside tokens", "to_bnsd", "hand_to_bnsd"},
                                 {"q inside fused QKV", "qkv_strided", "hand_qkv"},
                                 {"into pages of slots", "paged", "hand_paged"},
                                 {"into slots in any order", "scattered", "hand_scattered"},
                                 {"dx and d angle", "dx_dangle", "hand_dx_dangle"},
                                 {"2 threads", "expr", "hand", 2}};

constexpr HandRow partial_rotation[] = {{"out of place", "expr", "hand"},
                                        {"in place", "inplace", "hand_inplace"}};

constexpr HandRow other_axes[] = {{"features slowest", "dns", "hand_dns"},
                                  {"the same in place", "dns_inplace", "hand_dns_inplace"},
                                  {"a batch of 2", "dnsb2", "hand_dnsb2"},
                                  {"the same in place", "dnsb2_inplace", "hand_dnsb2_inplace"},
                                  {"a batch of 8", "dnsb8", "hand_dnsb8"},
                                  {"the same in place", "dnsb8_inplace", "hand_dnsb8_inplace"},
                                  {"features in the middle", "middle", "hand_middle"},
                                  {"the same in place", "middle_inplace", "hand_middle_inplace"}};

constexpr HandRow between_orders[] = {{"from fastest to slowest", "to_dns", "hand_to_dns"},
                                      {"from slowest to fastest", "from_dns", "hand_from_dns"}};

constexpr HandRow beginnings[] = {
    {"16 bytes behind a line", "offset_16", "offset_0"},
    {"one element behind a line, x three", "offset", "offset_0"},
    {"the same, heads outside tokens", "bnsd_offset", "bnsd_offset_0"},
    {"y 48 bytes behind a line, heads outside tokens", "bnsd_offset_48", "bnsd_offset_0"}};

/// The ratio of a row, or "-" where one of the two was not measured.
std::string ratio_of(const Results& results, const HandRow& row, const char* scalar,
                     const char* pairing, const char* shape) {
  const auto find = [&](const char* contender) {
    return results.find(Name{contender, scalar, pairing, shape, row.threads}.text());
  };
  const Measurement* own = find(row.contender);
  const Measurement* other = find(row.over);
  if (own == nullptr || other == nullptr) return "-";
  return fmt::format("{:.2f}", own->time() / other->time());
}

/// A heading and the rows of which anything was measured.
template <std::size_t column_count, std::size_t row_count>
std::string hand_table(const char* heading, const Results& results,
                       const HandColumn (&shapes)[column_count], const HandRow (&rows)[row_count]) {
  std::string text = fmt::format("### {}\n\n| | |", heading);
  std::string line = "| --- | --- |";
  for (const HandColumn& column : shapes) {
    fmt::format_to(std::back_inserter(text), " {} |", column.label);
    line += " --- |";
  }
  text += '\n' + line + '\n';
  for (const HandRow& row : rows) {
    for (const char* scalar : {"f32", "f64", "f16", "bf16"}) {
      std::string cells;
      bool measured = false;
      for (const HandColumn& column : shapes) {
        const std::string split = ratio_of(results, row, scalar, "split_half", column.shape);
        const std::string interleaved = ratio_of(results, row, scalar, "interleaved", column.shape);
        const bool none = split == "-" && interleaved == "-";
        measured = measured || !none;
        cells += none ? " - |" : ' ' + split + " / " + interleaved + " |";
      }
      if (measured)
        fmt::format_to(std::back_inserter(text), "| {} | {} |{}\n", row.label, scalar, cells);
    }
  }
  return text + '\n';
}

}  // namespace

std::string hand_tables_of(const Results& results) {
  return hand_table("Features fastest", results, from_one_token, one_order) +
         hand_table("Rows of 80 elements, of which 32 are rotated", results, of_partial_rotation,
                    partial_rotation) +
         hand_table("Features on another axis", results, from_16_tokens, other_axes) +
         hand_table("From one order of axes into another", results, from_16_tokens,
                    between_orders) +
         hand_table("Where y begins, over arrays that begin on a page", results, from_512_tokens,
                    beginnings);
}

}  // namespace bench
