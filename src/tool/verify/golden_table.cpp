// SPDX-License-Identifier: Apache-2.0
//
// cases.tsv: the cases of a cases.json of ONNX or Ascend, one line per tensor, made into the same
// objects.
#include <fmt/core.h>

#include <charconv>
#include <fstream>
#include <map>
#include <system_error>

#include "tool/verify/golden_files.hpp"

namespace eigen_rope::tool {
namespace {

using NamedValues = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// Reads the fields of one line; every refusal names the line.
class Fields {
 public:
  Fields(NamedValues row, std::string where) : row_(std::move(row)), where_(std::move(where)) {}

  bool has(const char* name) const { return row_.count(name) != 0; }
  const std::string& text(const char* name) const {
    const auto found = row_.find(name);
    if (found == row_.end()) refuse(where_, fmt::format("column \"{}\" is missing", name));
    return found->second;
  }
  std::int64_t integer(const char* name) const {
    return parse<std::int64_t>(name, text(name), "an integer of 64 bits");
  }
  double number(const char* name) const { return parse<double>(name, text(name), "a number"); }
  Dims integers(const char* name, char separator) const {
    Dims result;
    for (const std::string& part : split(text(name), separator))
      result.push_back(parse<std::int64_t>(name, part, "integers of 64 bits"));
    return result;
  }
  const std::string& where() const { return where_; }

 private:
  template <class Number>
  Number parse(const char* name, const std::string& text, std::string_view kind) const {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      refuse(where_, fmt::format("\"{}\" must be {}, got \"{}\"", name, kind, text));
    }
    return value;
  }

  NamedValues row_;
  std::string where_;
};

Json tensor_of(const Fields& fields) {
  const Dims shape = fields.text("shape") == "scalar" ? Dims() : fields.integers("shape", 'x');
  return {{"name", fields.text("tensor")},      {"role", fields.text("role")},
          {"dtype", fields.text("dtype")},      {"shape", shape},
          {"offset", fields.integer("offset")}, {"bytes", fields.integer("bytes")}};
}

Json aclnn_case(const Fields& fields) {
  return {{"name", fields.text("case")},    {"op", "RotaryPositionEmbedding"},
          {"mode", fields.integer("mode")}, {"layout", fields.text("layout")},
          {"table", fields.text("table")},  {"tensors", Json::array()}};
}

// The table writes every attribute: a default stands for one that is not set, and `-` for one the
// operator does not have.
Json onnx_case(const Fields& fields) {
  const std::string& op = fields.text("op");
  const std::size_t dot = op.find('.');
  const std::string domain = op.substr(0, dot);
  if (dot == std::string::npos || (domain != "ai" && domain != "ms")) {
    refuse(fields.where(), fmt::format("\"op\" must begin with ai. or ms., got \"{}\"", op));
  }
  Json attributes = {{"interleaved", fields.integer("interleaved")}};
  for (const char* name : {"num_heads", "rotary_embedding_dim"}) {
    if (fields.integer(name) != 0) attributes[name] = fields.integer(name);
  }
  if (fields.number("scale") != 1) attributes["scale"] = fields.number("scale");
  if (fields.text("mrope_layout") != "-")
    attributes["mrope_layout"] = fields.integer("mrope_layout");
  if (fields.text("mrope_section") != "-")
    attributes["mrope_section"] = fields.integers("mrope_section", ',');
  return {{"name", fields.text("case")},
          {"domain", domain == "ai" ? "ai.onnx" : "com.microsoft"},
          {"op", op.substr(dot + 1)},
          {"opset", domain == "ai" ? 23 : 1},
          {"attributes", std::move(attributes)},
          {"tensors", Json::array()}};
}

bool next_line(std::istream& file, std::string& line) {
  if (!std::getline(file, line)) return false;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return true;
}

}  // namespace

GoldenIndex read_tsv_index(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || !next_line(file, line)) {
    refuse(path.string(), "must be a file with a line of column names");
  }
  const std::vector<std::string> columns =
      split(line.rfind("# ", 0) == 0 ? line.substr(2) : line, '\t');
  Json cases = Json::array();
  for (int number = 2; next_line(file, line); ++number) {
    if (line.empty()) continue;
    const std::string where = fmt::format("{}: line {}", path.string(), number);
    const std::vector<std::string> values = split(line, '\t');
    if (values.size() != columns.size())
      refuse(where, fmt::format("must have {} columns, got {}", columns.size(), values.size()));
    NamedValues row;
    for (std::size_t i = 0; i < columns.size(); ++i) row[columns[i]] = values[i];
    const Fields fields(std::move(row), where);
    if (cases.empty() || cases.back()["name"] != fields.text("case")) {
      cases.push_back(fields.has("op") ? onnx_case(fields) : aclnn_case(fields));
    }
    cases.back()["tensors"].push_back(tensor_of(fields));
  }
  return {path, std::move(cases)};
}

}  // namespace eigen_rope::tool
