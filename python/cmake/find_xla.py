# SPDX-License-Identifier: Apache-2.0
"""Prints the folder of XLA's headers in a jaxlib, or nothing."""

import glob
import importlib.util
import os
import sys
import sysconfig


def candidates():
    spec = importlib.util.find_spec("jaxlib")
    if spec is not None:
        yield from spec.submodule_search_locations or ()
    for name in ("purelib", "platlib"):
        yield os.path.join(sysconfig.get_paths()[name], "jaxlib")
    if "VIRTUAL_ENV" in os.environ:
        pattern = os.path.join(os.environ["VIRTUAL_ENV"], "lib", "python*", "site-packages")
        for folder in sorted(glob.glob(pattern), reverse=True):
            yield os.path.join(folder, "jaxlib")


for folder in candidates():
    include = os.path.join(folder, "include")
    if os.path.exists(os.path.join(include, "xla", "ffi", "api", "c_api.h")):
        sys.stdout.write(include)
        break
