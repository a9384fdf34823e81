// SPDX-License-Identifier: Apache-2.0
//
// Headers of safetensors files, indexes of folders of them, and what `eigen-rope convert` plans for
// them. The first bytes are the options, the rest is the file, or where it begins with a brace, the
// index of a folder with two files.
#include <fmt/format.h>

#include "memory_file.hpp"
#include "promise.hpp"
#include "support/file_bytes.hpp"
#include "support/safetensors_bytes.hpp"
#include "support/temporary_folder.hpp"
#include "take.hpp"
#include "tool/convert/plan.hpp"
#include "tool/io/file_error.hpp"

namespace eigen_rope::fuzz {
namespace {

constexpr std::array<PairKind, 4> kinds{PairKind::split_half, PairKind::interleaved,
                                        PairKind::quarter, PairKind::interleaved_to_split_half};

tool::ConvertOptions options_of(Take& take) {
  tool::ConvertOptions options;
  options.from = take.one_of(kinds);
  options.to = take.one_of(kinds);
  const std::uint8_t which = take.byte();
  options.heads = take.integer();
  options.head_dims = take.integer();
  if (which & 1) options.key_heads = take.integer();
  if (which & 2) options.key_head_dims = take.integer();
  if (which & 4) options.rotary_dims = take.integer();
  if (which & 8) options.offset = take.integer();
  if (which & 16) options.key_offset = take.integer();
  if (which & 32)
    options.order = which & 64 ? tool::QkvOrder::concatenated : tool::QkvOrder::grouped;
  if (which & 128) {
    options.query = "q";
    options.key = "k";
    options.keep = "norm$";
  }
  return options;
}

void require_consistent_plan(const tool::Model& model, const tool::ConvertPlan& plan) {
  require(!plan.layers.empty(), "a plan has a layer");
  for (const tool::ConvertedLayer& layer : plan.layers) {
    require(!layer.tensors.empty(), "a layer has tensors");
    for (const tool::ConvertedTensor& tensor : layer.tensors) {
      require(tensor.shard < model.shards.size(), "a tensor's file exists");
      const auto& entries = model.shards[tensor.shard].header.tensors;
      require(tensor.entry < entries.size() && entries[tensor.entry].name == tensor.name,
              "a tensor of the plan is one of the file");
      const std::uint64_t bytes = entries[tensor.entry].bytes();
      require(!tensor.heads.empty(), "a tensor of the plan has heads");
      for (const tool::HeadRows& head : tensor.heads) {
        const auto dims = static_cast<std::uint64_t>(
            head.role == tool::Role::query ? plan.shape.query.dims : plan.shape.key.dims);
        require((head.first_row + dims) * tensor.row_bytes() <= bytes,
                "the rows of a head are rows of its tensor");
      }
    }
  }
}

void plan(const tool::ConvertOptions& options, const tool::Model& model) {
  attempt<Error, tool::FileError>([&] {
    require_consistent_plan(model, tool::make_plan(options, tool::describe(options, model), model));
  });
}

// One projection of 8 rows and 2 columns of float.
std::string projection(const char* name) {
  return test::safetensors_bytes(
      fmt::format(R"({{"{}":{{"dtype":"F32","shape":[8,2],"data_offsets":[0,64]}}}})", name),
      std::string(64, '\0'));
}

struct FolderOfTwo {
  FolderOfTwo() {
    test::write_bytes(query, projection("q_proj.weight"));
    test::write_bytes(key, projection("k_proj.weight"));
  }
  test::TemporaryFolder folder{test::Medium::memory};
  std::filesystem::path query = folder / "q.safetensors", key = folder / "k.safetensors",
                        index = folder / "model.safetensors.index.json";
};

void run_index(const tool::ConvertOptions& options, Bytes index) {
  static const FolderOfTwo files;
  test::write_bytes(files.index, index);
  std::optional<tool::Model> model;
  attempt<Error, tool::FileError>([&] { model.emplace(tool::open_model(files.index)); });
  if (!model) return;
  for (const tool::Shard& shard : model->shards) {
    require(shard.file.path() == files.query || shard.file.path() == files.key,
            "the files of an index lie beside it");
  }
  plan(options, *model);
}

}  // namespace

void fuzz_safetensors(Bytes bytes) {
  static const MemoryFile file;
  Take take(bytes);
  const tool::ConvertOptions options = options_of(take);
  if (!take.rest().empty() && take.rest().front() == '{') {
    run_index(options, take.rest());
    return;
  }
  const std::filesystem::path path = file.with(take.rest());
  std::optional<tool::Model> model;
  attempt<Error, tool::FileError>([&] { model.emplace(tool::open_model(path)); });
  if (!model) return;
  const tool::SafetensorsHeader& header = model->shards.at(0).header;
  for (const tool::SafetensorsEntry& tensor : header.tensors) {
    require(tensor.begin <= tensor.end && tensor.end <= take.rest().size() - header.data_begin,
            "tensors lie within the file");
  }
  // What is written is read back as what it was.
  std::string copy = tool::encode(header);
  copy += take.rest().substr(header.data_begin);
  const tool::SafetensorsHeader again =
      tool::read_safetensors_header(tool::InputFile(file.with(copy)));
  require(again.tensors.size() == header.tensors.size() && again.metadata == header.metadata,
          "a header is written as it was read");
  for (std::size_t i = 0; i < header.tensors.size(); ++i) {
    const tool::SafetensorsEntry &a = header.tensors[i], &b = again.tensors[i];
    require(a.name == b.name && a.dtype == b.dtype && a.shape == b.shape && a.begin == b.begin &&
                a.end == b.end,
            "a tensor's entry is written as it was read");
  }
  plan(options, *model);
}

}  // namespace eigen_rope::fuzz
