# SPDX-License-Identifier: Apache-2.0
#
# The library as a package of Python takes it: static, with what it is made of built in and hidden,
# so that the package needs no libfmt or libhwy where it runs and meets nobody else's. Gives
# eigen_rope::rope and eigen_rope::models.
#
# EIGEN_ROPE_FMT_DIR and EIGEN_ROPE_HIGHWAY_DIR name folders of sources, as in every build of the
# library. Without them, the headers that are installed serve: distributions have fmt's sources
# among them, and Highway is compiled of one function alone (highway_targets.cc).
get_filename_component(EIGEN_ROPE_SOURCE_DIR ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)

if(NOT EIGEN_ROPE_FMT_DIR)
  find_path(eigen_rope_fmt_include fmt/format-inl.h REQUIRED)
  get_filename_component(EIGEN_ROPE_FMT_DIR ${eigen_rope_fmt_include} DIRECTORY)
endif()

if(NOT EIGEN_ROPE_HIGHWAY_DIR)
  find_path(eigen_rope_highway_include hwy/highway.h REQUIRED)
  # A folder of Highway's sources, of the headers that are installed.
  set(EIGEN_ROPE_HIGHWAY_DIR ${CMAKE_CURRENT_BINARY_DIR}/highway)
  file(MAKE_DIRECTORY ${EIGEN_ROPE_HIGHWAY_DIR}/hwy)
  file(GLOB headers ${eigen_rope_highway_include}/hwy/*)
  foreach(header ${headers})
    get_filename_component(name ${header} NAME)
    file(CREATE_LINK ${header} ${EIGEN_ROPE_HIGHWAY_DIR}/hwy/${name} SYMBOLIC)
  endforeach()
  configure_file(${CMAKE_CURRENT_LIST_DIR}/highway_targets.cc
    ${EIGEN_ROPE_HIGHWAY_DIR}/hwy/targets.cc COPYONLY)
endif()

set(BUILD_SHARED_LIBS OFF)
foreach(part TESTS BENCH EXAMPLES)
  set(EIGEN_ROPE_BUILD_${part} OFF)
endforeach()
# A package that needs neither says so before.
foreach(part MODELS TOOL)
  if(NOT DEFINED EIGEN_ROPE_BUILD_${part})
    set(EIGEN_ROPE_BUILD_${part} ON)
  endif()
endforeach()
set(CMAKE_UNITY_BUILD ON) # a third of the time; the package's own sources are few
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
add_subdirectory(${EIGEN_ROPE_SOURCE_DIR} eigen_rope EXCLUDE_FROM_ALL)
set(CMAKE_UNITY_BUILD OFF)
