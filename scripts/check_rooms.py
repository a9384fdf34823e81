# SPDX-License-Identifier: Apache-2.0
"""Checks that the rooms of docs/design.md are the folders, and that a room includes rooms below it
only.

usage: check_rooms.py    run by check_style.sh from the project's folder; prints each include that
leads up, exits 1 if there is one

The table under "## Rooms" lists the rooms from the ground up, one a row: `name`. A room is
include/eigen_rope/<name>/ and src/<name>/; the rooms of the program are src/tool/<name>/ and stand
above all others, in the order of the second table. A room that no row names, a row that no folder
has, and an include of a room further down the table are findings.
"""

import pathlib
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
TOP = {
    "eigen_rope.hpp",
    "version.hpp",
}  # the umbrella stands above all rooms of the library, the version below


def rooms_of(page):
    """The names in the first column of the tables under "## Rooms", in order."""
    part = page.split("\n## Rooms\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\| `([a-z/]+)` \|", part, re.MULTILINE)


def room_of(path):
    """The room a file stands in; nothing for what stands in none."""
    parts = path.split("/")
    if path.startswith("include/eigen_rope/"):
        return None if parts[2] in TOP else parts[2]
    if path.startswith("src/tool/"):
        return "tool/" + parts[2] if len(parts) > 3 else None
    return parts[1] if path.startswith("src/") and len(parts) > 2 else None


def target_of(name):
    """The room an include names."""
    return room_of("include/" + name) if name.startswith("eigen_rope/") else room_of("src/" + name)


def findings(files, rooms):
    floor = {room: number for number, room in enumerate(rooms)}
    present = {room_of(path) for path in files} - {None}
    for room in sorted(present - floor.keys()):
        yield f"the room {room} has files and no row under 'Rooms' in docs/design.md"
    for room in rooms:
        if room not in present:
            yield f"the room {room} has a row under 'Rooms' in docs/design.md and no file"
    for path in files:
        room = room_of(path)
        if room not in floor:
            continue
        for name in INCLUDE.findall(pathlib.Path(path).read_text(encoding="utf-8")):
            target = target_of(name)
            if target == room or target not in floor:
                if name == "eigen_rope/eigen_rope.hpp":
                    yield f"{path}: the room {room} includes the umbrella, which stands above all rooms"
                continue
            if floor[target] > floor[room]:
                yield f"{path}: the room {room} includes {name} of the room {target}, which stands above it"


def main():
    listed = subprocess.run(
        ["git", "ls-files", "include", "src"], check=True, capture_output=True, text=True
    ).stdout.split()
    files = [path for path in listed if path.endswith((".hpp", ".h", ".cpp", ".inc"))]
    rooms = rooms_of(pathlib.Path("docs/design.md").read_text(encoding="utf-8"))
    found = list(findings(files, rooms))
    for line in found:
        print(line, file=sys.stderr)
    if not found:
        print(f"rooms: {len(rooms)}, none includes one above it")
    return 1 if found else 0


sys.exit(main())
