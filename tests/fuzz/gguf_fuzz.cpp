// SPDX-License-Identifier: Apache-2.0
//
// GGUF files.
#include "eigen_rope/models/gguf.hpp"
#include "inspected.hpp"
#include "memory_file.hpp"
#include "promise.hpp"
#include "targets.hpp"

namespace eigen_rope::fuzz {

void fuzz_gguf(Bytes bytes) {
  static const MemoryFile file;
  const std::filesystem::path path = file.with(bytes);
  std::optional<models::ModelRope> strict, lenient;
  attempt([&] { strict = models::read_gguf(path, models::Strictness::strict); });
  attempt([&] { lenient = models::read_gguf(path, models::Strictness::lenient); });
  require(!strict || lenient, "lenient reading takes what strict reading takes");
  if (!lenient) return;
  require_consistent(*lenient);
  inspect_and_print(*lenient);
}

}  // namespace eigen_rope::fuzz
