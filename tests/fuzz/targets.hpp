// SPDX-License-Identifier: Apache-2.0
//
// What is fuzzed: one function for each reader, and for each system's operators.
//
//   fuzz_NAME(bytes)   bytes stand for a file, a text or a call; returns if what the library
//                      promises of them was kept
//
// The promise: an answer that is consistent in itself, or one sentence (promise.hpp); nothing else
// thrown, no memory touched that was not given, no time or memory beyond what the bytes justify.
// Run by libFuzzer (entry.cpp, scripts/fuzz.sh) and, on the kept corpus, by corpus_test.cpp. Not a
// test of numbers: that the answer is right is tested elsewhere.
#pragma once

#include <string_view>

namespace eigen_rope::fuzz {

using Bytes = std::string_view;

void fuzz_checkpoint(Bytes bytes);
void fuzz_config_json(Bytes bytes);
void fuzz_gguf(Bytes bytes);
void fuzz_safetensors(Bytes bytes);
void fuzz_golden_folder(Bytes bytes);
void fuzz_scaling_text(Bytes bytes);
void fuzz_ggml(Bytes bytes);
void fuzz_onnx(Bytes bytes);
void fuzz_aclnn(Bytes bytes);
void fuzz_any(Bytes bytes);
void fuzz_tokens(Bytes bytes);
void fuzz_c(Bytes bytes);

}  // namespace eigen_rope::fuzz
