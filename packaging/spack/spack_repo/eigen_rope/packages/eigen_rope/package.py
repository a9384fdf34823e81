# SPDX-License-Identifier: Apache-2.0
#
# Spack package of eigen-rope. It builds the source tree that it is given:
#
#     spack repo add packaging/spack/spack_repo/eigen_rope
#     spack dev-build --source-path . eigen-rope@develop
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class EigenRope(CMakePackage):
    """Rotary position embedding as a lazy Eigen Tensor expression, and what models' files say of
    theirs."""

    license("Apache-2.0")

    version("develop")

    variant("shared", default=True, description="Build shared libraries")
    variant("models", default=True, description="Build the reader of models' files")
    variant("tool", default=False, description="Build the command-line tool eigen-rope")

    depends_on("cxx", type="build")
    depends_on("cmake@3.21:", type="build")
    depends_on("eigen@3.4.0:5")
    depends_on("fmt@9.1.0:12")
    depends_on("highway@1.0.3:1")
    depends_on("nlohmann-json@3.11.2:3", when="+models", type="build")
    depends_on("cli11@2.1.2:2", when="+tool", type="build")

    conflicts("+tool", when="~models", msg="The tool reads models' files")

    def cmake_args(self):
        return [
            self.define("EIGEN_ROPE_BUILD_TESTS", False),
            self.define("EIGEN_ROPE_BUILD_BENCH", False),
            self.define("EIGEN_ROPE_BUILD_EXAMPLES", False),
            self.define_from_variant("EIGEN_ROPE_BUILD_MODELS", "models"),
            self.define_from_variant("EIGEN_ROPE_BUILD_TOOL", "tool"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
        ]
