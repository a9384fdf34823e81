# SPDX-License-Identifier: Apache-2.0
#
# Debian packages (cpack -G DEB): libeigen-rope-dev to compile with, eigen-rope with the tool, and
# for shared libraries a package that has the name of their soname. The packages install into /usr,
# and the libraries into Debian's folder for the architecture, whatever prefix the build has.
# Therefore they have components of their own. What CPack does not do by itself is done by
# debian_files.cmake.
set(libdir ${CMAKE_INSTALL_LIBDIR})
if(CMAKE_LIBRARY_ARCHITECTURE)
  set(libdir lib/${CMAKE_LIBRARY_ARCHITECTURE})
endif()
eigen_rope_install(debian_ ${libdir} EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME eigen-rope)
set(CPACK_PACKAGE_VENDOR "The eigen-rope authors")
set(CPACK_PACKAGE_CONTACT "The eigen-rope authors <eigen-rope@authors.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "rotary position embedding for Eigen tensors")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
  GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SOURCE eigen-rope)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_files.cmake)
# For debian_files.cmake, which CPack runs with the variables that begin with CPACK_.
set(CPACK_EIGEN_ROPE_SOURCE_DIR ${PROJECT_SOURCE_DIR})
set(CPACK_EIGEN_ROPE_BINARY_DIR ${PROJECT_BINARY_DIR})
set(CPACK_EIGEN_ROPE_STRIP ${CMAKE_STRIP})

set(about "eigen-rope rotates the queries and keys of a transformer (RoPE) as a lazy
expression of Eigen's Tensor module. It has the rotation, its gradient and its
inverse, and the pairings and scalings that published models use.

This package contains")

set(CPACK_COMPONENTS_ALL debian_dev)
set(CPACK_DEBIAN_DEBIAN_DEV_PACKAGE_NAME libeigen-rope-dev)
set(CPACK_DEBIAN_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEBIAN_DEV_PACKAGE_DEPENDS "libeigen3-dev (>= 3.4)")
foreach(package ${eigen_rope_needs})
  string(APPEND CPACK_DEBIAN_DEBIAN_DEV_PACKAGE_DEPENDS ", lib${package}-dev")
endforeach()
set(CPACK_DEBIAN_DEBIAN_DEV_DESCRIPTION "${about} the headers, the libraries to link with, and the
files with which CMake and pkg-config find them.")

if(BUILD_SHARED_LIBS)
  set(soname_package libeigen-rope${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  list(APPEND CPACK_COMPONENTS_ALL debian_library)
  set(CPACK_DEBIAN_DEBIAN_LIBRARY_PACKAGE_NAME ${soname_package})
  set(CPACK_DEBIAN_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_DEBIAN_LIBRARY_DESCRIPTION
    "${about} the shared libraries that programs run with.")
  foreach(file shlibs symbols triggers)
    list(APPEND CPACK_DEBIAN_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
      ${PROJECT_BINARY_DIR}/debian/${file})
  endforeach()
  set(CPACK_DEBIAN_DEBIAN_DEV_PACKAGE_DEPENDS
    "${soname_package} (= ${PROJECT_VERSION}), libeigen3-dev (>= 3.4)")
endif()

if(EIGEN_ROPE_BUILD_TOOL)
  list(APPEND CPACK_COMPONENTS_ALL debian_tool)
  set(CPACK_DEBIAN_DEBIAN_TOOL_PACKAGE_NAME eigen-rope)
  set(CPACK_DEBIAN_DEBIAN_TOOL_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_DEBIAN_TOOL_PACKAGE_RECOMMENDS gnuplot-nox)
  set(CPACK_DEBIAN_DEBIAN_TOOL_DESCRIPTION "${about} the program eigen-rope. It shows and compares the
rotation that a model's files describe, converts query and key projections
from one pairing to another, checks gradients, and verifies the recorded
answers of other implementations.")
endif()
include(CPack)
