// SPDX-License-Identifier: Apache-2.0
//
// What is not a configuration, or not one that can be followed, is refused in one sentence that
// names the key and the value. The sentences of the second list are refusals of the strict reader
// only: the lenient one says them as warnings and goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "eigen_rope/models/hugging_face.hpp"
#include "support/error_of.hpp"
#include "support/file_bytes.hpp"
#include "support/temporary_folder.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

struct Malformed {
  std::string text;
  std::string message;
};

std::string message(const std::string& text, Strictness strictness) {
  return test::error_of([&] { (void)parse_hugging_face(text, strictness); });
}

const Malformed refused_by_both[] = {
    {R"()", "[rope] the text must be JSON, got unexpected end of input at line 1, column 1"},
    {R"({)", "[rope] the text must be JSON, got unexpected end of input at line 1, column 2"},
    {R"({"model_type": "llama",})",
     "[rope] the text must be JSON, got unexpected '}' at line 1, column 24"},
    {"{\"a\": 1,\n \"b\": [1, 2}\n",
     "[rope] the text must be JSON, got unexpected '}' at line 2, column 12"},
    {R"({"rope_theta": NaN})",
     "[rope] the text must be JSON, got invalid literal at line 1, column 16"},
    {R"({"rope_theta": 1e999})", "[rope] numbers must fit a double, got 1e999"},
    {R"({"rope_theta": 1, "rope_theta": 2})",
     R"([rope] a key must stand only once in its object, got "rope_theta")"},
    {R"({"text_config": {"rope_scaling": {"factor": 2, "factor": 4}}})",
     R"([rope] a key must stand only once in its object, got "text_config.rope_scaling.factor")"},
    {R"([1])", "[rope] the file must be an object, got [1]"},
    {R"(7)", "[rope] the file must be an object, got 7"},
    {R"({"model_type": 3})", "[rope] model_type must be a string, got 3"},
    {R"({"model_type": "llama", "rope_theta": "10000"})",
     R"([rope] rope_theta must be a number, got "10000")"},
    {R"({"model_type": "llama", "rope_theta": true})",
     "[rope] rope_theta must be a number, got true"},
    {R"({"model_type": "llama", "rope_theta": 0})",
     "[rope] rope_theta must be greater than 0, got 0"},
    {R"({"model_type": "llama", "rope_theta": -1.5})",
     "[rope] rope_theta must be greater than 0, got -1.5"},
    {R"({"model_type": "llama", "rope_theta": 1, "head_dim": 63})",
     "[rope] head_dim must leave an even number of dims, not 0, of the head's 63, got 63"},
    {R"({"model_type": "llama", "rope_theta": 1, "head_dim": 0})",
     "[rope] head_dim must be at least 1, got 0"},
    {R"({"model_type": "llama", "rope_theta": 1, "head_dim": -64})",
     "[rope] head_dim must be at least 1, got -64"},
    {R"({"model_type": "llama", "rope_theta": 1, "head_dim": 64.5})",
     "[rope] head_dim must be a whole number, got 64.5"},
    {R"({"model_type": "llama", "rope_theta": 1, "head_dim": 99999999999999999999})",
     "[rope] head_dim must be a whole number, got 1e+20"},
    {R"({"model_type": "llama", "rope_theta": 1, "head_dim": 18446744073709551615})",
     "[rope] head_dim must be a whole number of at most 63 bits, got 18446744073709551615"},
    {R"({"model_type": "llama", "rope_theta": 1, "head_dim": 1000000})",
     "[rope] head_dim must be at most 65536, got 1000000"},
    {R"({"model_type": "llama", "rope_theta": 1, "hidden_size": 4611686018427387904, "num_attention_heads": 1})",
     "[rope] hidden_size must be at most 4294967296, got 4611686018427387904"},
    {R"({"model_type": "llama", "rope_theta": 1, "max_position_embeddings": 0})",
     "[rope] max_position_embeddings must be at least 1, got 0"},
    {R"({"model_type": "llama", "rope_theta": 1, "partial_rotary_factor": 1.5})",
     "[rope] partial_rotary_factor must be from 0 to 1, got 1.5"},
    {R"({"model_type": "phi", "rope_theta": 1, "head_dim": 96, "partial_rotary_factor": 0})",
     "[rope] partial_rotary_factor must leave an even number of dims, not 0, of the head's 96, got "
     "0"},
    {R"({"model_type": "minimax_m2", "rope_theta": 1, "head_dim": 96, "rotary_dim": 128})",
     "[rope] rotary_dim must be at most the head's (96), got 128"},
    {R"({"model_type": "minimax_m2", "rope_theta": 1, "head_dim": 96, "rotary_dim": 33})",
     "[rope] rotary_dim must leave an even number of dims, not 0, of the head's 96, got 33"},
    {R"({"model_type": "gptj", "n_embd": 4096, "n_head": 16, "rotary_dim": null})",
     "[rope] rotary_dim is required with gptj, got null"},
    {R"({"model_type": "llama", "rope_theta": 1, "rope_scaling": "linear"})",
     R"([rope] rope_scaling must be an object, got "linear")"},
    {R"({"model_type": "llama", "rope_theta": 1, "rope_scaling": [2.0]})",
     "[rope] rope_scaling must be an object, got [2.0]"},
    {R"({"model_type": "llama", "rope_theta": 1, "rope_scaling": {"type": "nope", "factor": 2.0}})",
     R"([rope] rope_scaling.type must be default, linear, dynamic, yarn, llama3, longrope or proportional, got "nope")"},
    {R"({"model_type": "llama", "rope_theta": 1, "rope_scaling": {"type": 5, "factor": 2.0}})",
     "[rope] rope_scaling.type must be a string, got 5"},
    {R"({"model_type": "llama", "rope_theta": 1, "rope_scaling": {"type": "linear"}})",
     "[rope] rope_scaling.factor is required with this rope type, got none"},
    {R"({"model_type": "llama", "rope_theta": 1, "rope_scaling": {"type": "linear", "factor": null}})",
     "[rope] rope_scaling.factor is required with this rope type, got null"},
    {R"({"model_type": "llama", "rope_theta": 1, "rope_scaling": {"type": "linear", "factor": "2"}})",
     R"([rope] rope_scaling.factor must be a number, got "2")"},
    {R"({"model_type": "llama", "rope_theta": 1, "rope_scaling": {"type": "linear", "factor": 0}})",
     "[rope] rope_scaling.factor must be at least 1, got 0"},
    {R"({"model_type": "llama", "rope_theta": 1, "rope_scaling": {"type": "linear", "factor": -2}})",
     "[rope] rope_scaling.factor must be at least 1, got -2"},
    {R"({"model_type": "llama", "max_position_embeddings": 8192, "rope_theta": 10000, "rope_scaling": {"type": "yarn", "factor": 4, "original_max_position_embeddings": 2048, "beta_slow": -1}})",
     "[rope] rope_scaling.beta_slow must be greater than 0, got -1"},
    {R"({"model_type": "llama", "max_position_embeddings": 8192, "rope_theta": 10000, "rope_scaling": {"type": "yarn", "factor": 4, "original_max_position_embeddings": 2048, "truncate": 0}})",
     "[rope] rope_scaling.truncate must be true or false, got 0"},
    {R"({"model_type": "llama", "max_position_embeddings": 8192, "rope_theta": 1, "rope_scaling": {"type": "yarn", "factor": 4, "original_max_position_embeddings": 2048}})",
     "[rope] rope_scaling must make frequencies: base must not be 1 with YaRN, whose correction "
     "dims divide by its logarithm, got 1"},
    {R"({"model_type": "llama", "rope_theta": 1, "rope_scaling": {"rope_type": "llama3", "factor": 8, "original_max_position_embeddings": 8192, "high_freq_factor": 4}})",
     "[rope] rope_scaling.low_freq_factor is required with this rope type, got none"},
    {R"({"model_type": "llama", "rope_theta": 1, "rope_scaling": {"rope_type": "llama3", "factor": 8, "original_max_position_embeddings": 8192, "low_freq_factor": 0, "high_freq_factor": 4}})",
     "[rope] rope_scaling.low_freq_factor must be greater than 0, got 0"},
    {R"({"model_type": "llama", "rope_theta": 1, "rope_scaling": {"rope_type": "llama3", "factor": 8, "original_max_position_embeddings": 8192, "low_freq_factor": 4, "high_freq_factor": 1}})",
     "[rope] rope_scaling.high_freq_factor must be greater than low_freq_factor, got 1"},
    {R"({"model_type": "llama", "rope_theta": 1, "rope_scaling": {"rope_type": "llama3", "factor": 8, "original_max_position_embeddings": -8192, "low_freq_factor": 1, "high_freq_factor": 4}})",
     "[rope] rope_scaling.original_max_position_embeddings must be at least 1, got -8192"},
    {R"({"model_type": "phi3", "head_dim": 4, "rope_theta": 10000, "rope_scaling": {"type": "longrope", "short_factor": [1, 1]}})",
     "[rope] rope_scaling.long_factor is required with this rope type, got none"},
    {R"({"model_type": "phi3", "head_dim": 4, "rope_theta": 10000, "rope_scaling": {"type": "longrope", "short_factor": [1], "long_factor": [1, 2], "original_max_position_embeddings": 4096}})",
     "[rope] rope_scaling.short_factor must be a list of one number per pair (2), got 1"},
    {R"({"model_type": "phi3", "head_dim": 4, "rope_theta": 10000, "rope_scaling": {"type": "longrope", "short_factor": [1, "2"], "long_factor": [1, 2], "original_max_position_embeddings": 4096}})",
     R"([rope] rope_scaling.short_factor[1] must be a number, got "2")"},
    {R"({"model_type": "phi3", "head_dim": 4, "rope_theta": 10000, "rope_scaling": {"type": "longrope", "short_factor": [1, 0], "long_factor": [1, 2], "original_max_position_embeddings": 4096}})",
     "[rope] rope_scaling.short_factor[1] must not be 0, got 0"},
    {R"({"model_type": "phi3", "head_dim": 4, "rope_theta": 10000, "rope_scaling": {"type": "longrope", "short_factor": 1, "long_factor": [1, 2], "original_max_position_embeddings": 4096}})",
     "[rope] rope_scaling.short_factor must be a list, got 1"},
    {R"({"text_config": {}})", "[rope] text_config must not be empty, got {}"},
    {R"({"text_config": 4})", "[rope] text_config must be an object, got 4"},
    {R"({"text_config": {"a": 1}, "llm_config": {"b": 1}})",
     R"([rope] llm_config must not stand beside text_config, got {"b":1})"},
    {R"({"model_type": "llama", "layer_types": ["full_attention", 3], "rope_theta": 10000})",
     "[rope] layer_types[1] must be a string, got 3"},
    {R"({"model_type": "llama", "layer_types": ["full_attention"], "rope_parameters": {"full_attention": null, "other": {"rope_theta": 10000}}})",
     "[rope] the file must have a layer that is rotated"},
    {R"({"model_type": "gemma3_text", "rope_parameters": {"rope_type": "default", "rope_theta": 10000}})",
     R"([rope] rope_parameters must be nested by layer type in this family, got {"rope_theta":10000,"rope_type":"default"})"},
    {R"({"model_type": "qwen2_vl", "rope_theta": 1e6, "head_dim": 128, "rope_scaling": {"type": "mrope", "mrope_section": [16, 24]}})",
     "[rope] rope_scaling.mrope_section must have 3 lengths, got [16,24]"},
    {R"({"model_type": "qwen2_vl", "rope_theta": 1e6, "head_dim": 128, "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 25]}})",
     "[rope] rope_scaling.mrope_section must add up to the number of pairs (64), got [16,24,25]"},
    {R"({"model_type": "qwen2_vl", "rope_theta": 1e6, "head_dim": 128, "rope_scaling": {"type": "mrope", "mrope_section": [16, -24, 24]}})",
     "[rope] rope_scaling.mrope_section[1] must be a whole number from 0 to 65536, got -24"},
    {R"({"model_type": "qwen3_vl_text", "rope_theta": 1e6, "head_dim": 128, "rope_scaling": {"mrope_interleaved": true}})",
     "[rope] rope_scaling.mrope_section is required with mrope_interleaved, got none"},
    {R"({"model_type": "falcon", "alibi": true})",
     "[rope] alibi must be false in a model that is rotated, got true"},
    {R"({"model_type": "bert", "position_embedding_type": "absolute"})",
     R"([rope] model_type must be of a model that rotates queries and keys, and this one does not rotate, got "bert")"},
    {R"({"model_type": "llama4_text", "num_hidden_layers": 2, "no_rope_layers": [1, 2], "rope_theta": 500000})",
     "[rope] no_rope_layers[1] must be 0 or 1, got 2"},
    {R"({"model_type": "llama", "rope_theta": 10000, "rope_scaling": {"type": "dynamic"}})",
     "[rope] rope_scaling.factor is required with this rope type, got none"},
    {R"({"model_type": "llama", "rope_theta": 10000, "rope_interleave": "yes"})",
     R"([rope] rope_interleave must be true or false, got "yes")"},
    {R"({"model_type": "llama", "head_dim": 2, "rope_theta": 10000, "rope_scaling": {"type": "dynamic", "factor": 2}})",
     "[rope] rope_scaling must make frequencies: rotary dims must be greater than 2 for NTK "
     "scaling, got 2"},
    {R"({"model_type": "phi3", "head_dim": 4, "rope_theta": 10000, "rope_scaling": {"type": "longrope", "short_factor": [1e-300, 1e300], "long_factor": [1, 2], "original_max_position_embeddings": 1, "factor": 2}})",
     "[rope] rope_scaling must make frequencies: original context must be greater than 1 with "
     "LongRoPE, whose magnitude divides by its "
     "logarithm, got 1"},
    {R"({"model_type": "llama", "rope_theta": 1e-320, "head_dim": 65536})",
     "[rope] the configuration must make frequencies: rate 31566 must be finite, got inf"},
    {R"({"model_type": "llama\u0000\ud800"})",
     "[rope] the text must be JSON, got invalid string: surrogate U+D800..U+DBFF must be followed "
     "by U+DC00..U+DFFF at line 1, column 34"},
    {R"({"model_type": "llama", "rope_theta": 10000, "rope_scaling": {"type": "yarn", "factor": 1e308, "original_max_position_embeddings": 512, "mscale": 1e308, "mscale_all_dim": 1e308}})",
     "[rope] rope_scaling must make frequencies: attention factor must be finite, got nan"},
    {R"({"model_type": "deepseek_v3", "rope_theta": 10000, "rope_scaling": {"type": "yarn", "factor": 40, "original_max_position_embeddings": 512, "mscale": 1, "mscale_all_dim": 1e300}})",
     "[rope] rope_scaling must make frequencies: the softmax multiplier must be finite, got nan"},
    {R"({"model_type": "phi3", "head_dim": 4, "rope_theta": 10000, "rope_scaling": {"type": "linear"}})",
     "[rope] rope_scaling.factor is required with this rope type, got none"},
    {R"({"model_type": "gemma4_text", "rope_scaling": {"type": "linear", "factor": 2}})",
     R"([rope] rope_scaling must be nested by layer type in this family, got {"factor":2,"type":"linear"})"},
    {R"({"model_type": "gpt_oss", "head_dim": 64, "rope_theta": 150000})",
     "[rope] rope_parameters is required with gpt_oss, got none"},
    {R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12})",
     R"([rope] model_type must be of a model that rotates queries and keys, and this one does not rotate, got "gpt2")"},
    {R"({"model_type": "esm", "position_embedding_type": "absolute"})",
     R"([rope] position_embedding_type must be rotary in a model that rotates, got "absolute")"},
    {R"({"model_type": "siglip_vision_model", "hidden_size": 768})",
     R"([rope] model_type must be of a model of text: this one is a tower for images or sound, which is not read, got "siglip_vision_model")"},
    {R"({"model_type": "encoder-decoder", "encoder": {"model_type": "bert"}, "decoder": {"model_type": "llama"}})",
     "[rope] the file must have a part about text (text_config): it is an encoder with a decoder, "
     "and neither is read"},
};

// Of models that are not known, which the strict reader refuses for that.
const Malformed refused_of_unknown[] = {
    {R"({"model_type": "mystery", "rope_theta": 10000})",
     "[rope] head_dim is required where hidden_size or num_attention_heads is missing, got none"},
    {R"({"model_type": "mystery", "rope_theta": 10000, "hidden_size": 4, "num_attention_heads": 8})",
     "[rope] hidden_size must be at least num_attention_heads (8), got 4"},
    {R"({"rope_scaling": {"type": "linear", "factor": 2.0}, "model_type": "mystery"})",
     "[rope] head_dim is required where hidden_size or num_attention_heads is missing, got none"},
    {R"({"model_type": "mystery", "head_dim": 64, "rope_theta": 10000, "rope_scaling": {"type": "yarn", "factor": null, "original_max_position_embeddings": 512}})",
     "[rope] max_position_embeddings is required where rope_scaling.factor is missing, got none"},
    {R"({"model_type": "mystery", "head_dim": 64, "rope_theta": 10000, "rope_scaling": {"type": "dynamic", "factor": 2}})",
     "[rope] max_position_embeddings is required with dynamic, got none"},
    {R"({"model_type": "mystery", "head_dim": 64, "rope_parameters": {"full_attention": {"rope_theta": 10000, "rope_type": "linear", "factor": "2"}}})",
     R"([rope] rope_parameters.full_attention.factor must be a number, got "2")"},
};

const Malformed refused_by_strict[] = {
    {R"({"model_type": "llama", "rope_theta": 1, "head_dim": 64.0})",
     "[rope] head_dim must be a whole number without a decimal point, got 64.0"},
    {R"({"model_type": "minimax_m2", "rope_theta": 1, "head_dim": 96, "rotary_dim": 32, "partial_rotary_factor": 0.5})",
     "[rope] rotary_dim must agree with the rotated share (48 dims), got 32"},
    {R"({"model_type": "llama", "rope_theta": 1, "rope_scaling": {"type": "linear", "rope_type": "dynamic", "factor": 2.0}})",
     R"([rope] rope_scaling.type must agree with rope_type (dynamic), got "linear")"},
    {R"({"model_type": "llama", "rope_theta": 1, "rope_scaling": {"type": "linear", "factor": 0.5}})",
     "[rope] rope_scaling.factor must be at least 1, got 0.5"},
    {R"({"model_type": "llama", "rope_theta": 1, "rope_scaling": {"type": "linear", "factor": 2, "beta_fast": 32}})",
     "[rope] rope_scaling.beta_fast is no key of rope type linear, got 32"},
    {R"({"model_type": "llama", "rope_theta": 1, "rope_scaling": {"factor": 2}})",
     "[rope] rope_scaling.factor is no key of rope type default, got 2"},
    {R"({"model_type": "llama", "max_position_embeddings": 8192, "rope_theta": 10000, "rope_scaling": {"type": "yarn", "original_max_position_embeddings": 2048}})",
     "[rope] rope_scaling.factor is required with this rope type, got none"},
    {R"({"model_type": "llama", "max_position_embeddings": 8192, "rope_theta": 10000, "rope_scaling": {"type": "yarn", "factor": 4}})",
     "[rope] rope_scaling.original_max_position_embeddings is required with this rope type, got "
     "none"},
    {R"({"model_type": "llama", "max_position_embeddings": 8192, "rope_theta": 10000, "rope_scaling": {"type": "yarn", "factor": 4, "original_max_position_embeddings": 2048, "beta_fast": 0}})",
     "[rope] rope_scaling.beta_fast must be greater than 0, got 0"},
    {R"({"model_type": "llama", "max_position_embeddings": 8192, "rope_theta": 10000, "rope_scaling": {"type": "yarn", "factor": 4, "original_max_position_embeddings": 2048, "beta_fast": 1, "beta_slow": 32}})",
     "[rope] rope_scaling.beta_fast must not be less than beta_slow (32), got 1"},
    {R"({"model_type": "llama", "max_position_embeddings": 8192, "rope_theta": 10000, "rope_scaling": {"type": "yarn", "factor": 4, "original_max_position_embeddings": 2048, "attention_factor": -1}})",
     "[rope] rope_scaling.attention_factor must be greater than 0, got -1"},
    {R"({"model_type": "llama", "max_position_embeddings": 8192, "rope_theta": 10000, "rope_scaling": {"type": "yarn", "factor": 4, "original_max_position_embeddings": 2048, "finetuned": true}})",
     "[rope] rope_scaling.finetuned is no key of rope type yarn, got true"},
    {R"({"model_type": "llama", "max_position_embeddings": 8192, "rope_theta": 10000, "original_max_position_embeddings": 4096, "rope_scaling": {"type": "yarn", "factor": 2, "original_max_position_embeddings": 2048}})",
     "[rope] rope_scaling.original_max_position_embeddings must equal the one outside (4096), got "
     "2048"},
    {R"({"model_type": "llama", "rope_theta": 10000, "rope_parameters": {"rope_type": "default", "rope_theta": 500000}})",
     "[rope] rope_theta must equal rope_parameters.rope_theta (500000), got 10000"},
    {R"({"model_type": "phi", "rope_theta": 10000, "partial_rotary_factor": 0.5, "rope_parameters": {"rope_type": "default", "rope_theta": 10000, "partial_rotary_factor": 0.25}})",
     "[rope] partial_rotary_factor must equal rope_parameters.partial_rotary_factor (0.25), got "
     "0.5"},
    {R"({"model_type": "llama", "rope_theta": 10000, "rope_scaling": {"type": "linear", "factor": 2}, "rope_parameters": {"rope_type": "linear", "factor": 4}})",
     R"([rope] rope_scaling must agree with rope_parameters, got {"factor":2,"type":"linear"})"},
    {R"({"model_type": "llava", "rope_scaling": {"type": "linear", "factor": 2}, "text_config": {"model_type": "llama", "rope_theta": 10000}})",
     R"([rope] rope_scaling must stand in text_config, which is what is read, got {"factor":2,"type":"linear"})"},
    {R"({"model_type": "llama", "layer_types": ["full_attention", "sliding_attention"], "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 10000}}})",
     R"([rope] layer_types[1] must name a part of rope_parameters, got "sliding_attention")"},
    {R"({"model_type": "llama", "num_hidden_layers": 3, "layer_types": ["full_attention"], "rope_theta": 10000})",
     "[rope] layer_types must have one entry per layer (3), got 1"},
    {R"({"model_type": "llama", "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 10000}, "rope_theta": 10000}})",
     "[rope] rope_parameters.rope_theta must be an object, as others beside it are, got 10000"},
    {R"({"model_type": "qwen3_vl_text", "rope_theta": 1e6, "head_dim": 128, "rope_scaling": {"mrope_section": [24, 20, 10], "mrope_interleaved": true}})",
     "[rope] rope_scaling.mrope_section must add up to the number of pairs (64), got [24,20,10]"},
    {R"({"model_type": "gemma4_text", "layer_types": ["full_attention", "sliding_attention"], "head_dim": 64})",
     "[rope] the last layer of layer_types must be full_attention, got sliding_attention"},
    {R"({"text_config": {"model_type": "llama", "rope_scaling": {"type": "linear", "factor": 0.5}}})",
     "[rope] text_config.rope_scaling.factor must be at least 1, got 0.5"},
    {R"({"model_type": "ministral3", "max_position_embeddings": 65536, "rope_parameters": {"type": "yarn", "rope_theta": 1000000, "factor": 4, "original_max_position_embeddings": 16384, "max_position_embeddings": 32768}})",
     "[rope] rope_parameters.max_position_embeddings must equal the one outside (65536), got "
     "32768"},
    {R"({"model_type": "mystery", "head_dim": 64, "rope_theta": 10000})",
     R"([rope] model_type must be one that is known, got "mystery")"},
    {R"({"model_type": "llama", "rope_theta": 10000, "partial_rotary_factor": 0.5})",
     "[rope] partial_rotary_factor must be 1 with llama, whose class rotates whole heads whatever "
     "it says, got 0.5"},
    {R"({"model_type": "llama", "rope_theta": 10000, "swa_rope_theta": 5000})",
     "[rope] swa_rope_theta is a key of the rotation that is not read, got 5000"},
    {R"({"model_type": "llama", "rope_theta": 10000, "swa_head_dim": 64})",
     "[rope] swa_head_dim is a key of the rotation that is not read, got 64"},
    {R"({"model_type": "llama", "rope_theta": 10000, "rotary_dim": 64})",
     "[rope] rotary_dim is no key that Hugging Face's llama reads, got 64"},
    {R"({"model_type": "gpt_neox", "rope_theta": 500000, "rotary_emb_base": 10000})",
     "[rope] rope_theta is no key that Hugging Face's gpt_neox reads, got 500000"},
    {R"({"model_type": "llama", "rope_theta": 10000, "layer_types": ["full_attention", "moonlight_attention"]})",
     R"([rope] layer_types[1] must be a layer type that is known of llama, got "moonlight_attention")"},
    {R"({"model_type": "gemma3_text", "rope_theta": 1e6, "rope_scaling": {"type": "linear", "factor": 8}})",
     R"([rope] rope_scaling.type must be called rope_type in this family, which does not read it, got "linear")"},
    {R"({"model_type": "olmo3", "rope_theta": 123456})",
     "[rope] rope_theta must be 500000 or stand in rope_parameters, because the sliding layers of "
     "olmo3 do not read it, got 123456"},
    {R"({"model_type": "deepseek_v3", "rope_theta": 10000, "head_dim": 128, "qk_rope_head_dim": 64, "partial_rotary_factor": 0.25})",
     "[rope] partial_rotary_factor must leave qk_rope_head_dim (64) of the head's 128 dims, got "
     "0.25"},
};

TEST(HuggingFaceErrors, SayWhichKeyAndValue) {
  for (const Malformed& malformed : refused_by_both) {
    EXPECT_EQ(message(malformed.text, Strictness::strict), malformed.message) << malformed.text;
    EXPECT_EQ(message(malformed.text, Strictness::lenient), malformed.message) << malformed.text;
  }
}

TEST(HuggingFaceErrors, OfTheStrictReaderAreWarningsOfTheLenientOne) {
  for (const Malformed& malformed : refused_by_strict) {
    const std::string rule = malformed.message.substr(std::string("[rope] ").size());
    const std::vector<std::string> warnings =
        parse_hugging_face(malformed.text, Strictness::lenient).warnings;
    const auto warning =
        std::find_if(warnings.begin(), warnings.end(),
                     [&](const std::string& said) { return said.rfind(rule + ": ", 0) == 0; });
    ASSERT_NE(warning, warnings.end()) << malformed.text;
    const std::string instead = warning->substr(rule.size() + 2);
    EXPECT_GT(instead.size(), std::string("none").size()) << malformed.text;
    EXPECT_EQ(message(malformed.text, Strictness::strict),
              malformed.message + " (read leniently, " + instead + ")");
  }
}

TEST(HuggingFaceErrors, OfUnknownModelsAreThoseOfTheLenientReader) {
  for (const Malformed& malformed : refused_of_unknown) {
    EXPECT_EQ(message(malformed.text, Strictness::lenient), malformed.message) << malformed.text;
    EXPECT_EQ(
        message(malformed.text, Strictness::strict),
        R"([rope] model_type must be one that is known, got "mystery" (read leniently, it is taken for a Llama of unknown pairing))");
  }
}

TEST(HuggingFaceErrors, TextThatIsNotUtf8) {
  EXPECT_EQ(message("{\"model_type\": \"\xff\"}", Strictness::strict),
            "[rope] the text must be JSON, got invalid string: ill-formed UTF-8 byte at line 1, "
            "column 17");
}

TEST(HuggingFaceErrors, NestingWithoutEndCostsNothing) {
  const std::string deep(1000000, '[');
  EXPECT_EQ(message(deep, Strictness::strict),
            "[rope] JSON must not be nested deeper than 64 levels");
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_EQ(message(objects, Strictness::strict),
            "[rope] JSON must not be nested deeper than 64 levels");
}

TEST(HuggingFaceErrors, LongValuesAreCut) {
  const std::string said =
      message("{\"model_type\": \"llama\", \"rope_theta\": \"" + std::string(1000, 'x') + "\"}",
              Strictness::strict);
  EXPECT_EQ(said, "[rope] rope_theta must be a number, got \"" + std::string(56, 'x') + "...");
}

// A folder of its own for each test, gone afterwards.
class HuggingFaceFiles : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    test::write_bytes(folder_ / name, text);
    return folder_ / name;
  }
  static std::string message_of(const std::filesystem::path& path) {
    return test::error_of([&] { (void)read_hugging_face(path); });
  }

  const test::TemporaryFolder folder_{};
};

TEST_F(HuggingFaceFiles, MessagesBeginWithTheFile) {
  const auto path = write("config.json", R"({"model_type": "llama", "rope_theta": -1})");
  EXPECT_EQ(message_of(path),
            "[rope] " + path.string() + ": rope_theta must be greater than 0, got -1");
  EXPECT_EQ(message_of(folder_.path()),
            "[rope] " + path.string() + ": rope_theta must be greater than 0, got -1");
}

TEST_F(HuggingFaceFiles, AFolderWithoutConfiguration) {
  EXPECT_EQ(message_of(folder_.path()),
            "[rope] " + (folder_ / "config.json").string() + ": there must be such a file");
  EXPECT_EQ(message_of(folder_ / "none.json"),
            "[rope] " + (folder_ / "none.json").string() + ": there must be such a file");
}

TEST_F(HuggingFaceFiles, WhatIsNoFile) {
  std::filesystem::create_directories(folder_ / "config.json");
  EXPECT_EQ(message_of(folder_.path()),
            "[rope] " + (folder_ / "config.json").string() + ": it must be a file");
}

TEST_F(HuggingFaceFiles, AnEmptyFile) {
  const auto path = write("config.json", "");
  EXPECT_EQ(message_of(path),
            "[rope] " + path.string() +
                ": the text must be JSON, got unexpected end of input at line 1, column 1");
}

TEST_F(HuggingFaceFiles, MoreThan64MiB) {
  const auto path = write("config.json", "{}");
  std::filesystem::resize_file(path, (std::uintmax_t{64} << 20) + 1);  // holes only
  EXPECT_EQ(message_of(path), "[rope] " + path.string() +
                                  ": a configuration must have at most 64 MiB, got 67108865 bytes");
}

}  // namespace
}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
