# SPDX-License-Identifier: Apache-2.0
"""Which lines were reached, by a report of llvm-cov (export --format=lcov): for each file of the
folders lines, reached, percent and the lines that were not; last a line of all. Exit 1 if fewer
than --least percent were reached."""

import argparse
import itertools
import os
import sys

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("report")
parser.add_argument("folders", nargs="+")
parser.add_argument("--least", type=float, required=True)
arguments = parser.parse_args()

files = {}
with open(arguments.report, encoding="utf-8") as report:
    for record in report:
        kind, _, rest = record.strip().partition(":")
        if kind == "SF":
            name = os.path.relpath(rest)
            counts = (
                files.setdefault(name, {}) if name.split(os.sep)[0] in arguments.folders else {}
            )
        elif kind == "DA":
            line, count = (int(number) for number in rest.split(",")[:2])
            counts[line] = counts.get(line, 0) + count
if not files:
    sys.exit(f"{arguments.report} has no line of {', '.join(arguments.folders)}")


def spans(lines):
    """3-5,9 for 3, 4, 5 and 9."""
    runs = (
        list(run) for _, run in itertools.groupby(enumerate(lines), lambda pair: pair[1] - pair[0])
    )
    return ",".join(f"{run[0][1]}-{run[-1][1]}" if len(run) > 1 else str(run[0][1]) for run in runs)


def row(name, lines, missed, which=""):
    return f"{name:50} {lines:6} {lines - missed:6} {100 * (lines - missed) / lines:6.1f} %  {which}".rstrip()


all_lines = all_missed = 0
for name, counts in sorted(files.items()):
    missed = sorted(line for line, count in counts.items() if count == 0)
    all_lines += len(counts)
    all_missed += len(missed)
    print(row(name, len(counts), len(missed), spans(missed)))
print(row(" and ".join(arguments.folders), all_lines, all_missed))
sys.exit(100 * (all_lines - all_missed) < arguments.least * all_lines)
