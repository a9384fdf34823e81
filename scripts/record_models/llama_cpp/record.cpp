// SPDX-License-Identifier: Apache-2.0
//
// Runs tiny random models with llama.cpp and says what their executed graphs rotate.
//
//   record_llama_cpp --list              one line of JSON: versions, and every architecture by name
//   record_llama_cpp < jobs > results    one line of JSON for each line of standard input
//
// A job is {"id", "keys", "tokens", "tensors"}: metadata by key, the size of the vocabulary, and
// values of tensors by name. It becomes a model without a file (llama_model_init_from_user), whose
// weights are random. One token is decoded; every node that rotates and every softmax of attention
// is taken down after it has run, through the callback of the evaluation. Nothing is read from
// llama.cpp's sources.
//
// llama.cpp ends the process where it meets what it does not expect, so each job has a process of
// its own; its last words are the reason.
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ggml-backend.h"
#include "ggml.h"
#include "gguf.h"
#include "llama-arch.h"
#include "llama.h"

namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned kSeconds = 60;

std::string log_text;

void keep_log(ggml_log_level level, const char* text, void*) {
  if (level == GGML_LOG_LEVEL_ERROR) log_text += text;
}

// ---- metadata
// -----------------------------------------------------------------------------------------

void set_array(gguf_context* metadata, const std::string& key, const Json& values) {
  const Json& first = values.at(0);
  if (first.is_string()) {
    std::vector<std::string> texts = values.get<std::vector<std::string>>();
    std::vector<const char*> pointers;
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    gguf_set_arr_str(metadata, key.c_str(), pointers.data(), pointers.size());
  } else if (first.is_boolean()) {
    std::vector<std::int8_t> flags;
    for (const Json& value : values) flags.push_back(value.get<bool>() ? 1 : 0);
    gguf_set_arr_data(metadata, key.c_str(), GGUF_TYPE_BOOL, flags.data(), flags.size());
  } else if (first.is_number_float()) {
    const std::vector<float> numbers = values.get<std::vector<float>>();
    gguf_set_arr_data(metadata, key.c_str(), GGUF_TYPE_FLOAT32, numbers.data(), numbers.size());
  } else {
    const std::vector<std::int32_t> numbers = values.get<std::vector<std::int32_t>>();
    gguf_set_arr_data(metadata, key.c_str(), GGUF_TYPE_INT32, numbers.data(), numbers.size());
  }
}

void set_key(gguf_context* metadata, const std::string& key, const Json& value) {
  if (value.is_array()) {
    set_array(metadata, key, value);
  } else if (value.is_object()) {
    const std::vector<std::uint64_t> numbers = value.at("uint64").get<std::vector<std::uint64_t>>();
    gguf_set_arr_data(metadata, key.c_str(), GGUF_TYPE_UINT64, numbers.data(), numbers.size());
  } else if (value.is_string()) {
    gguf_set_val_str(metadata, key.c_str(), value.get<std::string>().c_str());
  } else if (value.is_boolean()) {
    gguf_set_val_bool(metadata, key.c_str(), value.get<bool>());
  } else if (value.is_number_float()) {
    gguf_set_val_f32(metadata, key.c_str(), value.get<float>());
  } else {
    gguf_set_val_u32(metadata, key.c_str(), value.get<std::uint32_t>());
  }
}

gguf_context* metadata_of(const Json& job) {
  gguf_context* metadata = gguf_init_empty();
  for (const auto& [key, value] : job.at("keys").items()) set_key(metadata, key, value);
  // A tensor named here is of half precision where the graph multiplies by one of that type only.
  for (const Json& name : job.value("half_tensors", Json::array())) {
    ggml_tensor tensor;
    std::memset(&tensor, 0, sizeof tensor);
    tensor.type = GGML_TYPE_F16;
    ggml_set_name(&tensor, name.get<std::string>().c_str());
    gguf_add_tensor(metadata, &tensor);
  }
  return metadata;
}

void fill_tensor(ggml_tensor* tensor, void* data) {
  const Json& given = *static_cast<const Json*>(data);
  const std::int64_t count = ggml_nelements(tensor);
  std::vector<float> values(static_cast<std::size_t>(count), 1.0F);
  const std::string name = tensor->name;
  if (given.contains(name)) {
    const std::vector<float> pattern = given.at(name).get<std::vector<float>>();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = pattern[i % pattern.size()];
  } else if (name.rfind("rope_", 0) != 0) {
    std::mt19937 generator(static_cast<unsigned>(std::hash<std::string>{}(name)));
    std::normal_distribution<float> normal(0.0F, 0.1F);
    for (float& value : values) value = normal(generator);
    if (name.find("ssm_a") != std::string::npos) {
      for (float& value : values) value = -std::abs(value);
    }
  }
  if (tensor->type == GGML_TYPE_F16) {
    std::vector<ggml_fp16_t> halves(values.size());
    ggml_fp32_to_fp16_row(values.data(), halves.data(), count);
    ggml_backend_tensor_set(tensor, halves.data(), 0, ggml_nbytes(tensor));
  } else if (tensor->type == GGML_TYPE_I32) {
    const std::vector<std::int32_t> zeros(values.size(), 0);
    ggml_backend_tensor_set(tensor, zeros.data(), 0, ggml_nbytes(tensor));
  } else {
    ggml_backend_tensor_set(tensor, values.data(), 0, ggml_nbytes(tensor));
  }
}

// ---- the graph
// -----------------------------------------------------------------------------------------

float real_parameter(const ggml_tensor* node, int at) {
  float value = 0;
  std::memcpy(&value, node->op_params + at, sizeof value);
  return value;
}

/// The weight whose product is rotated: the first found up the sources.
std::string weight_of(const ggml_tensor* tensor, std::set<const ggml_tensor*>& seen) {
  if (tensor == nullptr || !seen.insert(tensor).second) return {};
  const bool product = tensor->op == GGML_OP_MUL_MAT || tensor->op == GGML_OP_MUL_MAT_ID;
  if (product && tensor->src[0]->op == GGML_OP_NONE &&
      std::strncmp(tensor->src[0]->name, "blk.", 4) == 0)
    return tensor->src[0]->name;
  for (const ggml_tensor* source : tensor->src) {
    std::string found = weight_of(source, seen);
    if (!found.empty()) return found;
  }
  return {};
}

/// The n of a name that ends in -n, or of one that begins with blk.n. ; -1 where there is none.
int layer_of_name(const std::string& name) {
  const std::size_t dash = name.find_last_of('-');
  if (dash != std::string::npos && dash + 1 < name.size() &&
      std::isdigit(static_cast<unsigned char>(name[dash + 1])) != 0) {
    return std::atoi(name.c_str() + dash + 1);
  }
  if (name.rfind("blk.", 0) == 0) return std::atoi(name.c_str() + 4);
  return -1;
}

struct Recorder {
  Json rotations = Json::array();
  Json softmaxes = Json::array();
};

void record_rotation(Recorder& recorder, const ggml_tensor* node) {
  const ggml_tensor* rows = node->src[0];
  std::set<const ggml_tensor*> seen;
  const std::string weight = weight_of(rows, seen);
  Json entry;
  entry["op"] = ggml_op_name(node->op);
  entry["name"] = node->name;
  entry["rows"] = rows->name;
  entry["weight"] = weight;
  int layer = layer_of_name(node->name);
  if (layer < 0) layer = layer_of_name(rows->name);
  if (layer < 0) layer = layer_of_name(weight);
  entry["layer"] = layer;
  entry["mode"] = node->op_params[2];
  entry["dims"] = node->op_params[1];
  entry["offset"] = node->op_params[15];
  entry["original_context"] = node->op_params[4];
  entry["base"] = real_parameter(node, 5);
  entry["freq_scale"] = real_parameter(node, 6);
  entry["ext_factor"] = real_parameter(node, 7);
  entry["attn_factor"] = real_parameter(node, 8);
  entry["beta_fast"] = real_parameter(node, 9);
  entry["beta_slow"] = real_parameter(node, 10);
  entry["sections"] = std::vector<std::int32_t>(node->op_params + 11, node->op_params + 15);
  entry["factors"] = node->src[2] == nullptr ? "" : node->src[2]->name;
  // Where the rotated rows lie in wider ones: all in elements.
  const auto size = static_cast<std::int64_t>(ggml_type_size(rows->type));
  entry["width"] = rows->ne[0];
  entry["heads"] = rows->ne[1];
  entry["stride"] = static_cast<std::int64_t>(rows->nb[1]) / size;
  entry["view_offset"] = static_cast<std::int64_t>(rows->view_offs) / size;
  recorder.rotations.push_back(entry);
}

void record_softmax(Recorder& recorder, const ggml_tensor* node) {
  Json entry;
  entry["op"] = ggml_op_name(node->op);
  entry["name"] = node->name;
  int layer = layer_of_name(node->name);
  if (layer < 0) layer = layer_of_name(node->src[0]->name);
  entry["layer"] = layer;
  entry["scale"] = real_parameter(node, 0);
  recorder.softmaxes.push_back(entry);
}

bool evaluate(ggml_tensor* node, bool ask, void* data) {
  const bool rotates = node->op == GGML_OP_ROPE || node->op == GGML_OP_ROPE_BACK;
  const bool weighs = node->op == GGML_OP_SOFT_MAX || node->op == GGML_OP_FLASH_ATTN_EXT;
  if (ask) return rotates || weighs;
  Recorder& recorder = *static_cast<Recorder*>(data);
  if (rotates) record_rotation(recorder, node);
  if (weighs) record_softmax(recorder, node);
  return true;
}

// ---- one job
// -----------------------------------------------------------------------------------------

Json run(const Json& job) {
  llama_log_set(keep_log, nullptr);
  llama_backend_init();
  Json result;
  gguf_context* metadata = metadata_of(job);
  const Json tensors = job.value("tensors", Json::object());
  llama_model_params model_params = llama_model_default_params();
  model_params.progress_callback = [](float, void*) { return true; };
  llama_model* model =
      llama_model_init_from_user(metadata, fill_tensor, const_cast<Json*>(&tensors), model_params);
  if (model == nullptr) throw std::runtime_error("the model is refused");
  Recorder recorder;
  llama_context_params params = llama_context_default_params();
  params.n_ctx = 0;
  params.n_ubatch = 64;
  params.n_threads = 1;
  params.n_threads_batch = 1;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.cb_eval = evaluate;
  params.cb_eval_user_data = &recorder;
  if (job.value("embeddings", false)) params.embeddings = true;
  llama_context* other = nullptr;
  llama_model* other_model = nullptr;
  if (job.contains("other")) {
    const Json& companion = job.at("other");
    gguf_context* other_metadata = metadata_of(companion);
    other_model = llama_model_init_from_user(other_metadata, fill_tensor,
                                             const_cast<Json*>(&tensors), model_params);
    if (other_model == nullptr) throw std::runtime_error("the model to be assisted is refused");
    llama_context_params other_params = params;
    other_params.cb_eval = nullptr;
    other = llama_init_from_model(other_model, other_params);
    if (other == nullptr) throw std::runtime_error("the context to be assisted is refused");
    params.ctx_other = other;
  }
  llama_context* context = llama_init_from_model(model, params);
  if (context == nullptr) throw std::runtime_error("the context is refused");
  recorder = Recorder{};

  llama_batch batch = llama_batch_init(1, 0, 1);
  batch.n_tokens = 1;
  batch.token[0] = 5;
  // What drafts of another model take beside the token.
  std::vector<float> hidden(job.value("hidden_width", std::size_t{0}), 0.01F);
  if (!hidden.empty()) batch.embd = hidden.data();
  batch.pos[0] = 0;
  batch.n_seq_id[0] = 1;
  batch.seq_id[0][0] = 0;
  batch.logits[0] = 1;
  int status = 0;
  // The encoder of a draft takes what the other model made, and rotates nothing.
  if (llama_model_has_encoder(model) && !job.contains("other"))
    status = llama_encode(context, batch);
  if (status == 0 && llama_model_has_decoder(model)) status = llama_decode(context, batch);
  if (status != 0) throw std::runtime_error("decoding fails with status " + std::to_string(status));
  result["rotations"] = recorder.rotations;
  result["softmaxes"] = recorder.softmaxes;
  return result;
}

/// The first line of what was logged as an error, which is the cause of those behind it, without
/// the function that says it.
std::string first_line(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string::npos) return {};
  const std::string line = text.substr(begin, text.find('\n', begin) - begin);
  const std::size_t colon = line.find(": ");
  return colon == std::string::npos ? line : line.substr(colon + 2);
}

/// Where the process was ended, its assertion is what it wrote to the standard error stream before
/// the list of calls.
std::string reason_of(const std::string& errors, int status) {
  std::string text;
  std::string line;
  for (const char c : errors + "\n") {
    if (c != '\n') {
      line.push_back(c);
      continue;
    }
    if (line.find("GGML_ASSERT") != std::string::npos || line.find("fatal") != std::string::npos) {
      const std::size_t slash = line.find_last_of('/');
      text = slash == std::string::npos ? line : line.substr(slash + 1);
      break;
    }
    line.clear();
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return "takes longer than a minute";
  if (!text.empty()) return text;
  return WIFSIGNALED(status) ? "ended by signal " + std::to_string(WTERMSIG(status))
                             : "ended without a result";
}

std::string read_all(int descriptor) {
  std::string text;
  char buffer[65536];
  for (ssize_t got = 0; (got = read(descriptor, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  return text;
}

[[noreturn]] void child(const Json& job, int out) {
  alarm(kSeconds);
  Json result;
  try {
    result = run(job);
  } catch (const std::exception& error) {
    const std::string said = first_line(log_text);
    result = Json::object();
    result["error"] = said.empty() ? error.what() : std::string(error.what()) + ": " + said;
  }
  const std::string text = result.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t count = write(out, text.data() + sent, text.size() - sent);
    if (count <= 0) break;
    sent += static_cast<std::size_t>(count);
  }
  _exit(0);
}

Json run_apart(const Json& job) {
  int results[2];
  if (pipe(results) != 0) throw std::runtime_error("no pipe");
  std::FILE* errors = std::tmpfile();
  std::fflush(nullptr);
  const pid_t process = fork();
  if (process == 0) {
    close(results[0]);
    dup2(fileno(errors), STDERR_FILENO);
    child(job, results[1]);
  }
  close(results[1]);
  const std::string text = read_all(results[0]);
  close(results[0]);
  int status = 0;
  waitpid(process, &status, 0);
  Json result = Json::parse(text, nullptr, false);
  if (result.is_discarded() || !result.is_object()) {
    result = Json::object();
    lseek(fileno(errors), 0, SEEK_SET);
    result["error"] = reason_of(read_all(fileno(errors)), status);
  }
  std::fclose(errors);
  result["id"] = job.at("id");
  return result;
}

void list() {
  Json result;
  result["llama_cpp"] = llama_version();
  result["ggml"] = ggml_version();
  for (const llm_arch arch : llm_arch_all()) {
    if (arch != LLM_ARCH_UNKNOWN) result["architectures"].push_back(llm_arch_name(arch));
  }
  std::cout << result.dump() << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  // No list of calls behind an assertion: it would start a debugger.
  setenv("GGML_NO_BACKTRACE", "1", 1);
  if (argc > 1 && std::strcmp(argv[1], "--list") == 0) {
    list();
    return 0;
  }
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << run_apart(Json::parse(line)).dump(-1, ' ', false, Json::error_handler_t::replace)
              << std::endl;
  }
  return 0;
}
