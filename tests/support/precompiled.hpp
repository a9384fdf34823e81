// SPDX-License-Identifier: Apache-2.0
//
// What most tests include and what takes longest to read, compiled once for all of them. A test
// includes what it needs itself as well, and defines EIGEN_USE_THREADS itself if it uses threads.
#pragma once

#define EIGEN_USE_THREADS

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <unsupported/Eigen/CXX11/Tensor>
#include <variant>
#include <vector>
