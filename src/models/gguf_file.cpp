// SPDX-License-Identifier: Apache-2.0
#include "models/gguf_file.hpp"

#include <fmt/core.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <system_error>

#include "eigen_rope/numbers/error.hpp"
#include "numbers/joined.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

constexpr std::uint64_t kLongestKey = 65535;
constexpr std::uint64_t kLongestTensorName = 64;
constexpr std::uint64_t kLongestText = 256;
constexpr std::uint64_t kMostElements = 65536;
/// Vocabularies of published models take some 30 MB.
constexpr std::uint64_t kLongestHeader = std::uint64_t{1} << 28;
constexpr int kDeepestArray = 4;
constexpr std::uint64_t kLargestInteger = std::uint64_t{1} << 53;
/// Length, one byte, type and one byte; length, one byte, count and one extent, type and offset.
constexpr std::uint64_t kLeastKey = 14;
constexpr std::uint64_t kLeastTensor = 33;

struct TensorType {
  std::uint64_t block;
  std::uint64_t bytes;
};

/// Elements and bytes of a block, by ggml's number of the type; zeros where a number is not in use.
/// Source: ggml 0.21.0.
constexpr std::array<TensorType, 43>
    kTensorTypes{
        {
            {1, 4},     {1, 2},     {32, 18},   {32, 20},   {0, 0},
            {0, 0},     {32, 22},   {32, 24},   {32, 34},  // f32, f16, q4_0 ... q8_0
            {32, 36},   {256, 84},  {256, 110}, {256, 144}, {256, 176},
            {256, 210}, {256, 292}, {256, 66},  {256, 74},  // q8_1, q2_k ... iq2_xs
            {256, 98},  {256, 50},  {32, 18},   {256, 110}, {256, 82},
            {256, 136}, {1, 1},     {1, 2},     {1, 4},  // iq3_xxs ... i32
            {1, 8},     {1, 8},     {256, 56},  {1, 2},     {0, 0},
            {0, 0},     {0, 0},     {256, 54},  {256, 66},  // i64 ... tq2_0
            {0, 0},     {0, 0},     {0, 0},     {32, 17},   {64, 36},
            {128, 18},  {64, 18},  // mxfp4, nvfp4, q1_0, q2_0
        }};
constexpr std::uint32_t kFloat32Tensor = 0;
constexpr std::uint32_t kFloat16Tensor = 1;

/// 0 for texts and arrays.
std::uint64_t bytes_of(GgufType type) {
  switch (type) {
    case GgufType::uint8:
    case GgufType::int8:
    case GgufType::boolean: return 1;
    case GgufType::uint16:
    case GgufType::int16: return 2;
    case GgufType::uint32:
    case GgufType::int32:
    case GgufType::float32: return 4;
    case GgufType::uint64:
    case GgufType::int64:
    case GgufType::float64: return 8;
    case GgufType::string:
    case GgufType::array: break;
  }
  return 0;
}

/// The position of the first byte that is no UTF-8 or a control character; npos for none.
std::size_t first_bad_byte(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x20 || lead == 0x7F) return i;
    const std::size_t more = lead < 0x80                   ? 0
                             : lead >= 0xC2 && lead < 0xE0 ? 1
                             : lead >= 0xE0 && lead < 0xF0 ? 2
                                                           : 3;
    if (lead >= 0x80 && (lead < 0xC2 || lead > 0xF4)) return i;
    if (text.size() - i <= more) return i;
    for (std::size_t k = 1; k <= more; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0U) != 0x80) return i;
    }
    const auto second = more > 0 ? static_cast<unsigned char>(text[i + 1]) : 0U;
    const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
    const bool surrogate = lead == 0xED && second >= 0xA0;
    if (overlong || surrogate || (lead == 0xF4 && second >= 0x90)) return i;
    i += more + 1;
  }
  return std::string_view::npos;
}

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char c : bytes)
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", static_cast<unsigned char>(c));
  return text;
}

bool is_signed(GgufType type) {
  return type == GgufType::int8 || type == GgufType::int16 || type == GgufType::int32 ||
         type == GgufType::int64;
}

bool is_integer(GgufType type) {
  return is_signed(type) || type == GgufType::uint8 || type == GgufType::uint16 ||
         type == GgufType::uint32 || type == GgufType::uint64;
}

/// The bits of a signed integer of `bytes` bytes as a 64-bit one.
std::int64_t sign_extended(std::uint64_t bits, std::uint64_t bytes) {
  const auto unused = static_cast<int>(64 - 8 * bytes);
  const std::uint64_t shifted = bits << unused;
  std::int64_t value = 0;
  std::memcpy(&value, &shifted, sizeof value);
  return value >> unused;
}

double float32_of(std::uint64_t bits) {
  const auto low = static_cast<std::uint32_t>(bits);
  float value = 0;
  std::memcpy(&value, &low, sizeof value);
  return static_cast<double>(value);
}

double float64_of(std::uint64_t bits) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

double float16_of(std::uint64_t bits) {
  return static_cast<double>(
      static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(static_cast<std::uint16_t>(bits))));
}

double number_of(GgufType type, std::uint64_t bits) {
  if (type == GgufType::float32) return float32_of(bits);
  if (type == GgufType::float64) return float64_of(bits);
  if (is_signed(type)) return static_cast<double>(sign_extended(bits, bytes_of(type)));
  return static_cast<double>(bits);
}

std::string value_text(GgufType type, std::uint64_t bits) {
  if (type == GgufType::boolean) return bits != 0 ? "true" : "false";
  if (is_signed(type)) return fmt::format("{}", sign_extended(bits, bytes_of(type)));
  if (is_integer(type)) return fmt::format("{}", bits);
  const double value = number_of(type, bits);
  return fmt::format("{}", std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value);
}

}  // namespace

const char* gguf_type_name(GgufType type) {
  switch (type) {
    case GgufType::uint8: return "uint8";
    case GgufType::int8: return "int8";
    case GgufType::uint16: return "uint16";
    case GgufType::int16: return "int16";
    case GgufType::uint32: return "uint32";
    case GgufType::int32: return "int32";
    case GgufType::float32: return "float32";
    case GgufType::boolean: return "bool";
    case GgufType::string: return "string";
    case GgufType::array: return "array";
    case GgufType::uint64: return "uint64";
    case GgufType::int64: return "int64";
    case GgufType::float64: break;
  }
  return "float64";
}

void GgufFile::refuse(std::string_view rule, std::string_view got) const {
  detail::fail(fmt::format("{}: {}", name_, rule), got);
}

void GgufFile::refuse(std::string_view rule) const {
  detail::fail(fmt::format("{}: {}", name_, rule));
}

void GgufFile::refuse_key(std::string_view key, std::string_view rule, std::string_view got) const {
  refuse(fmt::format("metadata key \"{}\" must {}", key, rule), got);
}

GgufFile::GgufFile(const std::filesystem::path& path) : name_(path.filename().string()) {
  if (name_.empty()) name_ = path.string();
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) refuse("there is no such file");
  if (!std::filesystem::is_regular_file(status)) refuse("must be a file");
  size_ = std::filesystem::file_size(path, error);
  if (!error) stream_.open(path, std::ios::binary);
  if (error || !stream_) refuse("cannot be opened");

  read_version();
  if (left() < 16) refuse("the header must have 24 bytes", fmt::format("{}", size_));
  const std::uint64_t tensor_count = read_unsigned(8);
  const std::uint64_t key_count = read_unsigned(8);
  if (key_count > left() / kLeastKey) {
    refuse(fmt::format("{} metadata keys need {} bytes each, and {} are left", key_count, kLeastKey,
                       left()));
  }
  if (tensor_count > left() / kLeastTensor) {
    refuse(fmt::format("{} tensors need {} bytes each, and {} are left", tensor_count, kLeastTensor,
                       left()));
  }
  read_values(key_count);
  read_alignment();
  read_tensors(tensor_count);
}

void GgufFile::seek(std::uint64_t place) {
  stream_.clear();
  stream_.seekg(static_cast<std::streamoff>(place));
  position_ = place;
}

void GgufFile::read_bytes(char* bytes, std::uint64_t count) {
  if (count > left())
    refuse(fmt::format("must go on after byte {}", position_), fmt::format("{} bytes", size_));
  stream_.read(bytes, static_cast<std::streamsize>(count));
  if (!stream_) refuse(fmt::format("cannot be read at byte {}", position_));
  position_ += count;
}

void GgufFile::require_short_header(std::uint64_t end) const {
  if (end > kLongestHeader)
    refuse(fmt::format("the header must have at most {} bytes", kLongestHeader),
           fmt::format("{}", end));
}

void GgufFile::skip(std::uint64_t count) {
  if (count > left())
    refuse(fmt::format("must go on after byte {}", position_), fmt::format("{} bytes", size_));
  require_short_header(position_ + count);
  // A seek throws the stream's buffer away: not for every short text of a vocabulary.
  if (count < 4096) {
    stream_.ignore(static_cast<std::streamsize>(count));
    position_ += count;
  } else {
    seek(position_ + count);
  }
}

std::uint64_t GgufFile::read_unsigned(int bytes) {
  std::array<char, 8> buffer{};
  read_bytes(buffer.data(), static_cast<std::uint64_t>(bytes));
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    const int from_low_end = order_ == ByteOrder::little ? i : bytes - 1 - i;
    value |=
        static_cast<std::uint64_t>(static_cast<unsigned char>(buffer[static_cast<std::size_t>(i)]))
        << (8 * from_low_end);
  }
  return value;
}

std::string GgufFile::read_name(std::string_view what, std::uint64_t longest) {
  const std::uint64_t length = read_unsigned(8);
  if (length == 0 || length > longest) {
    refuse(fmt::format("the name of {} must have 1 to {} bytes", what, longest),
           fmt::format("{}", length));
  }
  if (length > left())
    refuse(fmt::format("the name of {} must end within the file", what),
           fmt::format("{} bytes", length));
  std::string text(static_cast<std::size_t>(length), '\0');
  read_bytes(text.data(), length);
  const std::size_t bad = first_bad_byte(text);
  if (bad != std::string::npos) {
    refuse(fmt::format("the name of {} must be UTF-8 without control characters", what),
           fmt::format("byte {} at {}", hexadecimal(std::string_view(text).substr(bad, 1)), bad));
  }
  return text;
}

GgufType GgufFile::read_type(std::string_view key) {
  const std::uint64_t number = read_unsigned(4);
  if (number > 12) refuse_key(key, "have a type from 0 to 12", fmt::format("{}", number));
  return static_cast<GgufType>(number);
}

void GgufFile::read_version() {
  std::array<char, 4> magic{};
  if (size_ < 8) refuse("must begin with GGUF and a version", fmt::format("{} bytes", size_));
  read_bytes(magic.data(), magic.size());
  if (std::string_view(magic.data(), magic.size()) != "GGUF") {
    refuse("must begin with the bytes 47 47 55 46 (GGUF)",
           hexadecimal({magic.data(), magic.size()}));
  }
  // Nothing but the version tells the byte order.
  auto version = static_cast<std::uint32_t>(read_unsigned(4));
  if ((version & 0xFFFFU) == 0) {
    order_ = ByteOrder::big;
    version = (version >> 24U) | ((version >> 8U) & 0xFF00U);
  }
  if (version != 2 && version != 3)
    refuse("the version of the format must be 2 or 3", fmt::format("{}", version));
  version_ = version;
}

void GgufFile::read_values(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    require_short_header(position_);
    const std::string key = read_name(fmt::format("metadata key {}", i), kLongestKey);
    if (find(key) != nullptr)
      refuse(fmt::format("metadata key \"{}\" must be there once", key), "it twice");
    GgufValue value;
    value.type = read_type(key);
    if (value.type == GgufType::string) {
      value.count = read_unsigned(8);
      value.place = position_;
      if (value.count > left())
        refuse_key(key, "end within the file", fmt::format("a length of {}", value.count));
      skip(value.count);
    } else if (value.type == GgufType::array) {
      value.element = read_type(key);
      value.count = read_unsigned(8);
      value.place = position_;
      skip_array(key, value.element, value.count, 1);
    } else {
      value.bits = read_unsigned(static_cast<int>(bytes_of(value.type)));
      if (value.type == GgufType::boolean && value.bits > 1)
        refuse_key(key, "be 0 or 1", fmt::format("{}", value.bits));
    }
    values_.emplace(key, value);
  }
}

void GgufFile::skip_array(std::string_view key, GgufType element, std::uint64_t count, int depth) {
  const std::uint64_t bytes = bytes_of(element);
  const std::uint64_t least = element == GgufType::array    ? 12
                              : element == GgufType::string ? 8
                                                            : bytes;
  if (count > left() / least)
    refuse_key(key, "end within the file", fmt::format("{} elements", count));
  if (bytes > 0) {
    skip(count * bytes);
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    if (element == GgufType::string) {
      const std::uint64_t length = read_unsigned(8);
      if (length > left())
        refuse_key(key, "end within the file", fmt::format("a length of {}", length));
      skip(length);
    } else {
      if (depth == kDeepestArray)
        refuse_key(key, fmt::format("be nested at most {} deep", kDeepestArray), "a deeper array");
      const GgufType inner = read_type(key);
      skip_array(key, inner, read_unsigned(8), depth + 1);
    }
  }
}

void GgufFile::read_alignment() {
  constexpr std::string_view key = "general.alignment";
  const std::optional<Index> given = integer(key);
  if (!given) return;
  alignment_ = static_cast<std::uint64_t>(*given);
  if (alignment_ == 0 || (alignment_ & (alignment_ - 1)) != 0)
    refuse_key(key, "be a power of two", fmt::format("{}", alignment_));
}

void GgufFile::read_tensors(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    require_short_header(position_);
    const std::string tensor_name = read_name(fmt::format("tensor {}", i), kLongestTensorName);
    if (tensors_.find(tensor_name) != tensors_.end())
      refuse(fmt::format("tensor \"{}\" must be there once", tensor_name), "it twice");
    tensors_.emplace(tensor_name, read_tensor(tensor_name));
  }
  const std::uint64_t data = (position_ + alignment_ - 1) / alignment_ * alignment_;
  for (auto& [tensor_name, tensor] : tensors_) {
    const std::uint64_t bytes = data_bytes(tensor_name, tensor);
    const bool fits =
        data <= size_ && tensor.place <= size_ - data && bytes <= size_ - data - tensor.place;
    if (!fits) {
      refuse(fmt::format("tensor \"{}\" must end within the file's {} bytes", tensor_name, size_),
             fmt::format("{} bytes from {} after byte {}", bytes, tensor.place, data));
    }
    tensor.place += data;
  }
}

GgufTensor GgufFile::read_tensor(const std::string& tensor_name) {
  const std::uint64_t extents = read_unsigned(4);
  if (extents < 1 || extents > 4) {
    refuse(fmt::format("tensor \"{}\" must have 1 to 4 extents", tensor_name),
           fmt::format("{}", extents));
  }
  GgufTensor tensor;
  for (std::uint64_t i = 0; i < extents; ++i) {
    const std::uint64_t extent = read_unsigned(8);
    if (extent == 0)
      refuse(fmt::format("the extents of tensor \"{}\" must be greater than 0", tensor_name), "0");
    tensor.extents.push_back(extent);
  }
  tensor.type = static_cast<std::uint32_t>(read_unsigned(4));
  tensor.place = read_unsigned(8);
  if (tensor.place % alignment_ != 0) {
    refuse(fmt::format("the offset of tensor \"{}\" must be a multiple of {}", tensor_name,
                       alignment_),
           fmt::format("{}", tensor.place));
  }
  return tensor;
}

std::uint64_t GgufFile::data_bytes(const std::string& tensor_name, const GgufTensor& tensor) const {
  constexpr std::uint64_t most = std::uint64_t{1} << 48;
  std::uint64_t elements = 1;
  for (const std::uint64_t extent : tensor.extents) {
    if (extent > most / elements) {
      refuse(fmt::format("tensor \"{}\" must have at most 2^48 elements", tensor_name),
             fmt::format("an extent of {}", extent));
    }
    elements *= extent;
  }
  // Types are added to ggml several times a year: one that is unknown is no reason to refuse the
  // whole file.
  const bool known = tensor.type < kTensorTypes.size() && kTensorTypes[tensor.type].block != 0;
  if (!known) return 0;
  const TensorType& type = kTensorTypes[tensor.type];
  if (tensor.extents.front() % type.block != 0) {
    refuse(fmt::format("the first extent of tensor \"{}\" must be a multiple of its type's {}",
                       tensor_name, type.block),
           fmt::format("{}", tensor.extents.front()));
  }
  return elements / type.block * type.bytes;
}

const GgufValue* GgufFile::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

std::optional<std::string> GgufFile::text(std::string_view key) {
  const GgufValue* value = find(key);
  if (value == nullptr) return {};
  if (value->type != GgufType::string) refuse_key(key, "be a string", gguf_type_name(value->type));
  if (value->count > kLongestText) {
    refuse_key(key, fmt::format("have at most {} bytes", kLongestText),
               fmt::format("{}", value->count));
  }
  std::string result(static_cast<std::size_t>(value->count), '\0');
  seek(value->place);
  read_bytes(result.data(), value->count);
  const std::size_t bad = first_bad_byte(result);
  if (bad != std::string::npos) {
    refuse_key(
        key, "be UTF-8 without control characters",
        fmt::format("byte {} at {}", hexadecimal(std::string_view(result).substr(bad, 1)), bad));
  }
  return result;
}

std::optional<double> GgufFile::number(std::string_view key) {
  const GgufValue* value = find(key);
  if (value == nullptr) return {};
  const bool floating = value->type == GgufType::float32 || value->type == GgufType::float64;
  if (!floating && !is_integer(value->type))
    refuse_key(key, "be a number", gguf_type_name(value->type));
  const double result = number_of(value->type, value->bits);
  if (!std::isfinite(result)) refuse_key(key, "be finite", value_text(value->type, value->bits));
  return result;
}

std::optional<Index> GgufFile::integer(std::string_view key) {
  const GgufValue* value = find(key);
  if (value == nullptr) return {};
  if (!is_integer(value->type)) refuse_key(key, "be an integer", gguf_type_name(value->type));
  const bool negative =
      is_signed(value->type) && sign_extended(value->bits, bytes_of(value->type)) < 0;
  if (negative || value->bits > kLargestInteger)
    refuse_key(key, "be an integer from 0 to 2^53", value_text(value->type, value->bits));
  return static_cast<Index>(value->bits);
}

std::optional<bool> GgufFile::flag(std::string_view key) {
  const GgufValue* value = find(key);
  if (value == nullptr) return {};
  if (value->type != GgufType::boolean) refuse_key(key, "be a bool", gguf_type_name(value->type));
  return value->bits != 0;
}

std::optional<std::vector<Index>> GgufFile::integers(std::string_view key) {
  const GgufValue* value = find(key);
  if (value == nullptr) return {};
  if (value->type != GgufType::array)
    refuse_key(key, "be an array of integers", gguf_type_name(value->type));
  if (!is_integer(value->element) && value->element != GgufType::boolean) {
    refuse_key(key, "be an array of integers",
               fmt::format("an array of {}", gguf_type_name(value->element)));
  }
  if (value->count > kMostElements) {
    refuse_key(key, fmt::format("have at most {} elements", kMostElements),
               fmt::format("{}", value->count));
  }
  const std::uint64_t bytes = bytes_of(value->element);
  std::vector<Index> result;
  result.reserve(static_cast<std::size_t>(value->count));
  seek(value->place);
  for (std::uint64_t i = 0; i < value->count; ++i) {
    const std::uint64_t bits = read_unsigned(static_cast<int>(bytes));
    const bool negative = is_signed(value->element) && sign_extended(bits, bytes) < 0;
    if (negative || bits > kLargestInteger)
      refuse_key(key, "have integers from 0 to 2^53", value_text(value->element, bits));
    result.push_back(static_cast<Index>(bits));
  }
  return result;
}

bool GgufFile::has_tensor(std::string_view tensor_name) const {
  return tensors_.find(tensor_name) != tensors_.end() ||
         std::any_of(parts_.begin(), parts_.end(),
                     [&](const GgufFile& part) { return part.has_tensor(tensor_name); });
}

std::optional<std::vector<double>> GgufFile::tensor_values(std::string_view tensor_name) {
  const auto found = tensors_.find(tensor_name);
  if (found == tensors_.end()) {
    for (GgufFile& part : parts_) {
      if (part.has_tensor(tensor_name)) return part.tensor_values(tensor_name);
    }
    return {};
  }
  const GgufTensor& tensor = found->second;
  if (tensor.type != kFloat32Tensor && tensor.type != kFloat16Tensor) {
    refuse(fmt::format("tensor \"{}\" must be of type 0 (f32) or 1 (f16)", tensor_name),
           fmt::format("{}", tensor.type));
  }
  for (std::size_t i = 1; i < tensor.extents.size(); ++i) {
    if (tensor.extents[i] != 1) {
      refuse(fmt::format("tensor \"{}\" must have one extent", tensor_name),
             detail::joined(tensor.extents, " x "));
    }
  }
  const std::uint64_t count = tensor.extents.front();
  if (count > kMostElements) {
    refuse(fmt::format("tensor \"{}\" must have at most {} elements", tensor_name, kMostElements),
           fmt::format("{}", count));
  }
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(count));
  seek(tensor.place);
  for (std::uint64_t i = 0; i < count; ++i) {
    values.push_back(tensor.type == kFloat32Tensor ? float32_of(read_unsigned(4))
                                                   : float16_of(read_unsigned(2)));
  }
  return values;
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
