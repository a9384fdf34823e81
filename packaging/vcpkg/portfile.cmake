# SPDX-License-Identifier: Apache-2.0
#
# vcpkg port of eigen-rope. It builds the source tree in which it lies:
#
#     vcpkg install eigen-rope --overlay-ports=packaging/vcpkg --no-binarycaching
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES
  models EIGEN_ROPE_BUILD_MODELS
  tool EIGEN_ROPE_BUILD_TOOL)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${features}
    -DEIGEN_ROPE_BUILD_TESTS=OFF
    -DEIGEN_ROPE_BUILD_BENCH=OFF
    -DEIGEN_ROPE_BUILD_EXAMPLES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/eigen-rope)
vcpkg_fixup_pkgconfig()
if("tool" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES eigen-rope AUTO_CLEAN)
endif()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
  "${CURRENT_PACKAGES_DIR}/share/doc")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
