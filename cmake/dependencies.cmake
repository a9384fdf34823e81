# SPDX-License-Identifier: Apache-2.0
#
# The libraries the library itself needs: Eigen (headers), fmt (texts of errors), Highway (run-time
# choice of instructions) and, to read models' configurations, nlohmann-json (headers).

set(EIGEN_ROPE_EIGEN_DIR "" CACHE PATH
  "A folder with Eigen's headers (Eigen/Core, unsupported/Eigen/CXX11/Tensor), used instead of an installed Eigen.")
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

find_package(fmt REQUIRED)

find_package(hwy CONFIG REQUIRED)

find_package(nlohmann_json REQUIRED)

find_package(Threads REQUIRED)
