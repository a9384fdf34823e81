# SPDX-License-Identifier: Apache-2.0
#
# Eigen3::Eigen and Eigen3_VERSION from a plain folder of headers, EIGEN_ROPE_EIGEN_DIR: a checkout,
# or what another package carries.
if(NOT EXISTS ${EIGEN_ROPE_EIGEN_DIR}/Eigen/Core)
  message(FATAL_ERROR
    "[rope] EIGEN_ROPE_EIGEN_DIR must hold Eigen/Core, got ${EIGEN_ROPE_EIGEN_DIR}")
endif()

# Eigen 5 has a header for its version; before that it stands among the macros.
set(eigen_rope_eigen_version_file ${EIGEN_ROPE_EIGEN_DIR}/Eigen/Version)
if(NOT EXISTS ${eigen_rope_eigen_version_file})
  set(eigen_rope_eigen_version_file ${EIGEN_ROPE_EIGEN_DIR}/Eigen/src/Core/util/Macros.h)
endif()
foreach(part WORLD MAJOR MINOR PATCH)
  file(STRINGS ${eigen_rope_eigen_version_file} eigen_rope_eigen_line REGEX
    "#define EIGEN_${part}_VERSION [0-9]+")
  string(REGEX REPLACE ".* ([0-9]+).*" "\\1" eigen_rope_eigen_${part} "${eigen_rope_eigen_line}")
endforeach()
if(eigen_rope_eigen_PATCH STREQUAL "")
  set(Eigen3_VERSION ${eigen_rope_eigen_WORLD}.${eigen_rope_eigen_MAJOR}.${eigen_rope_eigen_MINOR})
else()
  set(Eigen3_VERSION ${eigen_rope_eigen_MAJOR}.${eigen_rope_eigen_MINOR}.${eigen_rope_eigen_PATCH})
endif()

add_library(Eigen3::Eigen INTERFACE IMPORTED)
set_target_properties(Eigen3::Eigen PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
  ${EIGEN_ROPE_EIGEN_DIR})
