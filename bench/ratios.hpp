// SPDX-License-Identifier: Apache-2.0
//
// What was measured, as medians with quartiles, from Google Benchmark's JSON files; and the table
// of ratios to memcpy.
//
// Names are rotate/<impl>/<scalar>/<pairing>/<shape>/threads:<n>. Timings of shared machines drift:
// only ratios within one run mean anything. So each repetition is divided by the memcpy that was
// timed right before it ("memcpy_us"), and the median and the quartiles are those of the quotients.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct Name {
  std::string implementation, scalar, pairing, shape;
  int threads = 1;

  /// Throws std::runtime_error for a name of another form.
  static Name parse(const std::string& text);
  std::string text() const;
};

/// Median and quartiles.
struct Spread {
  double median = 0, lower = 0, upper = 0;
};

struct Measurement {
  Name name;
  int repetitions = 0;
  /// Of one call.
  Spread seconds;
  /// Over memcpy of the same bytes; nothing where there was none.
  std::optional<Spread> over_memcpy;

  /// What targets compare: over memcpy where it was measured, otherwise seconds.
  double time() const { return over_memcpy ? over_memcpy->median : seconds.median; }
};

/// What a program said of itself and the machine.
struct Program {
  std::string file, cpu, processor, kernel_target, compiler, eigen, eigen_vectors;
};

/// What becomes of a name that was measured before.
enum class Repeated { refused, replaces };

class Results {
 public:
  /// Adds a file of Google Benchmark's JSON. Throws std::runtime_error if it cannot be read or has
  /// no results.
  void load(const std::string& file, Repeated repeated = Repeated::refused);
  /// The same, from parsed JSON; `file` is only a name.
  void add(const nlohmann::json& json, const std::string& file,
           Repeated repeated = Repeated::refused);

  /// nullptr if there is none.
  const Measurement* find(const std::string& name) const;
  const std::vector<Measurement>& measurements() const { return measurements_; }
  const std::vector<Program>& programs() const { return programs_; }

 private:
  std::vector<Measurement> measurements_;
  std::map<std::string, std::size_t> index_;
  std::vector<Program> programs_;
};

/// Tables in markdown: times over those of the loops written by hand, or of the same arrays on a
/// page. A row for each case and scalar, a column for each number of tokens, split-half /
/// interleaved pairs.
std::string hand_tables_of(const Results& results);

/// Medians, ratios to memcpy and quartiles, grouped by shape, scalar and pairing.
std::string table_of(const Results& results);

}  // namespace bench
