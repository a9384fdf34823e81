# SPDX-License-Identifier: Apache-2.0
"""Conan 2 recipe of eigen-rope. It builds the source tree in which it lies.

    conan create packaging/conan --build=missing
    conan create packaging/conan --build=missing -o "&:shared=True" -o "&:with_tool=True"
"""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.0"


class EigenRopeConan(ConanFile):
    name = "eigen-rope"
    description = "Rotary position embedding as a lazy Eigen Tensor expression"
    license = "Apache-2.0"
    topics = ("eigen", "tensor", "transformer", "rope", "rotary-position-embedding")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "with_models": [True, False],
        "with_tool": [True, False],
    }
    default_options = {"shared": False, "fPIC": True, "with_models": True, "with_tool": False}
    implements = ["auto_shared_fpic"]

    @property
    def _tree(self):
        return os.path.join(self.recipe_folder, os.pardir, os.pardir)

    def set_version(self):
        header = load(self, os.path.join(self._tree, "include", "eigen_rope", "version.hpp"))
        self.version = ".".join(re.findall(r"#define EIGEN_ROPE_VERSION_\w+ (\d+)", header))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*"):
            copy(self, pattern, src=self._tree, dst=self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("eigen/[>=3.4.0 <6]", transitive_headers=True)
        self.requires("fmt/[>=9.1.0 <13]")
        self.requires("highway/[>=1.0.3 <2]")
        if self.options.with_models:
            self.requires("nlohmann_json/[>=3.11.2 <4]", visible=False)
        if self.options.with_tool:
            self.requires("cli11/[>=2.1.2 <3]", visible=False)

    def validate(self):
        check_min_cppstd(self, 17)
        if self.options.with_tool and not self.options.with_models:
            raise ConanInvalidConfiguration("with_tool needs with_models to be True, got False")

    def generate(self):
        dependencies = CMakeDeps(self)
        dependencies.set_property("highway", "cmake_file_name", "hwy")
        dependencies.set_property("highway", "cmake_target_name", "hwy::hwy")
        dependencies.generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["EIGEN_ROPE_BUILD_MODELS"] = bool(self.options.with_models)
        toolchain.cache_variables["EIGEN_ROPE_BUILD_TOOL"] = bool(self.options.with_tool)
        toolchain.cache_variables["EIGEN_ROPE_BUILD_TESTS"] = False
        toolchain.cache_variables["EIGEN_ROPE_BUILD_BENCH"] = False
        toolchain.cache_variables["EIGEN_ROPE_BUILD_EXAMPLES"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        # Conan writes these for whoever uses the package.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))
        rmdir(self, os.path.join(self.package_folder, "share", "doc"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "eigen-rope")
        rope = self.cpp_info.components["rope"]
        rope.libs = ["eigen_rope"]
        rope.requires = ["eigen::eigen", "fmt::fmt", "highway::highway"]
        rope.set_property("cmake_target_name", "eigen_rope::rope")
        rope.set_property("pkg_config_name", "eigen-rope")
        if not self.options.shared:
            rope.defines = ["EIGEN_ROPE_STATIC"]
        if self.settings.os in ("Linux", "FreeBSD"):
            rope.system_libs = ["m"]
        if not self.options.with_models:
            return
        models = self.cpp_info.components["models"]
        models.libs = ["eigen_rope_models"]
        models.requires = ["rope", "fmt::fmt"]
        models.set_property("cmake_target_name", "eigen_rope::models")
        models.set_property("pkg_config_name", "eigen-rope-models")
