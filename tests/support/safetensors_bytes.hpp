// SPDX-License-Identifier: Apache-2.0
//
// A safetensors file by the format's definition: the length of the header in 8 bytes, the lowest
// first, the header, the data.
#pragma once

#include <string>

namespace eigen_rope::test {

inline std::string safetensors_bytes(const std::string& header, const std::string& data) {
  std::string file(8, '\0');
  for (std::size_t i = 0; i < 8; ++i)
    file[i] = static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return file + header + data;
}

}  // namespace eigen_rope::test
