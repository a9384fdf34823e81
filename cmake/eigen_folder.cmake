# SPDX-License-Identifier: Apache-2.0
#
# Eigen3::Eigen and Eigen3_VERSION from a plain folder of headers, EIGEN_ROPE_EIGEN_DIR: a checkout,
# or what another package carries.
if(NOT EXISTS ${EIGEN_ROPE_EIGEN_DIR}/Eigen/Core)
  message(FATAL_ERROR
    "[rope] EIGEN_ROPE_EIGEN_DIR must hold Eigen/Core, got ${EIGEN_ROPE_EIGEN_DIR}")
endif()

include(cmake/eigen_version.cmake)
eigen_rope_eigen_version(${EIGEN_ROPE_EIGEN_DIR} Eigen3_VERSION)

add_library(Eigen3::Eigen INTERFACE IMPORTED)
set_target_properties(Eigen3::Eigen PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
  ${EIGEN_ROPE_EIGEN_DIR})
