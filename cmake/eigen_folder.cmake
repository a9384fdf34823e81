# SPDX-License-Identifier: Apache-2.0
#
# Eigen3::Eigen and Eigen3_VERSION from a plain folder of headers, ROPE_EIGEN_DIR: a checkout, or what another package carries.
if(NOT EXISTS ${ROPE_EIGEN_DIR}/Eigen/Core)
  message(FATAL_ERROR "[rope] ROPE_EIGEN_DIR must hold Eigen/Core, got ${ROPE_EIGEN_DIR}")
endif()

# Eigen 5 has a header for its version; before that it stands among the macros.
set(rope_eigen_version_file ${ROPE_EIGEN_DIR}/Eigen/Version)
if(NOT EXISTS ${rope_eigen_version_file})
  set(rope_eigen_version_file ${ROPE_EIGEN_DIR}/Eigen/src/Core/util/Macros.h)
endif()
foreach(part WORLD MAJOR MINOR PATCH)
  file(STRINGS ${rope_eigen_version_file} rope_eigen_line REGEX "#define EIGEN_${part}_VERSION [0-9]+")
  string(REGEX REPLACE ".* ([0-9]+).*" "\\1" rope_eigen_${part} "${rope_eigen_line}")
endforeach()
if(rope_eigen_PATCH STREQUAL "")
  set(Eigen3_VERSION ${rope_eigen_WORLD}.${rope_eigen_MAJOR}.${rope_eigen_MINOR})
else()
  set(Eigen3_VERSION ${rope_eigen_MAJOR}.${rope_eigen_MINOR}.${rope_eigen_PATCH})
endif()

add_library(Eigen3::Eigen INTERFACE IMPORTED)
set_target_properties(Eigen3::Eigen PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${ROPE_EIGEN_DIR})
