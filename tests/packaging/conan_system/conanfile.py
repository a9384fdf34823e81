# SPDX-License-Identifier: Apache-2.0
"""Stands in for the recipes of Conan's own collection, which tests do not download: a package that
is installed on this machine.

    conan create tests/packaging/conan_system --name=fmt --version=9.1.0
"""

from conan import ConanFile

# Of each: the file that find_package looks for, its target, libraries and folder of headers.
SYSTEM = {
    "eigen": ("Eigen3", "Eigen3::Eigen", [], ["/usr/include/eigen3"]),
    "fmt": ("fmt", "fmt::fmt", ["fmt"], []),
    "highway": ("highway", "highway::highway", ["hwy"], []),
    "nlohmann_json": ("nlohmann_json", "nlohmann_json::nlohmann_json", [], []),
    "cli11": ("CLI11", "CLI11::CLI11", [], []),
}


class SystemPackage(ConanFile):
    package_type = "unknown"

    def package_info(self):
        file, target, libraries, headers = SYSTEM[self.name]
        self.cpp_info.set_property("cmake_file_name", file)
        self.cpp_info.set_property("cmake_target_name", target)
        self.cpp_info.system_libs = libraries
        self.cpp_info.includedirs = headers
        self.cpp_info.libdirs = []
        self.cpp_info.bindirs = []
