// SPDX-License-Identifier: Apache-2.0
//
// Recorded answers and `eigen-rope verify`. The first byte is the kind of index; the index ends at
// a byte 0, and data.bin is what follows.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "promise.hpp"
#include "support/file_bytes.hpp"
#include "support/temporary_folder.hpp"
#include "targets.hpp"
#include "tool/verify/golden_files.hpp"
#include "tool/verify/scaling.hpp"
#include "tool/verify/verify.hpp"

namespace eigen_rope::fuzz {

namespace fs = std::filesystem;

void fuzz_golden_folder(Bytes bytes) {
  static const test::TemporaryFolder folder(test::Medium::memory);
  if (bytes.empty()) return;
  const char kind = bytes.front();
  bytes.remove_prefix(1);
  const std::size_t end = std::min(bytes.find('\0'), bytes.size());
  const Bytes index = bytes.substr(0, end);
  test::write_bytes(folder / "data.bin", bytes.substr(std::min(end + 1, bytes.size())));
  const char* const name = kind == 't' ? "cases.tsv" : kind == 's' ? "inv_freq.json" : "cases.json";
  for (const char* other : {"cases.tsv", "inv_freq.json", "cases.json"}) {
    std::error_code ignored;
    if (std::string_view(other) != name) fs::remove(folder / other, ignored);
  }
  test::write_bytes(folder / name, index);
  attempt<Error, tool::FileError>([&] {
    const tool::Report report = tool::verify({folder.path()}, tool::PrecisionChoice::both);
    require(!report.cases.empty(), "a folder that is verified has cases");
    require(report.passed() + report.failed() == static_cast<std::int64_t>(report.cases.size()),
            "a case passes or fails");
    for (const tool::CaseResult& result : report.cases) {
      require(result.refusal.empty() != result.checks.empty(), "a case is refused or checked");
      if (!result.refusal.empty()) require_sentence(result.refusal);
    }
    require(!tool::text_of(report, tool::Detail::full).empty(), "there is a report");
  });
}

}  // namespace eigen_rope::fuzz
