#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether a program's mistakes are refused by the compiler, each in the words expected: see
refused.hpp.

usage: check_refused.py SOURCE COMPILER [OPTION...]
"""

import os
import re
import subprocess
import sys


def compiled(source, command, *options):
    """The compiler's exit status and what it says, notes included."""
    environment = dict(os.environ, LC_ALL="C")
    result = subprocess.run(
        [*command, "-fsyntax-only", *options, source],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    return result.returncode, result.stdout + result.stderr


def errors_by_line(source, output):
    """(line of the source or None, message) of each error, whether GCC's (which says first where it
    comes from) or Clang's."""
    name = re.escape(source)
    own = re.compile(name + r":(\d+):\d+: (?:fatal )?error: ")
    gcc = re.compile(name + r":(\d+):\d+:\s+required from")
    clang = re.compile(name + r":(\d+):\d+: note: (?:in instantiation|while substituting)")
    lines = output.splitlines()
    errors = [i for i, line in enumerate(lines) if re.search(r": (fatal )?error: ", line)]
    found = []
    for position, i in enumerate(errors):
        begin = errors[position - 1] + 1 if position > 0 else 0
        end = errors[position + 1] if position + 1 < len(errors) else len(lines)
        here = own.search(lines[i])
        before = [match for line in lines[begin:i] if (match := gcc.search(line))]
        after = [match for line in lines[i:end] if (match := clang.search(line))]
        place = here or (before or after or [None])[-1]
        found.append((int(place.group(1)) if place else None, lines[i]))
    return found


def marked_statements(source):
    """{first line: (last line, words)} of the statements that marks stand before."""
    with open(source, encoding="utf-8") as file:
        lines = file.read().splitlines()
    statements = {}
    for number, line in enumerate(lines, 1):
        mark = re.match(r"\s*// refused: (.*)", line)
        if mark:
            last = next(i for i in range(number + 1, len(lines) + 1) if lines[i - 1].endswith(";"))
            statements[number + 1] = last, mark.group(1).strip()
    return statements


def main():
    source, command = sys.argv[1], sys.argv[2:]
    expected = marked_statements(source)
    assert expected, f"{source} marks no mistakes"

    status, output = compiled(source, command, "-DEIGEN_ROPE_WITHOUT_MISTAKES")
    assert status == 0, f"without its mistakes {source} must compile:\n{output}"
    status, output = compiled(
        source, command, "-ferror-limit=0" if "clang" in command[0] else "-fmax-errors=0"
    )
    assert status != 0, f"{source} must not compile"
    wrong = []
    for line, message in errors_by_line(source, output):
        first = next((f for f, (last, _) in expected.items() if line and f <= line <= last), None)
        words = expected.pop(first)[1] if first else None
        if words is None or words not in message:
            wanted = repr(words) if words else "no error, or no second one"
            wrong.append(f"line {line}: expected {wanted}: {message}")
    wrong += [f"line {line} is not refused: {words}" for line, (_, words) in expected.items()]
    assert not wrong, "\n".join([output, f"{source}:", *wrong])


if __name__ == "__main__":
    main()
