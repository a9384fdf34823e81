# SPDX-License-Identifier: Apache-2.0
#
# Installs the library, so that find_package(eigen-rope) gives eigen_rope::rope and
# eigen_rope::models, and the tool. Components: library (what a shared library's users run with),
# dev (what they compile with), tool.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS eigen_rope eigen_rope_models EXPORT eigen_rope_targets
  LIBRARY COMPONENT library NAMELINK_COMPONENT dev
  ARCHIVE COMPONENT dev)
if(EIGEN_ROPE_BUILD_TOOL)
  install(TARGETS eigen_rope_tool COMPONENT tool)
  if(NOT CMAKE_CROSSCOMPILING)
    set(eigen_rope_texts ${CMAKE_CURRENT_BINARY_DIR}/src/tool/texts)
    install(FILES ${eigen_rope_texts}/eigen-rope.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
      COMPONENT tool)
    install(FILES ${eigen_rope_texts}/eigen-rope DESTINATION
      ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tool)
    install(FILES ${eigen_rope_texts}/_eigen-rope DESTINATION
      ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT tool)
    install(FILES ${eigen_rope_texts}/eigen-rope.fish DESTINATION
      ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tool)
  endif()
  if(EIGEN_ROPE_BUILD_BENCH)
    # Where `eigen-rope bench` looks for them.
    install(TARGETS rotate_bench rotate_bench_native rotate_report DESTINATION libexec/eigen-rope
      COMPONENT tool)
  endif()
endif()
install(DIRECTORY include/eigen_rope DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)

set(eigen_rope_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/eigen-rope)
install(EXPORT eigen_rope_targets NAMESPACE eigen_rope:: FILE eigen-ropeTargets.cmake DESTINATION
  ${eigen_rope_cmake_dir} COMPONENT dev)
configure_package_config_file(cmake/eigen-ropeConfig.cmake.in eigen-ropeConfig.cmake
  INSTALL_DESTINATION ${eigen_rope_cmake_dir})
write_basic_package_version_file(eigen-ropeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/eigen-ropeConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/eigen-ropeConfigVersion.cmake
  DESTINATION ${eigen_rope_cmake_dir} COMPONENT dev)

# For builds without CMake. Folders are named from where the file lies, so that what is installed
# can be moved. A static library needs its libraries named where it is linked; an Eigen without a
# package is for its owner to name.
set(eigen_rope_pc_requires)
if(NOT EIGEN_ROPE_EIGEN_DIR)
  string(APPEND eigen_rope_pc_requires "eigen3 >= 3.4, eigen3 < 6")
endif()
if(NOT BUILD_SHARED_LIBS)
  string(APPEND eigen_rope_pc_requires " fmt libhwy")
endif()
set(eigen_rope_pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
foreach(folder LIBDIR INCLUDEDIR)
  file(RELATIVE_PATH eigen_rope_pc_${folder} ${eigen_rope_pc_dir} ${CMAKE_INSTALL_FULL_${folder}})
endforeach()
foreach(package eigen-rope eigen-rope-models)
  configure_file(cmake/${package}.pc.in ${package}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc DESTINATION
    ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()

if(PROJECT_IS_TOP_LEVEL)
  include(cmake/debian.cmake)
endif()
