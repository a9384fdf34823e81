#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows a page to the letter: writes the files it shows, runs the commands it shows, and compares
what they print with what it shows.

usage: follow_page.py PAGE FOLDER      FOLDER holds what the page begins with, and is HOME

A comment before a block says what the block is:

    <!-- follow file NAME -->    the fenced block is the content of FOLDER/NAME
    <!-- follow run -->          the indented block is commands, run in FOLDER; where lines begin
                                 with $, they are the commands, and the others what must appear
    <!-- follow skip -->         the block is not followed: it needs root or changes the system

Every indented block of the page must say which it is. Exit code 1 at the first difference.
"""

import os
import re
import subprocess
import sys


def blocks_of(lines):
    """(line number, what the comment says, language or None, lines of the block), in order."""
    said, i = None, 0
    while i < len(lines):
        comment = re.fullmatch(r'<!-- follow (.*) -->', lines[i])
        if comment:
            said = comment.group(1)
        elif lines[i].startswith('<!--'):
            while '-->' not in lines[i]:
                i += 1
        elif lines[i].startswith('```'):
            begin = i
            while not lines[i + 1].startswith('```'):
                i += 1
            yield begin + 1, said, lines[begin][3:], lines[begin + 1 : i + 1]
            said, i = None, i + 1
        elif lines[i].startswith('    ') and not (lines[i - 1].strip() and not lines[i - 1].startswith('<!--')):
            begin = i
            while i + 1 < len(lines) and (lines[i + 1].startswith('    ') or not lines[i + 1]):
                i += 1
            yield begin + 1, said, None, [line[4:] for line in lines[begin : i + 1]]
            said = None
        i += 1


def commands_and_output(block):
    commands = [line[2:] for line in block if line.startswith('$ ')]
    if not commands:
        return block, None
    return commands, [line for line in block if not line.startswith('$ ') and line]


def main():
    page, folder = sys.argv[1], os.path.abspath(sys.argv[2])
    with open(page, encoding='utf-8') as file:
        lines = file.read().split('\n')
    environment = {**os.environ, 'HOME': folder}
    ran = written = 0
    for number, said, language, block in blocks_of(lines):
        where = f'{page}:{number}'
        if said is None:
            if language is None:
                raise SystemExit(f'{where}: this block does not say how it is followed')
            continue
        what, _, name = said.partition(' ')
        if what == 'skip':
            continue
        if what == 'file':
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as file:
                file.write('\n'.join(block) + '\n')
            written += 1
        elif what == 'run':
            commands, expected = commands_and_output(block)
            result = subprocess.run(
                ['bash', '-euc', '\n'.join(commands)],
                cwd=folder,
                env=environment,
                check=False,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            if result.returncode:
                raise SystemExit(f'{where}: these commands failed:\n{result.stdout}')
            printed = result.stdout.split('\n')[:-1]
            if expected is not None and printed != expected:
                raise SystemExit(
                    f'{where}: these commands must print\n'
                    + '\n'.join(expected)
                    + '\nand printed\n'
                    + '\n'.join(printed)
                )
            ran += 1
        else:
            raise SystemExit(f'{where}: "{said}" is no way to follow a block')
    if not ran or not written:
        raise SystemExit(f'{page} shows nothing that can be followed')
    print(f'{page}: {written} files, {ran} blocks of commands')


main()
