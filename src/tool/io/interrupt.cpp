// SPDX-License-Identifier: Apache-2.0
#include "tool/io/interrupt.hpp"

#include <csignal>

namespace eigen_rope::tool {
namespace {

volatile std::sig_atomic_t received = 0;

extern "C" {
static void remember_signal(int signal) { received = signal; }
}

}  // namespace

void catch_interrupts(std::initializer_list<int> signals) {
  struct sigaction action {};
  action.sa_handler = remember_signal;
  // The default action comes back after the first signal, so that a second one ends the process.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  for (const int signal : signals) {
    struct sigaction present {};
    const bool ignored = sigaction(signal, nullptr, &present) == 0 && present.sa_handler == SIG_IGN;
    if (!ignored) sigaction(signal, &action, nullptr);
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

int interrupt_signal() { return received; }

}  // namespace eigen_rope::tool
