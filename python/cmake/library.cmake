# SPDX-License-Identifier: Apache-2.0
#
# The library as a package of Python takes it: static, with what it is made of built in and hidden,
# so that the package needs no libfmt or libhwy where it runs and meets nobody else's. Gives
# eigen_rope::rope and eigen_rope::models, and
#
#   eigen_rope_module(TARGET EXPORTS)    a shared object that a framework loads, of which nothing is
#                                        seen from outside but what the file EXPORTS names
#
# EIGEN_ROPE_FMT_DIR and EIGEN_ROPE_HIGHWAY_DIR name folders of sources, as in every build of the
# library. Without them, the headers that are installed serve: distributions have fmt's sources
# among them, and Highway is compiled of one function alone (highway_targets.cc).
get_filename_component(EIGEN_ROPE_SOURCE_DIR ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
find_program(EIGEN_ROPE_CCACHE ccache)
if(EIGEN_ROPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
    ${EIGEN_ROPE_CCACHE})
endif()

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

function(eigen_rope_module target exports)
  get_filename_component(exports ${exports} ABSOLUTE)
  target_include_directories(${target} PRIVATE ${EIGEN_ROPE_SOURCE_DIR}/python/shared)
  target_link_libraries(${target} PRIVATE eigen_rope::rope eigen_rope_developer)
  target_link_options(${target} PRIVATE LINKER:--version-script=${exports} LINKER:-z,defs
    LINKER:-z,relro,-z,now LINKER:--gc-sections)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${exports} PREFIX lib
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON SKIP_BUILD_RPATH ON)
endfunction()
