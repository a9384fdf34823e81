// SPDX-License-Identifier: Apache-2.0
//
// The rotation inside each of Eigen's operations: a group of contenders for each operation and
// shape, see contenders_parents.cpp.
#pragma once

namespace bench {

class Session;

/// Times those of its contenders that are wanted.
void run_parents(Session& session);

}  // namespace bench
