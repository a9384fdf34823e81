# SPDX-License-Identifier: Apache-2.0
#
# Debian packages (cpack -G DEB): libeigen-rope-dev to compile with, eigen-rope with the tool, and
# of a shared library libeigen-rope<version>.
set(CPACK_PACKAGE_NAME eigen-rope)
set(CPACK_PACKAGE_VENDOR "The eigen-rope authors")
set(CPACK_PACKAGE_CONTACT "The eigen-rope authors <eigen-rope@authors.invalid>")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

set(CPACK_COMPONENTS_ALL dev)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libeigen-rope-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libeigen3-dev (>= 3.4), libfmt-dev, libhwy-dev")
set(CPACK_COMPONENT_DEV_DESCRIPTION
  "Headers, libraries and the files with which CMake and pkg-config find them.")
set(eigen_rope_packages dev:libeigen-rope-dev)

if(BUILD_SHARED_LIBS)
  set(eigen_rope_library_package libeigen-rope${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  list(APPEND CPACK_COMPONENTS_ALL library)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${eigen_rope_library_package})
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
  set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "The shared libraries that programs run with.")
  set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "${eigen_rope_library_package} (= ${PROJECT_VERSION}), libeigen3-dev (>= 3.4)")
  set(CPACK_DEBIAN_TOOL_PACKAGE_DEPENDS "${eigen_rope_library_package} (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_CURRENT_BINARY_DIR})
  list(APPEND eigen_rope_packages library:${eigen_rope_library_package})
endif()

if(EIGEN_ROPE_BUILD_TOOL)
  list(APPEND CPACK_COMPONENTS_ALL tool)
  set(CPACK_DEBIAN_TOOL_PACKAGE_NAME eigen-rope)
  set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_TOOL_PACKAGE_RECOMMENDS gnuplot-nox)
  set(CPACK_COMPONENT_TOOL_DESCRIPTION
    "The program eigen-rope: what a model's files make of its rotation, recorded answers, checks of gradients.")
  list(APPEND eigen_rope_packages tool:eigen-rope)
endif()

foreach(package ${eigen_rope_packages})
  string(REPLACE ":" ";" package ${package})
  list(GET package 0 component)
  list(GET package 1 name)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} RENAME copyright
    COMPONENT ${component})
endforeach()
include(CPack)
