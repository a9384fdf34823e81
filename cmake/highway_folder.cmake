# SPDX-License-Identifier: Apache-2.0
#
# hwy::hwy from a folder of sources, EIGEN_ROPE_HIGHWAY_DIR: a checkout, or what another project
# carries. The library is compiled with the files of it that it needs, whose symbols are hidden.
# Highway's namespace has another name there, so that a static library's functions do not meet those
# of a Highway that the program has for itself.
foreach(file highway.h targets.cc)
  if(NOT EXISTS ${EIGEN_ROPE_HIGHWAY_DIR}/hwy/${file})
    message(FATAL_ERROR
      "[rope] EIGEN_ROPE_HIGHWAY_DIR must hold hwy/${file}, got ${EIGEN_ROPE_HIGHWAY_DIR}")
  endif()
endforeach()

# Which processor it is, and since Highway 1.2 the messages, which are in a file of their own.
set(eigen_rope_highway_sources ${EIGEN_ROPE_HIGHWAY_DIR}/hwy/targets.cc)
if(EXISTS ${EIGEN_ROPE_HIGHWAY_DIR}/hwy/abort.cc)
  list(APPEND eigen_rope_highway_sources ${EIGEN_ROPE_HIGHWAY_DIR}/hwy/abort.cc)
endif()

add_library(hwy::hwy INTERFACE IMPORTED)
set_target_properties(hwy::hwy PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES ${EIGEN_ROPE_HIGHWAY_DIR}
  INTERFACE_COMPILE_DEFINITIONS "HWY_STATIC_DEFINE;hwy=hwy_${eigen_rope_built_in}")
set(eigen_rope_hwy $<BUILD_INTERFACE:hwy::hwy>)
# Its warnings are its own.
set_source_files_properties(${eigen_rope_highway_sources} PROPERTIES COMPILE_OPTIONS -w
  SKIP_UNITY_BUILD_INCLUSION ON)
