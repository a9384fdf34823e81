// SPDX-License-Identifier: Apache-2.0
#include "convert_write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "gradcheck_problem.hpp"

namespace rope::tool {
namespace {

using Bytes = std::vector<std::byte>;

void copy_bytes(const InputFile& in, std::uint64_t begin, std::uint64_t end, OutputFile& out, Bytes& buffer) {
  buffer.resize(buffer_bytes);
  while (begin < end) {
    const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(end - begin, buffer.size()));
    in.read(begin, buffer.data(), count);
    out.write(buffer.data(), count);
    begin += count;
  }
}

// One head: at once if it fits the buffer, otherwise row by row.
void write_head(const InputFile& in, std::uint64_t begin, std::size_t row_bytes, const std::vector<rope::Index>& source, OutputFile& out,
                Bytes& old_rows, Bytes& new_rows) {
  if (row_bytes * source.size() <= buffer_bytes) {
    old_rows.resize(row_bytes * source.size());
    new_rows.resize(old_rows.size());
    in.read(begin, old_rows.data(), old_rows.size());
    for (std::size_t row = 0; row < source.size(); ++row) {
      std::memcpy(new_rows.data() + row * row_bytes, old_rows.data() + static_cast<std::size_t>(source[row]) * row_bytes, row_bytes);
    }
    out.write(new_rows.data(), new_rows.size());
    return;
  }
  new_rows.resize(row_bytes);
  for (const rope::Index row : source) {
    in.read(begin + static_cast<std::uint64_t>(row) * row_bytes, new_rows.data(), row_bytes);
    out.write(new_rows.data(), row_bytes);
  }
}

SafetensorsHeader recorded(const ConvertPlan& plan, SafetensorsHeader header) {
  const AttentionShape& shape = plan.shape;
  header.set_metadata(pairing_record, name_of(plan.to));
  header.set_metadata("rope_conversion",
                      fmt::format("{} to {}: {} heads, {} key heads, {} rotary dims, query heads of {} from {}, key heads of {} from {}",
                                  name_of(plan.from), name_of(plan.to), shape.heads, shape.key_heads, shape.rotary_dims, shape.query.dims,
                                  shape.query.offset, shape.key.dims, shape.key.offset));
  return header;
}

}  // namespace

void write_converted(const ConvertPlan& plan, const Model& model, std::size_t shard, const std::filesystem::path& destination) {
  const InputFile& in = model.shards[shard].file;
  const SafetensorsHeader& header = model.shards[shard].header;
  const auto query_source = source_elements(plan.from, plan.to, plan.shape.query, plan.shape.rotary_dims);
  const auto key_source = source_elements(plan.from, plan.to, plan.shape.key, plan.shape.rotary_dims);
  // Heads by where they begin, since tensors need not lie in the order of the header, nor heads in that of the plan.
  struct Head {
    Role role;
    std::uint64_t row_bytes;
  };
  std::map<std::uint64_t, Head> heads;
  for (const ConvertedLayer& layer : plan.layers) {
    for (const ConvertedTensor& tensor : layer.tensors) {
      if (tensor.shard != shard) continue;
      const std::uint64_t begin = header.data_begin + header.tensors[tensor.entry].begin;
      for (const HeadRows& head : tensor.heads) heads[begin + head.first_row * tensor.row_bytes()] = {head.role, tensor.row_bytes()};
    }
  }

  OutputFile out(destination);
  const std::string prefix = encode(recorded(plan, header));
  out.write(reinterpret_cast<const std::byte*>(prefix.data()), prefix.size());
  std::uint64_t done = header.data_begin;
  Bytes buffer, new_rows;
  for (const auto& [begin, head] : heads) {
    const auto& source = head.role == Role::query ? query_source : key_source;
    copy_bytes(in, done, begin, out, buffer);
    write_head(in, begin, static_cast<std::size_t>(head.row_bytes), source, out, buffer, new_rows);
    done = begin + head.row_bytes * source.size();
  }
  copy_bytes(in, done, in.size(), out, buffer);
  in.require_unchanged();
  out.close();
}

void copy_whole(const std::filesystem::path& from, const std::filesystem::path& to) {
  const InputFile in(from);
  OutputFile out(to);
  Bytes buffer;
  copy_bytes(in, 0, in.size(), out, buffer);
  out.close();
}

}  // namespace rope::tool
