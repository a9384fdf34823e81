// SPDX-License-Identifier: Apache-2.0
#include "models/json_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "eigen_rope/numbers/error.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {
namespace {

constexpr int max_depth = 64;
constexpr std::size_t max_shown = 60;

// The open containers; keys of objects, nothing of arrays.
class Nesting {
 public:
  void open() {
    if (open_.size() == max_depth)
      detail::fail(fmt::format("JSON must not be nested deeper than {} levels", max_depth));
    open_.emplace_back();
  }
  void close() { open_.pop_back(); }
  void key(const std::string& name) {
    if (!open_.back().keys.insert(name).second)
      detail::fail("a key must stand only once in its object", shown(path(name)));
    open_.back().last = name;
  }

 private:
  struct Container {
    std::set<std::string> keys;
    std::string last;
  };

  std::string path(const std::string& name) const {
    std::string result;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      if (!open_[i].last.empty()) result += open_[i].last + '.';
    }
    return result + name;
  }

  std::vector<Container> open_;
};

// "[json.exception...] parse error at ...: syntax error while parsing value - REASON; last read:
// ..."
std::string reason(std::string_view message) {
  const std::size_t dash = message.find(" - ");
  if (dash == std::string_view::npos) return "a syntax error";
  message.remove_prefix(dash + 3);
  return std::string(message.substr(0, message.find(';')));
}

[[noreturn]] void refuse(std::string_view text, const Json::parse_error& error) {
  const std::size_t end = std::min(error.byte == 0 ? 0 : error.byte - 1, text.size());
  const std::string_view before = text.substr(0, end);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  detail::fail(
      "the text must be JSON",
      fmt::format("{} at line {}, column {}", reason(error.what()), line, end - line_start + 1));
}

}  // namespace

Json parse_json(std::string_view text) {
  Nesting nesting;
  const auto watch = [&nesting](int, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) nesting.open();
    if (event == Event::object_end || event == Event::array_end) nesting.close();
    if (event == Event::key) nesting.key(value.get_ref<const std::string&>());
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), watch);
  } catch (const Json::parse_error& error) {
    refuse(text, error);
  } catch (const Json::out_of_range& error) {
    const std::string_view message = error.what();
    const std::size_t quote = message.find('\'');
    const std::string number =
        quote == std::string_view::npos ? "more" : std::string(message.substr(quote + 1));
    detail::fail("numbers must fit a double",
                 number.substr(0, std::min(number.find('\''), max_shown)));
  }
}

std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() <= max_shown) return text;
  std::size_t end = max_shown - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

}  // namespace eigen_rope::EIGEN_ROPE_ABI::models
