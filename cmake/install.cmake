# SPDX-License-Identifier: Apache-2.0
#
# Installs the library, so that find_package(rope) gives rope::rope and rope::models, and the tool.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS rope rope_models EXPORT rope_targets)
if(ROPE_BUILD_TOOL)
  install(TARGETS rope_tool)
  if(NOT CMAKE_CROSSCOMPILING)
    set(rope_texts ${CMAKE_CURRENT_BINARY_DIR}/src/tool/texts)
    install(FILES ${rope_texts}/rope.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${rope_texts}/rope DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${rope_texts}/_rope DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${rope_texts}/rope.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  endif()
  if(ROPE_BUILD_BENCH)
    # Where `rope bench` looks for them.
    install(TARGETS rotate_bench rotate_bench_native rotate_report DESTINATION libexec/rope)
  endif()
endif()
install(DIRECTORY include/rope DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT rope_targets NAMESPACE rope:: FILE ropeTargets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rope)
configure_package_config_file(cmake/ropeConfig.cmake.in ropeConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rope)
write_basic_package_version_file(ropeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ropeConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/ropeConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rope)
