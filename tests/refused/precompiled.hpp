// SPDX-License-Identifier: Apache-2.0
//
// What the programs with mistakes include, compiled once for all of them.
#pragma once

#define EIGEN_USE_THREADS

#include <eigen_rope/eigen_rope.hpp>
#include <eigen_rope/forms/composed.hpp>
#include <eigen_rope/forms/reference.hpp>
