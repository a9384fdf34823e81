#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the library's public names by room, from the headers, and keeps the list in docs/design.md.

A public name is what a header outside detail/ declares in a namespace other than detail: classes,
enumerations, aliases, functions and constants, each name once however many overloads it has; and
the types and functions of the C headers.
Members, enumerators and operators such as == are not counted. A name of the library's own rooms
must be used by the code of a page, by an example or by a program: what none of them uses is not
public.

usage: scripts/public_names.py            prints the names of each room, and what no page, example
or program uses
       scripts/public_names.py --write    puts the list into docs/design.md
       scripts/public_names.py --check    exits 1 if that list is stale, or if nothing uses one of
                                          the names
"""

from __future__ import annotations

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include" / "eigen_rope"
PAGE = ROOT / "docs" / "design.md"
BEGIN, END = "<!-- public names: begin -->\n", "<!-- public names: end -->\n"
OUTSIDE = ("operators", "models")  # rooms of the outside world, whose names are other systems'
ABI = "EIGEN_ROPE_ABI"  # the inline namespace, which nobody names
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|^[
    \t]*\#(?:\\\n|[^\n])*|(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')"""
    r"""|(?P<word>[A-Za-z_]\w*)|(?P<other>::|->|\[\[|\]\]|[^\s\w])|\d[\w.']*|\s+""",
    re.S | re.M,
)
CLOSING = {"(": ")", "{": "}", "[": "]", "[[": "]]"}


def tokens_of(text: str) -> list[str]:
    """Words and signs, without comments, strings, numbers and preprocessor lines."""
    return [match.group() for match in TOKEN.finditer(text) if match.lastgroup in ("word", "other")]


def skip(tokens: list[str], i: int) -> int:
    """The place behind the bracket that closes the one at i."""
    depth = 0
    opening, closing = tokens[i], CLOSING[tokens[i]]
    while i < len(tokens):
        depth += (tokens[i] == opening) - (tokens[i] == closing)
        i += 1
        if depth == 0:
            return i
    raise ValueError(f"{opening} is not closed")


def skip_angles(tokens: list[str], i: int) -> int:
    """The place behind the > that closes the < at i."""
    depth = 0
    while i < len(tokens):
        if tokens[i] in CLOSING:
            i = skip(tokens, i)
            continue
        depth += (tokens[i] == "<") - (tokens[i] == ">")
        i += 1
        if depth == 0:
            return i
    raise ValueError("< is not closed")


def declared_in(tokens: list[str], i: int) -> tuple[str | None, int]:
    """The name that the declaration at i declares, if it declares one, and the place behind it."""
    name, kind, last = None, None, None
    while i < len(tokens):
        token = tokens[i]
        if token in ("template", "requires") and i + 1 < len(tokens) and tokens[i + 1] == "<":
            i = skip_angles(tokens, i + 1)
        elif token in ("class", "struct", "enum", "union") and kind is None:
            kind, i = "type", i + 1
        elif token in ("using", "namespace") and kind is None:
            kind, i = "alias", i + 1
        elif token in ("static_assert", "friend") and kind is None:
            kind, name, i = "none", None, i + 1
        elif token == "operator":
            kind, i = "none", i + 1
        elif token == "<" and kind != "none":
            i = skip_angles(tokens, i)
        elif token == "(":
            if (
                kind is None
                and last is not None
                and last not in ("decltype", "alignas", "noexcept", "__attribute__")
            ):
                member = i >= 2 and tokens[i - 2] == "::"
                kind, name = "function", None if member else last
            i = skip(tokens, i)
        elif token in ("[", "[["):
            i = skip(tokens, i)
        elif token == "{":
            if kind is None:
                kind, name = "constant", last
            i = skip(tokens, i)
            if kind == "function" or (kind == "none" and (i == len(tokens) or tokens[i] != ";")):
                return name, i
        elif token == ";":
            if kind is None:
                name = last
            return (None if kind == "none" else name), i + 1
        elif token == "=":
            if kind is None:
                kind, name = "constant", last
            while tokens[i] != ";":
                i = skip(tokens, i) if tokens[i] in CLOSING else i + 1
        else:
            if re.match(r"[A-Za-z_]", token):
                if (
                    kind in ("type", "alias")
                    and name is None
                    and token not in ("class", "final", "alignas")
                    and not token.isupper()
                ):
                    if not token.startswith("EIGEN_ROPE_"):
                        name = token
                last = token
            i += 1
    return None, i


def names_in(text: str) -> set[str]:
    """The public names that a header declares, those of namespaces inside eigen_rope with the
    namespace's name."""
    tokens, names, scopes, i = tokens_of(text), set(), [], 0
    while i < len(tokens):
        if tokens[i] == "namespace" or tokens[i : i + 2] == ["inline", "namespace"]:
            j = i + 1
            scope = []
            while tokens[j] not in ("{", "=", ";"):
                if re.match(r"[A-Za-z_]", tokens[j]) and tokens[j] not in ("namespace", ABI):
                    scope.append(tokens[j])
                j += 1
            if tokens[j] == "{":
                scopes.append(scope)
                i = j + 1
                continue
        if tokens[i] == "}":
            scopes.pop()
            i += 1
            continue
        path = [name for scope in scopes for name in scope]
        name, i = declared_in(tokens, i)
        if name and path[:1] == ["eigen_rope"] and "detail" not in path:
            names.add("::".join([*path[1:], name]))
    return names


def names_in_c(text: str) -> set[str]:
    """The types and functions that a C header declares; its macros and enumerators count no more
    than members."""
    return {token for token in tokens_of(text) if re.fullmatch(r"eigen_rope_\w+", token)}


def public_names() -> dict[str, set[str]]:
    """The names of each room, in the order of docs/design.md."""
    rooms: dict[str, set[str]] = {
        room: set() for room in re.findall(r"^\| `(\w+)` \|", PAGE.read_text(), re.M)
    }
    for header in sorted(HEADERS.rglob("*.h")):
        rooms[header.relative_to(HEADERS).parts[0]] |= names_in_c(header.read_text())
    for header in sorted(HEADERS.rglob("*.hpp")):
        if "detail" in header.parts or header.parent == HEADERS:
            continue
        rooms[header.relative_to(HEADERS).parts[0]] |= names_in(header.read_text())
    seen: set[str] = set()
    for names in rooms.values():
        names -= seen
        seen |= names
    return {room: names for room, names in rooms.items() if names}


def code_of_page(text: str) -> str:
    """What a page sets as code: blocks, hidden ones included, and words between backticks. The list
    of names itself is left out."""
    text = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), "", text, flags=re.S)
    block = re.compile(r"^```.*?^```|<!-- cpp.*?-->", re.S | re.M)
    return "\n".join(block.findall(text) + re.findall(r"`[^`\n]+`", block.sub("", text)))


def unused(rooms: dict[str, set[str]]) -> list[str]:
    """Names of the library's own rooms that no page, example or program uses."""
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    programs = [
        file
        for folder in ("examples", "src/tool", "docs/figures", "bench")
        for pattern in ("*.[ch]pp", "*.c")
        for file in (ROOT / folder).rglob(pattern)
    ]
    texts = [code_of_page(page.read_text()) for page in pages] + [
        program.read_text() for program in programs
    ]
    words = {word for text in texts for word in re.findall(r"\w+", text)}
    own = (names for room, names in rooms.items() if room not in OUTSIDE)
    return sorted(name for names in own for name in names if name.split("::")[-1] not in words)


def table_of(rooms: dict[str, set[str]]) -> str:
    counts = {
        part: sum(len(names) for room, names in rooms.items() if (room in OUTSIDE) == part)
        for part in (False, True)
    }
    lines = [f"{counts[False]} names, and {counts[True]} of operators and models:\n"]
    for room, names in rooms.items():
        text = f"- **{room}**, {len(names)}: {', '.join(f'`{name}`' for name in sorted(names, key=lambda name: (name.lower(), name)))}"
        lines += [
            "\n",
            *(
                line + "\n"
                for line in textwrap.wrap(text, 100, subsequent_indent="  ", break_on_hyphens=False)
            ),
        ]
    return "".join(lines)


def main() -> int:
    arguments = sys.argv[1:]
    if arguments not in ([], ["--write"], ["--check"]):
        print(__doc__)
        return 0 if arguments in (["-h"], ["--help"]) else 2
    rooms = public_names()
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    old, after = rest.split(END)
    if arguments == ["--write"]:
        PAGE.write_text(before + BEGIN + table_of(rooms) + END + after)
        return 0
    if arguments == ["--check"]:
        errors = [
            f"no page, example or program uses {name}: name it where a user meets it, or move it to namespace detail"
            for name in unused(rooms)
        ]
        if old != table_of(rooms):
            errors.append(
                "the public names in docs/design.md are stale: run scripts/public_names.py --write"
            )
        for error in errors:
            print(f"error: {error}", file=sys.stderr)
        return 1 if errors else 0
    print(table_of(rooms), end="")
    print(f"\nused by no page, example or program: {', '.join(unused(rooms)) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
