# SPDX-License-Identifier: Apache-2.0
#
# Installs the library, so that find_package(rope) gives rope::rope and rope::models, and the tool.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS rope rope_models EXPORT rope_targets)
if(ROPE_BUILD_TOOL)
  install(TARGETS rope_tool)
endif()
install(DIRECTORY include/rope DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT rope_targets NAMESPACE rope:: FILE ropeTargets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rope)
configure_package_config_file(cmake/ropeConfig.cmake.in ropeConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rope)
write_basic_package_version_file(ropeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ropeConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/ropeConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rope)
