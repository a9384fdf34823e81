# SPDX-License-Identifier: Apache-2.0
#
# Installs the library, so that find_package(rope) gives rope::rope and rope::models, and the tool. Components: library (what a shared
# library's users run with), dev (what they compile with), tool.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS rope rope_models EXPORT rope_targets
  LIBRARY COMPONENT library NAMELINK_COMPONENT dev
  ARCHIVE COMPONENT dev)
if(ROPE_BUILD_TOOL)
  install(TARGETS rope_tool COMPONENT tool)
  if(NOT CMAKE_CROSSCOMPILING)
    set(rope_texts ${CMAKE_CURRENT_BINARY_DIR}/src/tool/texts)
    install(FILES ${rope_texts}/rope.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool)
    install(FILES ${rope_texts}/rope DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tool)
    install(FILES ${rope_texts}/_rope DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT tool)
    install(FILES ${rope_texts}/rope.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tool)
  endif()
  if(ROPE_BUILD_BENCH)
    # Where `rope bench` looks for them.
    install(TARGETS rotate_bench rotate_bench_native rotate_report DESTINATION libexec/rope COMPONENT tool)
  endif()
endif()
install(DIRECTORY include/rope DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)

set(rope_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rope)
install(EXPORT rope_targets NAMESPACE rope:: FILE ropeTargets.cmake DESTINATION ${rope_cmake_dir} COMPONENT dev)
configure_package_config_file(cmake/ropeConfig.cmake.in ropeConfig.cmake INSTALL_DESTINATION ${rope_cmake_dir})
write_basic_package_version_file(ropeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ropeConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/ropeConfigVersion.cmake
  DESTINATION ${rope_cmake_dir} COMPONENT dev)

# For builds without CMake. Folders are named from where the file lies, so that what is installed can be moved. A static library needs its
# libraries named where it is linked; an Eigen without a package is for its owner to name.
set(rope_pc_requires)
if(NOT ROPE_EIGEN_DIR)
  string(APPEND rope_pc_requires "eigen3 >= 3.4, eigen3 < 6")
endif()
if(NOT BUILD_SHARED_LIBS)
  string(APPEND rope_pc_requires " fmt libhwy")
endif()
set(rope_pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
foreach(folder LIBDIR INCLUDEDIR)
  file(RELATIVE_PATH rope_pc_${folder} ${rope_pc_dir} ${CMAKE_INSTALL_FULL_${folder}})
endforeach()
foreach(package rope rope-models)
  configure_file(cmake/${package}.pc.in ${package}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()

if(PROJECT_IS_TOP_LEVEL)
  include(cmake/debian.cmake)
endif()
