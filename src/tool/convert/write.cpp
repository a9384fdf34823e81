// SPDX-License-Identifier: Apache-2.0
#include "tool/convert/write.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>

#include "tool/io/file_error.hpp"

namespace eigen_rope::tool {
namespace {

using Bytes = std::vector<std::byte>;

void copy_bytes(const InputFile& in, std::uint64_t begin, std::uint64_t end, OutputFile& out,
                Bytes& buffer, Progress& progress) {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(end - begin, buffer_bytes));
  buffer.resize(std::max(buffer.size(), wanted));
  while (begin < end) {
    const std::size_t count =
        static_cast<std::size_t>(std::min<std::uint64_t>(end - begin, buffer.size()));
    in.read(begin, buffer.data(), count);
    out.write(buffer.data(), count);
    begin += count;
    progress.advance(count);
  }
}

// An element is not finite if all bits of its exponent are set.
template <class Word>
std::optional<std::size_t> first_with_exponent(const std::byte* elements, std::size_t count,
                                               Word exponent) {
  constexpr std::size_t block = 1024;
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t end = std::min(count, begin + block);
    const auto word_at = [&](std::size_t i) {
      Word word;
      std::memcpy(&word, elements + i * sizeof(Word), sizeof(Word));
      return word;
    };
    unsigned any = 0;
    for (std::size_t i = begin; i < end; ++i) any |= (word_at(i) & exponent) == exponent ? 1U : 0U;
    for (std::size_t i = begin; any != 0 && i < end; ++i) {
      if ((word_at(i) & exponent) == exponent) return i;
    }
  }
  return std::nullopt;
}

// Where a head of a tensor begins in its file.
struct PlacedHead {
  const ConvertedTensor* tensor;
  Role role;
  std::uint64_t first_row;
};

// One head: at once if it fits the buffer, otherwise row by row.
void write_head(const InputFile& in, std::uint64_t begin, const PlacedHead& head,
                const std::vector<eigen_rope::Index>& source, OutputFile& out, Bytes& old_rows,
                Bytes& new_rows) {
  const auto row_bytes = static_cast<std::size_t>(head.tensor->row_bytes());
  const auto columns = static_cast<std::size_t>(head.tensor->columns);
  const auto require_finite = [&](const Bytes& rows, std::size_t count, std::uint64_t first) {
    const std::optional<std::size_t> found =
        first_not_finite(rows.data(), count * columns, head.tensor->type);
    if (found) refuse_not_finite(in.path(), head.tensor->name, first + *found / columns);
  };
  if (row_bytes * source.size() <= buffer_bytes) {
    old_rows.resize(row_bytes * source.size());
    new_rows.resize(old_rows.size());
    in.read(begin, old_rows.data(), old_rows.size());
    require_finite(old_rows, source.size(), head.first_row);
    for (std::size_t row = 0; row < source.size(); ++row) {
      std::memcpy(new_rows.data() + row * row_bytes,
                  old_rows.data() + static_cast<std::size_t>(source[row]) * row_bytes, row_bytes);
    }
    out.write(new_rows.data(), new_rows.size());
    return;
  }
  new_rows.resize(row_bytes);
  for (const eigen_rope::Index row : source) {
    in.read(begin + static_cast<std::uint64_t>(row) * row_bytes, new_rows.data(), row_bytes);
    require_finite(new_rows, 1, head.first_row + static_cast<std::uint64_t>(row));
    out.write(new_rows.data(), row_bytes);
  }
}

SafetensorsHeader recorded(const ConvertPlan& plan, SafetensorsHeader header) {
  const AttentionShape& shape = plan.shape;
  header.set_metadata(pairing_record, name_of(plan.to));
  header.set_metadata("rope_conversion",
                      fmt::format("{} to {}: {} heads, {} key heads, {} rotary dims, query heads "
                                  "of {} from {}, key heads of {} from {}",
                                  name_of(plan.from), name_of(plan.to), shape.heads,
                                  shape.key_heads, shape.rotary_dims, shape.query.dims,
                                  shape.query.offset, shape.key.dims, shape.key.offset));
  return header;
}

}  // namespace

void write_converted(const ConvertPlan& plan, const Model& model, std::size_t shard,
                     const std::filesystem::path& destination, Progress& progress) {
  const InputFile& in = model.shards[shard].file;
  const SafetensorsHeader& header = model.shards[shard].header;
  const auto query_source =
      source_elements(plan.from, plan.to, plan.shape.query, plan.shape.rotary_dims);
  const auto key_source =
      source_elements(plan.from, plan.to, plan.shape.key, plan.shape.rotary_dims);
  // Heads by where they begin, since tensors need not lie in the order of the header, nor heads in
  // that of the plan.
  std::map<std::uint64_t, PlacedHead> heads;
  for (const ConvertedLayer& layer : plan.layers) {
    for (const ConvertedTensor& tensor : layer.tensors) {
      if (tensor.shard != shard) continue;
      const std::uint64_t begin = header.data_begin + header.tensors[tensor.entry].begin;
      for (const HeadRows& head : tensor.heads)
        heads[begin + head.first_row * tensor.row_bytes()] = {&tensor, head.role, head.first_row};
    }
  }

  OutputFile out(destination, private_mode);
  const std::string prefix = encode(recorded(plan, header));
  out.write(reinterpret_cast<const std::byte*>(prefix.data()), prefix.size());
  std::uint64_t done = header.data_begin;
  Bytes buffer, new_rows;
  for (const auto& [begin, head] : heads) {
    const auto& source = head.role == Role::query ? query_source : key_source;
    copy_bytes(in, done, begin, out, buffer, progress);
    write_head(in, begin, head, source, out, buffer, new_rows);
    done = begin + head.tensor->row_bytes() * source.size();
    progress.advance(done - begin);
  }
  copy_bytes(in, done, in.size(), out, buffer, progress);
  in.require_unchanged();
  out.set_mode(in.mode());
  out.close();
}

void copy_whole(const std::filesystem::path& from, const std::filesystem::path& to) {
  const InputFile in(from);
  OutputFile out(to, private_mode);
  Bytes buffer;
  Progress silent;
  copy_bytes(in, 0, in.size(), out, buffer, silent);
  in.require_unchanged();
  out.set_mode(in.mode());
  out.close();
}

std::optional<std::size_t> first_not_finite(const std::byte* elements, std::size_t count,
                                            ScalarType type) {
  switch (type) {
    case ScalarType::f64:
      return first_with_exponent<std::uint64_t>(elements, count, 0x7ff0000000000000U);
    case ScalarType::f32: return first_with_exponent<std::uint32_t>(elements, count, 0x7f800000U);
    case ScalarType::f16: return first_with_exponent<std::uint16_t>(elements, count, 0x7c00U);
    case ScalarType::bf16: break;
  }
  return first_with_exponent<std::uint16_t>(elements, count, 0x7f80U);
}

void refuse_not_finite(const std::filesystem::path& file, const std::string& tensor,
                       std::uint64_t row) {
  refuse(file.string(),
         fmt::format(
             "tensor \"{}\" must hold finite numbers to be verified, got NaN or infinity in row {}",
             tensor, row));
}

}  // namespace eigen_rope::tool
