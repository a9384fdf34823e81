# SPDX-License-Identifier: Apache-2.0
#
# fmt::fmt from a folder of sources, EIGEN_ROPE_FMT_DIR: a checkout, or what another project
# carries. Its functions are compiled into whatever uses them, as inline functions with hidden
# symbols. Their inline namespace is ours, so that a static library's do not meet those of an fmt
# that the program has for itself.
if(NOT EXISTS ${EIGEN_ROPE_FMT_DIR}/include/fmt/format-inl.h)
  message(FATAL_ERROR
    "[rope] EIGEN_ROPE_FMT_DIR must hold include/fmt/format-inl.h, got ${EIGEN_ROPE_FMT_DIR}")
endif()

add_library(fmt::fmt INTERFACE IMPORTED)
set_target_properties(fmt::fmt PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES ${EIGEN_ROPE_FMT_DIR}/include
  INTERFACE_COMPILE_DEFINITIONS "FMT_HEADER_ONLY=1;FMT_BEGIN_NAMESPACE=namespace fmt { inline namespace ${eigen_rope_built_in} {;FMT_END_NAMESPACE=}}")
set(eigen_rope_fmt $<BUILD_INTERFACE:fmt::fmt>)
