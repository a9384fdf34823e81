# SPDX-License-Identifier: Apache-2.0
#
# Installs the library, so that find_package(eigen-rope) gives eigen_rope::rope and, if it is built,
# eigen_rope::models, and the tool. Components: library (what a shared library's users run with),
# dev (what they compile with), tool.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A static library needs its libraries named where it is linked; an Eigen without a package is for
# its owner to name.
set(eigen_rope_pc_requires)
if(NOT EIGEN_ROPE_EIGEN_DIR)
  string(APPEND eigen_rope_pc_requires "eigen3 >= 3.4, eigen3 < 6")
endif()
set(eigen_rope_pc_cflags)
set(eigen_rope_needs)
if(NOT BUILD_SHARED_LIBS)
  set(eigen_rope_pc_cflags " -DEIGEN_ROPE_STATIC")
  if(NOT EIGEN_ROPE_FMT_DIR)
    string(APPEND eigen_rope_pc_requires " fmt")
    list(APPEND eigen_rope_needs fmt)
  endif()
  if(NOT EIGEN_ROPE_HIGHWAY_DIR)
    string(APPEND eigen_rope_pc_requires " libhwy")
    list(APPEND eigen_rope_needs hwy)
  endif()
endif()
set(eigen_rope_packages eigen-rope)
set(eigen_rope_components rope)
set(eigen_rope_left_out REGEX /eigen_rope/models$ EXCLUDE)
if(EIGEN_ROPE_BUILD_MODELS)
  set(eigen_rope_left_out)
  list(APPEND eigen_rope_packages eigen-rope-models)
  list(APPEND eigen_rope_components models)
endif()

# What a C compiler links a static library with besides (pkg-config --static).
set(eigen_rope_pc_libs_private)
foreach(implicit ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
  if(implicit MATCHES "^(stdc\\+\\+|c\\+\\+|m)$" AND
    NOT "-l${implicit}" IN_LIST eigen_rope_pc_libs_private)
    list(APPEND eigen_rope_pc_libs_private -l${implicit})
  endif()
endforeach()
list(JOIN eigen_rope_pc_libs_private " " eigen_rope_pc_libs_private)

# eigen_rope_install(PREFIX LIBDIR [EXCLUDE_FROM_ALL]): the rules, with the libraries in LIBDIR.
# The names of the components begin with PREFIX.
function(eigen_rope_install prefix libdir)
  install(TARGETS ${eigen_rope_libraries} EXPORT ${prefix}eigen_rope_targets
    LIBRARY DESTINATION ${libdir} COMPONENT ${prefix}library NAMELINK_COMPONENT ${prefix}dev ${ARGN}
    ARCHIVE DESTINATION ${libdir} COMPONENT ${prefix}dev ${ARGN})
  install(DIRECTORY include/eigen_rope DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT ${prefix}dev ${ARGN} ${eigen_rope_left_out})

  set(made ${CMAKE_CURRENT_BINARY_DIR}/install/${libdir})
  set(cmake_dir ${libdir}/cmake/eigen-rope)
  install(EXPORT ${prefix}eigen_rope_targets NAMESPACE eigen_rope:: FILE eigen-ropeTargets.cmake
    DESTINATION ${cmake_dir} COMPONENT ${prefix}dev ${ARGN})
  configure_package_config_file(cmake/eigen-ropeConfig.cmake.in ${made}/eigen-ropeConfig.cmake
    INSTALL_DESTINATION ${cmake_dir})
  write_basic_package_version_file(${made}/eigen-ropeConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${made}/eigen-ropeConfig.cmake ${made}/eigen-ropeConfigVersion.cmake
    cmake/eigen_version.cmake
    DESTINATION ${cmake_dir} COMPONENT ${prefix}dev ${ARGN})

  # For builds without CMake. Folders are named from where the file lies, so that what is installed
  # can be moved.
  get_filename_component(full_libdir ${libdir} ABSOLUTE BASE_DIR ${CMAKE_INSTALL_PREFIX})
  file(RELATIVE_PATH eigen_rope_pc_LIBDIR ${full_libdir}/pkgconfig ${full_libdir})
  file(RELATIVE_PATH eigen_rope_pc_INCLUDEDIR ${full_libdir}/pkgconfig
    ${CMAKE_INSTALL_FULL_INCLUDEDIR})
  foreach(package ${eigen_rope_packages})
    configure_file(cmake/${package}.pc.in ${made}/${package}.pc @ONLY)
    install(FILES ${made}/${package}.pc DESTINATION ${libdir}/pkgconfig
      COMPONENT ${prefix}dev ${ARGN})
  endforeach()

  if(NOT EIGEN_ROPE_BUILD_TOOL)
    return()
  endif()
  install(TARGETS eigen_rope_tool DESTINATION ${CMAKE_INSTALL_BINDIR}
    COMPONENT ${prefix}tool ${ARGN})
  if(NOT CMAKE_CROSSCOMPILING)
    set(texts ${CMAKE_CURRENT_BINARY_DIR}/src/tool/texts)
    install(FILES ${texts}/eigen-rope.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
      COMPONENT ${prefix}tool ${ARGN})
    install(FILES ${texts}/eigen-rope
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
      COMPONENT ${prefix}tool ${ARGN})
    install(FILES ${texts}/_eigen-rope DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
      COMPONENT ${prefix}tool ${ARGN})
    install(FILES ${texts}/eigen-rope.fish
      DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
      COMPONENT ${prefix}tool ${ARGN})
  endif()
  if(EIGEN_ROPE_BUILD_BENCH)
    # Where `eigen-rope bench` looks for them.
    install(TARGETS rotate_bench rotate_bench_native rotate_report DESTINATION libexec/eigen-rope
      COMPONENT ${prefix}tool ${ARGN})
  endif()
endfunction()

eigen_rope_install("" ${CMAKE_INSTALL_LIBDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/eigen-rope COMPONENT dev)
if(PROJECT_IS_TOP_LEVEL)
  include(cmake/debian.cmake)
endif()
