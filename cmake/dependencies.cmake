# SPDX-License-Identifier: Apache-2.0
#
# The libraries the library itself needs: Eigen (headers), fmt (texts of errors), Highway (run-time
# choice of instructions) and, to read models' files, nlohmann-json (headers). Each of the first
# three may come from a folder that the user names.

set(EIGEN_ROPE_EIGEN_DIR "" CACHE PATH
  "A folder with Eigen's headers (Eigen/Core, unsupported/Eigen/CXX11/Tensor), used instead of an installed Eigen.")
set(EIGEN_ROPE_FMT_DIR "" CACHE PATH
  "A folder with fmt's sources (include/fmt/format-inl.h), built in instead of an installed fmt.")
set(EIGEN_ROPE_HIGHWAY_DIR "" CACHE PATH
  "A folder with Highway's sources (hwy/highway.h, hwy/targets.cc), built in instead of an installed Highway.")

if(EIGEN_ROPE_EIGEN_DIR)
  include(cmake/eigen_folder.cmake)
else()
  # No version here: Eigen 3.4.0's version file refuses ranges, and no single request accepts both
  # 3.4 and 5.
  find_package(Eigen3 CONFIG REQUIRED)
endif()
if(Eigen3_VERSION VERSION_LESS 3.4 OR Eigen3_VERSION VERSION_GREATER_EQUAL 6)
  message(FATAL_ERROR "[rope] Eigen must be at least 3.4 and less than 6, got ${Eigen3_VERSION}")
endif()

if(EIGEN_ROPE_FMT_DIR)
  include(cmake/fmt_folder.cmake)
else()
  find_package(fmt REQUIRED)
  set(eigen_rope_fmt fmt::fmt)
endif()

if(EIGEN_ROPE_HIGHWAY_DIR)
  include(cmake/highway_folder.cmake)
else()
  find_package(hwy CONFIG REQUIRED)
  set(eigen_rope_hwy hwy::hwy)
  set(eigen_rope_highway_sources)
endif()

if(EIGEN_ROPE_BUILD_MODELS)
  find_package(nlohmann_json REQUIRED)
endif()

find_package(Threads REQUIRED)
