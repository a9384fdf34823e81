# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
# What calls leave in memory.
sys.path.append(str(Path(__file__).parents[2] / "tests"))
