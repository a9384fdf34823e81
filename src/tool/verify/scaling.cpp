// SPDX-License-Identifier: Apache-2.0
#include "tool/verify/scaling.hpp"

#include <fmt/core.h>

#include <charconv>
#include <initializer_list>
#include <optional>
#include <utility>

namespace eigen_rope::tool {
namespace {

constexpr double allowed_units = 4;
constexpr std::int64_t most_dims = std::int64_t{1} << 20;

// Names of one parameter, the recording's own first.
using Names = std::initializer_list<const char*>;

constexpr Names dim{"dim", "rotary_dim"};
constexpr Names head_dim{"head_dim"};
constexpr Names partial{"partial", "partial_rotary_factor"};
constexpr Names theta{"base", "rope_theta"};
constexpr Names original{"original", "orig", "original_max_position_embeddings"};
constexpr Names max_pos{"max_pos", "max_position_embeddings"};
constexpr Names low_freq{"low", "low_freq_factor"};
constexpr Names high_freq{"high", "high_freq_factor"};

class Parameters {
 public:
  explicit Parameters(const Entry& entry) : entry_(entry) {}

  const char* find(Names names) const {
    for (const char* name : names) {
      if (entry_.has(name)) return name;
    }
    return nullptr;
  }
  bool has(Names names) const { return find(names) != nullptr; }
  double number(Names names) const { return entry_.number(name_of(names)); }
  double number(Names names, double otherwise) const {
    return has(names) ? number(names) : otherwise;
  }
  std::int64_t integer(Names names) const { return entry_.integer(name_of(names)); }
  std::int64_t integer(Names names, std::int64_t otherwise) const {
    return has(names) ? integer(names) : otherwise;
  }
  // Rates are made before they are compared with those stored: a number alone must not ask for any
  // amount of memory.
  std::int64_t dims(Names names) const {
    const std::int64_t value = integer(names);
    if (value > most_dims)
      entry_.refuse(
          fmt::format("\"{}\" must be at most {}, got {}", name_of(names), most_dims, value));
    return value;
  }
  bool flag(Names names, bool otherwise) const {
    const char* name = find(names);
    if (name == nullptr) return otherwise;
    if (!entry_.json()[name].is_boolean())
      entry_.refuse(fmt::format("\"{}\" must be true or false", name));
    return entry_.json()[name].get<bool>();
  }
  std::vector<double> numbers(const char* name) const {
    std::vector<double> result;
    for (const Json& element : entry_.list(name)) {
      if (!element.is_number())
        entry_.refuse(fmt::format("\"{}\" must be a list of numbers", name));
      result.push_back(element.get<double>());
    }
    return result;
  }

 private:
  const char* name_of(Names names) const {
    const char* name = find(names);
    return name == nullptr ? *names.begin() : name;  // the entry then says that it is missing
  }

  const Entry& entry_;
};

// The head's size; `dim` may stand for it.
std::int64_t head_dims(const Parameters& params) {
  return params.dims(params.has(head_dim) ? head_dim : dim);
}

Powers<> read_powers(const Parameters& params) {
  Powers<> powers;
  if (params.has(partial) && !(params.has(dim) && params.has(head_dim))) {
    powers.rotary_dims = partial_rotary_dims(head_dims(params), params.number(partial));
  } else {
    powers.rotary_dims = params.has(dim) ? params.dims(dim) : head_dims(params);
  }
  powers.base = params.number(theta);
  return powers;
}

// The context a missing factor is the ratio to.
double factor_or_ratio(const Parameters& params, std::int64_t context) {
  if (params.has({"factor"}) || !params.has(max_pos)) return params.number({"factor"});
  return params.number(max_pos) / static_cast<double>(context);
}

Frequencies read_proportional(const Parameters& params) {
  Powers<> powers;
  powers.rotary_dims = head_dims(params);
  powers.base = params.number(theta);
  const eigen_rope::Index pairs =
      proportional_pairs(powers.rotary_dims, params.number(partial, 1.0));
  return Frequencies(powers, Proportional<>{params.number({"factor"}, 1.0), pairs});
}

Frequencies read_dynamic(const Parameters& params) {
  const std::int64_t context = params.integer(max_pos);
  return Frequencies(read_powers(params), DynamicNtkScaling<>{params.number({"factor"}), context},
                     params.integer({"seq_len"}, context));
}

Frequencies read_ntk(const Parameters& params) {
  return Frequencies(read_powers(params),
                     NtkScaling<>{params.number({"factor"}), params.number({"mixed_b"}, 1.0)});
}

Frequencies read_yarn(const Parameters& params, YarnMagnitude magnitude) {
  Powers<> powers = read_powers(params);
  Yarn<> yarn;
  yarn.original_context = params.integer(original);
  yarn.factor = factor_or_ratio(params, yarn.original_context);
  yarn.beta_fast = params.number({"beta_fast"}, yarn.beta_fast);
  yarn.beta_slow = params.number({"beta_slow"}, yarn.beta_slow);
  yarn.ends = params.flag({"truncate"}, true) ? RampEnds::rounded : RampEnds::exact;
  yarn.magnitude = magnitude;
  if (params.has({"mscale"})) yarn.mscale = params.number({"mscale"});
  yarn.mscale_all_dim = params.number({"mscale_all_dim"}, 0.0);
  yarn.extrapolation = params.number({"extrapolation_factor"}, 1.0);
  if (params.has({"attention_factor"})) {
    yarn.magnitude = YarnMagnitude::given;
    powers.attention_factor = params.number({"attention_factor"});
  } else {
    powers.attention_factor = params.number({"attn_factor"}, 1.0);
  }
  return Frequencies(powers, yarn);
}

Frequencies read_llama3(const Parameters& params) {
  return Frequencies(read_powers(params),
                     Llama3<>{params.number({"factor"}), params.number(low_freq),
                              params.number(high_freq), params.integer(original)});
}

Frequencies read_longrope(const Parameters& params) {
  Powers<> powers = read_powers(params);
  LongRope<> longrope;
  longrope.short_factor = params.numbers("short_factor");
  longrope.long_factor = params.numbers("long_factor");
  longrope.original_context = params.integer(original);
  if (params.has({"attention_factor"})) {
    longrope.magnitude = LongRopeMagnitude::given;
    powers.attention_factor = params.number({"attention_factor"});
  } else {
    longrope.factor = factor_or_ratio(params, longrope.original_context);
  }
  return Frequencies(powers, longrope, params.integer({"seq_len"}, 0));
}

// Two axes, each with the powers of half the head.
Frequencies read_axial(const Entry& set, const Parameters& params) {
  Powers<> powers;
  powers.rotary_dims = head_dims(params);
  if (powers.rotary_dims <= 0 || powers.rotary_dims % 4 != 0) {
    set.refuse(fmt::format("the head dims of axial must be a positive multiple of 4, got {}",
                           powers.rotary_dims));
  }
  powers.base = params.number(theta);
  powers.exponent_dims = powers.rotary_dims / 2;
  for (eigen_rope::Index k = 0; k < powers.rotary_dims / 2; ++k)
    powers.exponents.push_back(k % (powers.rotary_dims / 4));
  return Frequencies::powers(powers);
}

std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

Check check_numbers(const std::string& output, const std::vector<double>& mine,
                    const std::vector<double>& stored) {
  Check check;
  if (mine.size() != stored.size()) {
    check.problem = fmt::format("there must be as many numbers as stored ({}), got {}",
                                stored.size(), mine.size());
  } else {
    Bounds bounds{ScalarType::f64, mine, {}};
    for (const double value : stored)
      bounds.allowed.push_back(allowed_units * unit_at(ScalarType::f64, value));
    check = compare(mine, stored, bounds);
  }
  check.policy = "exact";
  check.output = output;
  return check;
}

struct Stored {
  double attention_factor;
  std::vector<double> rates;
};

std::vector<Check> check_set(const Entry& set, const Stored& stored) {
  const Frequencies frequencies = frequencies_of(set);
  std::vector<double> rates;
  for (const DoubleDouble& rate : frequencies.rates()) rates.push_back(static_cast<double>(rate));
  return {check_numbers("inv_freq", rates, stored.rates),
          check_numbers("attention_factor", {static_cast<double>(frequencies.attention_factor())},
                        {stored.attention_factor})};
}

}  // namespace

double decimal(const Entry& owner, const char* name, const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return number;
  }
  const std::string got = value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60);
  owner.refuse(fmt::format("\"{}\" must be in decimal digits, got {}", name, got));
}

GoldenIndex read_scaling_index(const std::filesystem::path& path) {
  const GoldenIndex file = read_json_index(path);
  if (!file.content.is_object()) refuse(path.string(), "must hold an object of sets");
  GoldenIndex index{path, Json::array()};
  for (const auto& [name, set] : file.content.items()) {
    if (!name.empty() && name[0] == '_') continue;
    if (!set.is_object()) refuse(path.string(), fmt::format("set \"{}\" must be an object", name));
    Json named = set;
    named["name"] = name;
    index.content.push_back(std::move(named));
  }
  if (index.content.empty()) refuse(path.string(), "must hold at least one set");
  return index;
}

Frequencies frequencies_of(const Entry& set) {
  const Entry object = set.object("params", "params");
  const Parameters params(object);
  const std::string type = first_word(set.text("type"));
  if (type == "default") return Frequencies::powers(read_powers(params));
  if (type == "linear")
    return Frequencies(read_powers(params), Linear<>{params.number({"factor"})});
  if (type == "proportional") return read_proportional(params);
  if (type == "dynamic") return read_dynamic(params);
  if (type == "ntk") return read_ntk(params);
  if (type == "yarn") return read_yarn(params, YarnMagnitude::hugging_face);
  if (type == "deepseek_yarn") return read_yarn(params, YarnMagnitude::deepseek);
  if (type == "llama3") return read_llama3(params);
  if (type == "longrope") return read_longrope(params);
  if (type == "axial") return read_axial(set, params);
  const std::string got =
      Json(type).dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60);
  set.refuse(
      fmt::format("\"type\" must be default, linear, proportional, dynamic, ntk, yarn, "
                  "deepseek_yarn, llama3, longrope or axial, got {}",
                  got));
}

void verify_scaling(Report& report, const GoldenIndex& index) {
  for (std::size_t i = 0; i < index.cases().size(); ++i) {
    const Entry set = index.entry(i);
    Stored stored{decimal(set, "attention_factor", set.json().value("attention_factor", Json())),
                  {}};
    for (const Json& rate : set.list("inv_freq"))
      stored.rates.push_back(decimal(set, "inv_freq", rate));
    if (stored.rates.empty()) set.refuse("\"inv_freq\" must not be empty");
    Json described = set.json();
    described.erase("inv_freq");
    CaseResult result =
        run_case(index, Entry(described, set.where()), [&] { return check_set(set, stored); });
    result.name = set.text("name");
    result.group = "scaling " + first_word(set.text("type"));
    report.cases.push_back(std::move(result));
  }
}

}  // namespace eigen_rope::tool
