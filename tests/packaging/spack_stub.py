# SPDX-License-Identifier: Apache-2.0
"""Reads the package of packaging/spack as far as it goes without Spack: the functions of Spack that
it calls are here in a line each, and record what they are told. Spack itself is not tested.

usage: spack_stub.py    prints the versions, the variants and the arguments for CMake
"""

import pathlib
import runpy
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
REPO = ROOT / "packaging/spack/spack_repo/eigen_rope"
told = []


def recorder(name):
    return lambda *arguments, **options: told.append((name, arguments, options))


class CMakePackage:
    def define(self, name, value):
        return f"-D{name}={'ON' if value else 'OFF'}"

    def define_from_variant(self, name, variant):
        known = [arguments[0] for kind, arguments, _ in told if kind == "variant"]
        if variant not in known:
            sys.exit(f"package.py asks for the variant {variant}, which it does not have: {known}")
        return f"-D{name}={{{variant}}}"


def module(name, **content):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(content)


def main():
    directives = ("license", "version", "variant", "depends_on", "conflicts")
    module("spack")
    module("spack.package", **{name: recorder(name) for name in directives})
    for name in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        module(name)
    module("spack_repo.builtin.build_systems.cmake", CMakePackage=CMakePackage)

    if "namespace: eigen_rope" not in (REPO / "repo.yaml").read_text(encoding="utf-8"):
        sys.exit("repo.yaml must have the namespace eigen_rope, as its folder is called")
    package = runpy.run_path(str(REPO / "packages/eigen_rope/package.py"))["EigenRope"]()
    for name, arguments, options in told:
        print(name, *arguments, *(f"{key}={value}" for key, value in options.items()))
    print(*package.cmake_args())


if __name__ == "__main__":
    main()
