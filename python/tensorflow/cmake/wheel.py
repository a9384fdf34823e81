# SPDX-License-Identifier: Apache-2.0
"""Writes what CMake must know of the TensorFlow of this Python, as commands of CMake."""

import sys
import sysconfig

import tensorflow as tf

version = tuple(map(int, tf.__version__.split(".")[:2]))
if version < (2, 18):
    sys.exit(1)
include = tf.sysconfig.get_include()
flags = [
    flag
    for flag in tf.sysconfig.get_compile_flags()
    if flag != f"-I{include}" and not flag.lstrip("-").startswith("std=")
]
library = next(flag[3:] for flag in tf.sysconfig.get_link_flags() if flag.startswith("-l:"))
for name, value in {
    "tensorflow_version": tf.__version__,
    "tensorflow_include": include,
    "tensorflow_flags": ";".join(flags),
    "tensorflow_library": f"{tf.sysconfig.get_lib()}/{library}",
    "site_packages": sysconfig.get_path("platlib"),
}.items():
    print(f"set({name} [[{value}]])")
