// SPDX-License-Identifier: Apache-2.0
//
// Signals as a request: the first one is remembered, so that the program can save or clean up; a
// second one ends the process at once, as it would without this. A signal that is ignored (nohup)
// stays so. A limit on the size of files is then an error of writing, like a full disk, and no
// signal. Not for several runs in one process: the request is one per process.
#pragma once

#include <initializer_list>

namespace eigen_rope::tool {

/// Call once, at the start, with the signals that ask for a stop: SIGINT, SIGTERM ...
void catch_interrupts(std::initializer_list<int> signals);

/// The signal that asked for a stop; 0 if none did. A shell expects 128 more as the exit code.
int interrupt_signal();

}  // namespace eigen_rope::tool
