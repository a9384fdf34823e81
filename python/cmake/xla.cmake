# SPDX-License-Identifier: Apache-2.0
#
# Sets EIGEN_ROPE_XLA_INCLUDE to the folder that has xla/ffi/api/c_api.h, or to nothing.
#
# EIGEN_ROPE_XLA_DIR names it. Without, that of a jaxlib is taken: one that the Python of the build
# can import, or one in the environment that the package is installed into. pip hides the latter
# from imports while it builds, but a header is only a file. The interface is the same in all
# versions of jaxlib that the package supports, so it does not matter which one it is.
set(EIGEN_ROPE_XLA_DIR "" CACHE PATH "Folder of headers that has xla/ffi/api/c_api.h")
set(EIGEN_ROPE_XLA_INCLUDE ${EIGEN_ROPE_XLA_DIR})
if(NOT EIGEN_ROPE_XLA_INCLUDE)
  execute_process(COMMAND ${Python_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/find_xla.py
    OUTPUT_VARIABLE EIGEN_ROPE_XLA_INCLUDE ERROR_QUIET)
elseif(NOT EXISTS ${EIGEN_ROPE_XLA_DIR}/xla/ffi/api/c_api.h)
  message(FATAL_ERROR
    "[rope] EIGEN_ROPE_XLA_DIR must have xla/ffi/api/c_api.h, got ${EIGEN_ROPE_XLA_DIR}")
endif()
if(EIGEN_ROPE_XLA_INCLUDE)
  message(STATUS "[rope] eigen_rope.jax is built with the header of XLA in ${EIGEN_ROPE_XLA_INCLUDE}")
else()
  message(STATUS "[rope] no jaxlib was found: eigen_rope.jax is left out")
endif()
