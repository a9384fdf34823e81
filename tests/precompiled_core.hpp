// SPDX-License-Identifier: Apache-2.0
//
// As precompiled.hpp, for the tests that never see Eigen's Tensor module.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>
