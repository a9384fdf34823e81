// SPDX-License-Identifier: Apache-2.0
//
// Recorded answers and `rope verify`. The first byte is the kind of index; the index ends at a byte 0, and data.bin is what follows.
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "golden_files.hpp"
#include "promise.hpp"
#include "targets.hpp"
#include "verify.hpp"
#include "verify_scaling.hpp"

namespace rope::fuzz {
namespace {

namespace fs = std::filesystem;

/// In memory where there is such a place; removed at the end.
class Folder {
 public:
  Folder() {
    std::error_code error;
    const fs::path memory = "/dev/shm";
    path_ = (fs::is_directory(memory, error) ? memory : fs::temp_directory_path()) / ("rope_fuzz." + std::to_string(::getpid()));
    fs::create_directory(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const fs::path& path() const { return path_; }
  fs::path write(const char* name, Bytes bytes) const {
    std::ofstream file(path_ / name, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path_ / name;
  }

 private:
  fs::path path_;
};

}  // namespace

void fuzz_golden_folder(Bytes bytes) {
  static const Folder folder;
  if (bytes.empty()) return;
  const char kind = bytes.front();
  bytes.remove_prefix(1);
  const std::size_t end = std::min(bytes.find('\0'), bytes.size());
  const Bytes index = bytes.substr(0, end);
  folder.write("data.bin", bytes.substr(std::min(end + 1, bytes.size())));
  const char* const name = kind == 't' ? "cases.tsv" : kind == 's' ? "inv_freq.json" : "cases.json";
  for (const char* other : {"cases.tsv", "inv_freq.json", "cases.json"}) {
    std::error_code ignored;
    if (std::string_view(other) != name) fs::remove(folder.path() / other, ignored);
  }
  folder.write(name, index);
  attempt<Error, tool::FileError>([&] {
    const tool::Report report = tool::verify({folder.path()}, tool::PrecisionChoice::both);
    require(!report.cases.empty(), "a folder that is verified has cases");
    require(report.passed() + report.failed() == static_cast<std::int64_t>(report.cases.size()), "a case passes or fails");
    for (const tool::CaseResult& result : report.cases) {
      require(result.refusal.empty() != result.checks.empty(), "a case is refused or checked");
      if (!result.refusal.empty()) require_sentence(result.refusal);
    }
    require(!tool::text_of(report, tool::Detail::full).empty(), "there is a report");
  });
}

}  // namespace rope::fuzz
