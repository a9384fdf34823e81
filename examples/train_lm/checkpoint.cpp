// SPDX-License-Identifier: Apache-2.0
#include "checkpoint.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "eigen_rope/numbers/error.hpp"
#include "error.hpp"
#include "files.hpp"
#include "json_integer.hpp"
#include "limits.hpp"
#include "stored_tensors.hpp"

namespace train_lm {
namespace {

using nlohmann::json;

constexpr const char* format_name = "eigen-rope train_lm 1";

json to_json(const RunConfig& c) {
  return {{"vocabulary", c.model.vocabulary},
          {"layers", c.model.layers},
          {"heads", c.model.heads},
          {"dim", c.model.dim},
          {"context", c.context},
          {"batch", c.batch},
          {"steps", c.steps},
          {"seed", c.seed},
          {"text", c.text},
          {"text_checksum", c.text_checksum},
          {"comparison", c.comparison},
          {"learn_frequencies", c.model.rates == Rates::learned},
          {"rope", {{"kind", c.rope.kind}, {"factor", c.rope.factor}, {"base", c.rope.base}}},
          {"adam",
           {{"peak_rate", c.adam.peak_rate},
            {"final_rate_ratio", c.adam.final_rate_ratio},
            {"warmup", c.adam.warmup},
            {"beta1", c.adam.beta1},
            {"beta2", c.adam.beta2},
            {"epsilon", c.adam.epsilon},
            {"decay", c.adam.decay},
            {"clip", c.adam.clip},
            {"rates_factor", c.adam.rates_factor}}}};
}

template <class T>
T within(const char* key, const Limits<T>& limits, T value) {
  if (!limits.hold(value))
    throw Error(
        fmt::format("its {} must be from {} to {}, got {}", key, limits.least, limits.most, value));
  return value;
}

void get_within(const json& j, const char* key, const Limits<std::int64_t>& limits,
                std::int64_t& value) {
  value = within(key, limits, integer<std::int64_t>(j.at(key)));
}

void get_within(const json& j, const char* key, const Limits<double>& limits, double& value) {
  value = within(key, limits, j.at(key).get<double>());
}

RunConfig from_json(const json& j) {
  RunConfig c;
  get_within(j, "vocabulary", vocabulary_limits, c.model.vocabulary);
  get_within(j, "layers", layers_limits, c.model.layers);
  get_within(j, "heads", dim_limits, c.model.heads);
  get_within(j, "dim", dim_limits, c.model.dim);
  get_within(j, "context", context_limits, c.context);
  get_within(j, "batch", batch_limits, c.batch);
  get_within(j, "steps", steps_limits, c.steps);
  c.seed = integer<std::uint64_t>(j.at("seed"));
  j.at("text").get_to(c.text);
  c.text_checksum = integer<std::uint64_t>(j.at("text_checksum"));
  j.at("comparison").get_to(c.comparison);
  j.at("rope").at("kind").get_to(c.rope.kind);
  get_within(j.at("rope"), "factor", rope_factor_limits, c.rope.factor);
  get_within(j.at("rope"), "base", rope_base_limits, c.rope.base);
  const json& adam = j.at("adam");
  get_within(adam, "peak_rate", learning_rate_limits, c.adam.peak_rate);
  adam.at("final_rate_ratio").get_to(c.adam.final_rate_ratio);
  adam.at("warmup").get_to(c.adam.warmup);
  adam.at("beta1").get_to(c.adam.beta1);
  adam.at("beta2").get_to(c.adam.beta2);
  adam.at("epsilon").get_to(c.adam.epsilon);
  adam.at("decay").get_to(c.adam.decay);
  adam.at("clip").get_to(c.adam.clip);
  // Checkpoints made before rates could be learned do not have these.
  c.model.rates = j.value("learn_frequencies", false) ? Rates::learned : Rates::fixed;
  if (adam.contains("rates_factor"))
    get_within(adam, "rates_factor", rates_factor_limits, c.adam.rates_factor);
  if (c.model.dim % c.model.heads != 0) throw Error("its config describes no model");
  if (c.model.rates == Rates::learned && (!c.rope.rotates() || c.model.head_dim() % 2 != 0)) {
    throw Error("its config learns the rates of no rotation");
  }
  return c;
}

/// RowMajor extents, slowest first, as safetensors has them.
std::vector<std::ptrdiff_t> stored_shape(const Slot& slot) {
  if (slot.kind != SlotKind::matrix) return {slot.rows};
  return {slot.cols, slot.rows};
}

void add_parameters(Safetensors& file, const std::string& prefix,
                    const Parameters<float>& parameters) {
  for (std::size_t i = 0; i < parameters.layout().slots.size(); ++i) {
    const Slot& slot = parameters.slot(i);
    file.add(prefix + slot.name, stored_shape(slot), parameters.data(i));
  }
}

void get_parameters(const Safetensors& file, const std::string& prefix,
                    Parameters<float>& parameters) {
  for (std::size_t i = 0; i < parameters.layout().slots.size(); ++i) {
    const Slot& slot = parameters.slot(i);
    file.get(prefix + slot.name, stored_shape(slot), parameters.data(i));
  }
}

void get_curves(const Safetensors& file, RunState& state) {
  state.train_bits.resize(file.tensor("curve.train").bytes.size() / sizeof(double));
  file.get("curve.train", {static_cast<std::ptrdiff_t>(state.step)}, state.train_bits.data());
  const std::vector<std::ptrdiff_t> shape = file.tensor("curve.validation").shape;
  if (shape.size() != 2 || shape[1] != 2) throw Error("its validation curve has a wrong shape");
  std::vector<double> values(static_cast<std::size_t>(shape[0] * 2));
  file.get("curve.validation", shape, values.data());
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const auto now = static_cast<double>(state.step);
    if (!(values[i] >= 0 && values[i] <= now))
      throw Error(fmt::format("its validation curve has a step {} of {}", values[i], now));
    state.validation.push_back({static_cast<std::int64_t>(values[i]), values[i + 1]});
  }
}

const std::string& metadata(const Safetensors& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) throw Error(fmt::format("its metadata has no {}", key));
  return found->second;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

File open_checkpoint(const std::filesystem::path& path) {
  File file(std::fopen(path.c_str(), "rbe"));
  if (!file)
    throw Error(
        fmt::format("cannot open the checkpoint {}: {}", path.string(), std::strerror(errno)));
  return file;
}

std::string read_all(std::FILE* file) {
  constexpr std::size_t block = std::size_t{1} << 16;
  std::string bytes;
  std::size_t size = 0, got = 0;
  do {
    bytes.resize(size + block);
    got = std::fread(bytes.data() + size, 1, block, file);
    size += got;
  } while (got == block);
  if (std::ferror(file) != 0)
    throw Error(fmt::format("it cannot be read: {}", std::strerror(errno)));
  bytes.resize(size);
  return bytes;
}

Checkpoint read_checkpoint(const File& file, const std::filesystem::path& path) {
  const auto unusable = [&](const char* why) {
    return Error(fmt::format("cannot use the checkpoint {}: {}", path.string(), why));
  };
  try {
    return decode_checkpoint(read_all(file.get()));
  } catch (const Error& e) {
    throw unusable(e.what());
  } catch (const eigen_rope::Error& e) {
    throw unusable(e.what());
  } catch (const json::exception& e) {
    throw unusable(e.what());
  }
}

}  // namespace

std::filesystem::path checkpoint_before(const std::filesystem::path& path) {
  std::filesystem::path before = path;
  return before.replace_extension(".before.safetensors");
}

bool checkpoint_exists(const std::filesystem::path& path) {
  return is_there(path) || is_there(checkpoint_before(path));
}

Checkpoint decode_checkpoint(const std::string& bytes) {
  const Safetensors file = decode(bytes);
  if (metadata(file, "format") != format_name) {
    throw Error(
        fmt::format("its format is {}, expected {}", metadata(file, "format"), format_name));
  }
  const RunConfig config = from_json(json::parse(metadata(file, "config")));
  // Before memory is reserved for what a config claims.
  const ParameterLayout layout(config.model);
  if (static_cast<std::size_t>(layout.size) > bytes.size() / sizeof(float))
    throw Error("its config describes a larger model");
  RunState state(config);
  state.step = within("step", Limits<std::int64_t>{0, config.steps},
                      integer<std::int64_t>(json::parse(metadata(file, "step"))));
  state.threads = static_cast<int>(within(
      "threads", threads_limits, integer<std::int64_t>(json::parse(metadata(file, "threads")))));
  get_parameters(file, "model.", state.weights);
  get_parameters(file, "adam.m.", state.moments.m);
  get_parameters(file, "adam.v.", state.moments.v);
  get_curves(file, state);
  return {config, std::move(state)};
}

std::string encode_checkpoint(const RunConfig& config, const RunState& state) {
  Safetensors file;
  file.metadata = {{"format", format_name},
                   {"config", to_json(config).dump(-1, ' ', false, json::error_handler_t::replace)},
                   {"step", std::to_string(state.step)},
                   {"seed", std::to_string(config.seed)},
                   {"threads", std::to_string(state.threads)}};
  add_parameters(file, "model.", state.weights);
  add_parameters(file, "adam.m.", state.moments.m);
  add_parameters(file, "adam.v.", state.moments.v);
  file.add("curve.train", {static_cast<std::ptrdiff_t>(state.train_bits.size())},
           state.train_bits.data());
  std::vector<double> validation;
  for (const ValidationPoint& point : state.validation) {
    validation.push_back(static_cast<double>(point.step));
    validation.push_back(point.bits);
  }
  file.add("curve.validation", {static_cast<std::ptrdiff_t>(state.validation.size()), 2},
           validation.data());
  return encode(file);
}

void save_checkpoint(const std::filesystem::path& path, const RunConfig& config,
                     const RunState& state) {
  write_atomically_keeping(path, checkpoint_before(path), encode_checkpoint(config, state));
}

Checkpoint load_checkpoint(const std::filesystem::path& path) {
  return read_checkpoint(open_checkpoint(path), path);
}

StoredCheckpoint load_newest_checkpoint(const std::filesystem::path& path) {
  const std::filesystem::path before = checkpoint_before(path);
  std::string damage = fmt::format("there is no {}", path.string());
  if (is_there(path)) {
    const File file = open_checkpoint(path);
    try {
      return {read_checkpoint(file, path), path, {}};
    } catch (const Error& e) {
      damage = e.what();
    }
    if (!is_there(before)) throw Error(damage);
  }
  try {
    return {load_checkpoint(before), before, damage};
  } catch (const Error& e) {
    throw Error(fmt::format("{}; the one before it: {}", damage, e.what()));
  }
}

std::string difference(const RunConfig& wanted, const RunConfig& stored) {
  if (wanted.text_checksum != stored.text_checksum)
    return "the text is another one than the checkpoint's";
  const json a = to_json(wanted).flatten();
  const json b = to_json(stored).flatten();
  for (const auto& [key, value] : a.items()) {
    if (key == "/text" || key == "/comparison" || value == b.at(key)) continue;
    return fmt::format("{} is {}, the checkpoint has {}", key.substr(1), value.dump(),
                       b.at(key).dump());
  }
  return {};
}

}  // namespace train_lm
