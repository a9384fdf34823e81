// SPDX-License-Identifier: Apache-2.0
//
// SIGINT and SIGTERM as a request: the first asks the run to save and stop, the second ends the process at once, as it would without
// this. A limit on the size of files ends nothing either: writing fails. Not for several runs in one process: the request is one per
// process.
#pragma once

namespace train_lm {

/// Call once, at the start.
void catch_interrupts();

/// The signal that asked for a stop; 0 if none did. A shell expects 128 more as the exit code.
int interrupt_signal();

}  // namespace train_lm
