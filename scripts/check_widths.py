#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether comments and prose are at most 100 columns wide, and pages can be read.

usage: check_widths.py    names each line that is wider, each paragraph of a page that has more than
                          120 words, and each heading with the name of a file; exits 1 if there is
                          one

Looked at: comments of C++, CMake, shell and Python sources, and what is prose in Markdown, which is
everything but code (also that in HTML comments), tables, headings and images. The code itself is
clang-format's.
"""

import re
import subprocess
import sys

WIDTH = 100
WORDS = 120


def comments(lines, mark):
    """(number, line) of those lines that are comments and nothing else: the mark comes first."""
    return [(number, line) for number, line in lines if line.lstrip().startswith(mark)]


def prose(lines):
    """(number, line) of a Markdown page's prose."""
    found = []
    fenced = False
    hidden = False
    for number, line in lines:
        hidden = hidden or line.startswith("<!--")
        if hidden:
            hidden = "-->" not in line
        elif line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not re.match(r"    |\s*\||#|!\[|<", line):
            found.append((number, line))
    return found


def unreadable(lines):
    """(number, why) of a page's paragraphs that are too long, and of its headings with files."""
    found = []
    words, begin, last = 0, 0, 0
    for number, line in [*prose(lines), (None, "")]:
        if number is None or number != last + 1 or not line.strip() or re.match(r"\s*[-*\d]+\.? ", line):
            if words > WORDS:
                found.append((begin, f"the paragraph has {words} words"))
            words, begin = 0, number
        words += len(line.split())
        last = number
    for number, line in lines:
        if re.match(r"#+ .*(?<!llama)\.(hpp|cpp|h|md|sh|py|json|txt)\b", line):
            found.append((number, "the heading names a file"))
    return found


def main():
    patterns = ["*.cpp", "*.hpp", "*.c", "*.h", "*.sh", "*.py", "*.cmake", "*CMakeLists.txt", "*.md"]
    files = subprocess.run(
        ["git", "ls-files", *patterns], capture_output=True, text=True, check=True
    )
    wide = []
    for path in files.stdout.splitlines():
        with open(path, encoding="utf-8") as file:
            lines = list(enumerate(file.read().splitlines(), 1))
        if path.endswith(".md"):
            looked_at = prose(lines)
            wide += [f"{path}:{number}: {why}" for number, why in unreadable(lines)]
        else:
            marks = {"cpp": "//", "hpp": "//", "c": ("/*", "*"), "h": ("/*", "*")}
            looked_at = comments(lines, marks.get(path.rsplit(".")[-1], "#"))
        wide += [
            f"{path}:{number}: {len(line)} columns"
            for number, line in looked_at
            if len(line) > WIDTH
        ]
    for line in wide:
        print(line, file=sys.stderr)
    sys.exit(1 if wide else 0)


if __name__ == "__main__":
    main()
