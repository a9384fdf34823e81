// SPDX-License-Identifier: Apache-2.0
#include "interrupt.hpp"

#include <csignal>

namespace train_lm {
namespace {

volatile std::sig_atomic_t received = 0;

extern "C" {
static void remember_signal(int signal) { received = signal; }
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = remember_signal;
  // The default action comes back after the first signal, so that a second one ends the process.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A file that may not grow is an error of write(), like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
}

int interrupt_signal() { return received; }

}  // namespace train_lm
