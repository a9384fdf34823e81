# SPDX-License-Identifier: Apache-2.0
#
# What distributions ask of everything they compile, for optimised builds of this project alone:
# relocations that are read-only once a program runs, and checks in those functions of the C library
# that write into buffers of known size. The processor's instructions stay those of other builds.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
set(flags "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}")
set(eigen_rope_hardened OFF)
# The checks need an optimising compiler, for each source, and disturb the sanitizers.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND build_type MATCHES "^(REL|MIN)"
  AND "${flags}" MATCHES "-O[1-3s]" AND EIGEN_ROPE_KERNEL_OPTIMISATION MATCHES "^-O[1-3s]"
  AND NOT flags MATCHES "_FORTIFY_SOURCE|-fsanitize|-O0")
  set(eigen_rope_hardened ON)
  include(CheckPIESupported)
  check_pie_supported(LANGUAGES CXX)
endif()

# eigen_rope_harden(TARGET...)
function(eigen_rope_harden)
  if(NOT eigen_rope_hardened)
    return()
  endif()
  foreach(target ${ARGN})
    target_compile_definitions(${target} PRIVATE _FORTIFY_SOURCE=2)
    get_target_property(type ${target} TYPE)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    if(NOT type STREQUAL "STATIC_LIBRARY")
      target_link_options(${target} PRIVATE LINKER:-z,relro,-z,now)
    endif()
  endforeach()
endfunction()
