// SPDX-License-Identifier: Apache-2.0
//
// Loads two shared objects that use the library into one process, each with global symbols, as
// interpreters and plug-in hosts may do, and says what they share.
//
// usage: host FIRST SECOND SHARED    SHARED is what must be shared: nothing, headers (what the
//                                    compiler makes of inline code), or all
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "plugin.hpp"

namespace {

const Plugin& load(const char* file) {
  void* object = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
  void* function = object == nullptr ? nullptr : dlsym(object, plugin_function);
  if (function == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(2);
  }
  return *reinterpret_cast<const Plugin* (*)()>(function)();
}

/// Whether what `thrown` throws is an eigen_rope::Error for `caught`; at least it is a standard
/// exception with the sentence.
bool catches(const Plugin& caught, const Plugin& thrown) {
  try {
    return caught.catches(thrown.throws);
  } catch (const std::invalid_argument& error) {
    if (error.what() == std::string("[rope] rotary dims must be even, got 7")) return false;
    throw;
  }
}

/// Whether each works by itself, and catches errors of its own version and of no other.
bool work(const Plugin& first, const Plugin& second) {
  if (!(first.there_and_back() < 1e-5) || !(second.there_and_back() < 1e-5)) return false;
#ifdef __GLIBCXX__  // compares the names of types, not their addresses
  const bool same = first.minor_version == second.minor_version;
  if (catches(first, second) != same || catches(second, first) != same) return false;
#endif
  return catches(first, first) && catches(second, second);
}

std::string shared_by(const Plugin& first, const Plugin& second) {
  first.set_threshold(1000);
  second.set_threshold(2000);
  const bool library = first.threshold() != 1000;
  const bool variable = first.inline_variable() == second.inline_variable();
  const bool function = first.inline_function() == second.inline_function();
  if (library && variable && function) return "all";
  // The static library hides its own copy of the variable, and with it the shared object's.
  if (!library && function) return "headers";
  return library || variable || function ? "some" : "nothing";
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const Plugin& first = load(arguments[1]);
  const Plugin& second = load(arguments[2]);
  const std::string shared = shared_by(first, second);
  const bool good = work(first, second);
  std::printf("0.%d and 0.%d share %s%s\n", first.minor_version, second.minor_version,
              shared.c_str(), good ? "" : ", and do not work");
  return good && shared == arguments[3] ? 0 : 1;
}
