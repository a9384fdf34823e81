# SPDX-License-Identifier: Apache-2.0
#
# Runs packaging/vcpkg/portfile.cmake as far as it goes without vcpkg: the functions of vcpkg that
# the port calls are here in a few lines each, and the libraries it needs are those of this machine.
#
#     cmake -DFOLDER=build/vcpkg [-DINITIAL_CACHE=FILE] -P tests/packaging/vcpkg_stub.cmake
#
# The result is FOLDER/packages. The file may set variables for the build's cache.
cmake_policy(VERSION 3.21)
get_filename_component(FOLDER "${FOLDER}" ABSOLUTE)
set(PORT eigen-rope)
set(CURRENT_PACKAGES_DIR ${FOLDER}/packages)
set(root ${CMAKE_CURRENT_LIST_DIR}/../..)
file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# What the port asks for must be what vcpkg.json says.
file(READ ${root}/packaging/vcpkg/vcpkg.json manifest)
string(JSON name GET "${manifest}" name)
string(JSON version GET "${manifest}" version)
string(JSON tool GET "${manifest}" features tool description)
string(JSON default GET "${manifest}" default-features 0)
set(FEATURES core ${default})
if(NOT name STREQUAL PORT)
  message(FATAL_ERROR "vcpkg.json must name the port ${PORT}, got ${name}")
endif()

function(vcpkg_check_features)
  cmake_parse_arguments(arg "" "OUT_FEATURE_OPTIONS" "FEATURES" ${ARGN})
  set(options)
  while(arg_FEATURES)
    list(POP_FRONT arg_FEATURES feature option)
    string(JSON known ERROR_VARIABLE unknown GET "${manifest}" features ${feature})
    if(unknown)
      message(FATAL_ERROR "vcpkg.json has no feature ${feature}")
    endif()
    if(feature IN_LIST FEATURES)
      list(APPEND options -D${option}=ON)
    else()
      list(APPEND options -D${option}=OFF)
    endif()
  endwhile()
  set(${arg_OUT_FEATURE_OPTIONS} ${options} PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(arg "" "SOURCE_PATH" "OPTIONS" ${ARGN})
  set(cache)
  if(INITIAL_CACHE)
    set(cache -C ${INITIAL_CACHE})
  endif()
  run(${CMAKE_COMMAND} ${cache} -S ${arg_SOURCE_PATH} -B ${FOLDER}/build -G Ninja
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}
    -DCMAKE_INSTALL_LIBDIR=lib ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
  run(${CMAKE_COMMAND} --build ${FOLDER}/build)
  run(${CMAKE_COMMAND} --install ${FOLDER}/build)
endfunction()

function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(arg "" "CONFIG_PATH" "" ${ARGN})
  if(NOT EXISTS ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/${PORT}Config.cmake)
    message(FATAL_ERROR "the port installs no ${arg_CONFIG_PATH}/${PORT}Config.cmake")
  endif()
endfunction()

function(vcpkg_fixup_pkgconfig)
  if(NOT EXISTS ${CURRENT_PACKAGES_DIR}/lib/pkgconfig/${PORT}.pc)
    message(FATAL_ERROR "the port installs no lib/pkgconfig/${PORT}.pc")
  endif()
endfunction()

function(vcpkg_copy_tools)
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(arg "" "" "FILE_LIST" ${ARGN})
  file(INSTALL ${arg_FILE_LIST} DESTINATION ${CURRENT_PACKAGES_DIR}/share/${PORT} RENAME copyright)
endfunction()

include(${root}/packaging/vcpkg/portfile.cmake)
message(STATUS "${name} ${version}")
