#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the loops over rows as the compiler made them.

Compiles the four files of the kernels as a release does, disassembles them, and lists every loop
over rows for each scalar, kernel and instruction set of x86: its instructions, what it loads and
stores, its spills and its moves between register files.

Words:
  loop over rows    A loop that multiplies vectors and stores vectors outside the stack, and has no
                    such loop inside. Its figures leave out the loops inside it, which copy what is
                    outside the window; those are loops of their own, of the kind `copy`.
  coefficients      Vectors that a loop reads from the stack and never writes there: those of a row
                    that are more than registers hold, or that a pass has prepared in memory.
  spill             Any other load from the stack or store to it. A vector's holds values; a general
                    register's holds a pointer, a step or a count.
  move              An instruction that takes a value from a general register to a vector or mask
                    register, or back.
  /64 B             Instructions for each 64 bytes that the loop writes.

All directions share these loops, so all of them belong to the forward pass.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- inner loops: begin -->\n", "<!-- inner loops: end -->\n"
EXPLAINED = ROOT / "scripts" / "inner_loops_explained.json"
SCALARS = ("float", "double", "half", "bfloat16")
TARGETS = {"SSE4": "SSE4", "AVX2": "AVX2", "AVX3": "AVX-512"}  # Highway's names, and the usual ones
CHECKED_TARGETS = ("AVX2", "AVX3")
KINDS = ("row", "row, copies inside", "copy")


class Failure(Exception):
    """What stops the script, in words for the user."""


# ---- From text to instructions ------------------------------------------------------------------

PREFIXES = {"notrack", "bnd", "lock", "rep", "repz", "repnz", "data16", "cs", "ds", "es", "rex.W"}
VECTOR = re.compile(r"%([xyz])mm\d+")
MASK = re.compile(r"%k[0-7]")
GENERAL = re.compile(r"%(?!rip\b|[c-gs]s\b|[xyz]mm|mm\d|k[0-7]|st\b)[a-z0-9]+")
MEMORY = re.compile(r"\(([^)]*)\)")
BYTES = {"x": 16, "y": 32, "z": 64}


@dataclasses.dataclass
class Instruction:
    address: int
    mnemonic: str
    operands: list[str]
    relocation: str = ""

    @property
    def target(self) -> int | None:
        """Where a direct jump inside the function goes. One with a relocation leaves it."""
        match = re.match(r"([0-9a-f]+)(?: <|$)", self.operands[0]) if self.operands else None
        return int(match.group(1), 16) if match and not self.relocation else None

    @property
    def is_nop(self) -> bool:
        return self.mnemonic.startswith("nop") or (
            self.mnemonic == "xchg" and self.operands == ["%ax", "%ax"]
        )

    @property
    def is_jump(self) -> bool:
        return self.mnemonic.startswith("j")

    @property
    def is_call(self) -> bool:
        return self.mnemonic.startswith("call")

    @property
    def ends_flow(self) -> bool:
        """Whether the next instruction is not reached from here, except by a jump."""
        return self.mnemonic.startswith(("jmp", "ret", "ud2", "hlt")) or (
            self.is_call
            and re.search(
                r"__throw_|__stack_chk_fail|_Unwind_Resume|__cxa_|abort|terminate",
                self.relocation or " ".join(self.operands),
            )
            is not None
        )

    @property
    def memory(self) -> str | None:
        """The operand that is in memory, if one is accessed there."""
        if self.mnemonic.startswith(("lea", "nop", "prefetch")):
            return None
        if (self.is_jump or self.is_call) and not self.operands[0].startswith("*"):
            return None
        return next((operand for operand in self.operands if MEMORY.search(operand)), None)

    @property
    def base(self) -> str:
        """The register that the address of the memory operand begins with."""
        return MEMORY.search(self.memory or "()").group(1).split(",")[0].strip()

    @property
    def registers(self) -> str:
        """The operands that are registers, without what addresses memory and without masks that
        decorate one."""
        return " ".join(
            re.sub(r"\{[^}]*\}", "", operand)
            for operand in self.operands
            if not MEMORY.search(operand)
        )

    @property
    def is_vector(self) -> bool:
        return VECTOR.search(self.registers) is not None

    @property
    def multiplies(self) -> bool:
        return re.match(r"v?mulp[sd]$|vf(n?m)(add|sub)\w*p[sd]$", self.mnemonic) is not None

    @property
    def moves_between_files(self) -> bool:
        if self.is_call:
            return False
        if re.match(r"vpmov(\w2m|m2\w)$", self.mnemonic):
            return True
        general = GENERAL.search(self.registers) is not None
        other = self.is_vector or MASK.search(self.registers) is not None
        return general and other

    @property
    def stores(self) -> bool:
        return (
            self.memory is not None
            and self.memory == self.operands[-1]
            and not self.is_jump
            and not self.is_call
            and not re.match(r"(cmp|test|push|bt)[bwlq]?$", self.mnemonic)
        )

    @property
    def loads(self) -> bool:
        """Also those that change a place in memory, such as add %rax,(%rsp)."""
        if self.memory is None:
            return False
        return not self.stores or not (
            self.is_vector or re.match(r"mov|set|pop|stos", self.mnemonic)
        )

    @property
    def bytes_stored(self) -> int:
        """What a vector's store writes."""
        name = self.mnemonic
        if re.match(r"v?(movq|mov[lh]p[sd]|movsd|pextrq)$", name):
            return 8
        if re.match(r"v?(movd|movss|pextrd|extractps)$", name):
            return 4
        if re.match(r"v?pextr[bw]$", name):
            return 1 if name.endswith("b") else 2
        if re.match(r"vextract[fi](128|\d+x\d)$", name):
            return 32 if name.endswith(("64x4", "32x8")) else 16
        width = BYTES[VECTOR.search(self.registers).group(1)]
        if re.match(r"vcvtps2ph|vpmov(u?s)?(wb|dw|qd)$", name):
            return width // 2
        if re.match(r"vpmov(u?s)?(db|qw)$", name):
            return width // 4
        return width

    @property
    def is_element(self) -> bool:
        """Whether a vector register holds one element here, as in loops without vectors."""
        return re.match(r"v?(movs[sd]|movd|pextr[bwd]|extractps)$", self.mnemonic) is not None


@dataclasses.dataclass
class Function:
    name: str
    instructions: list[Instruction]

    @property
    def frame_registers(self) -> set[str]:
        """The registers that point into the stack."""
        framed = any(i.operands == ["%rsp", "%rbp"] for i in self.instructions)
        return {"%rsp", "%rbp"} if framed else {"%rsp"}


def operands_of(text: str) -> list[str]:
    """The operands, which commas outside brackets separate."""
    parts, depth, part = [], 0, ""
    for sign in text:
        depth += (sign in "({<") - (sign in ")}>")
        if sign == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += sign
    return [*parts, part.strip()] if part.strip() else parts


def functions_of(text: str) -> list[Function]:
    """The functions that `objdump -dr -C --no-show-raw-insn` prints."""
    functions: list[Function] = []
    for line in text.splitlines():
        if header := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            functions.append(Function(header.group(1), []))
        elif moved := re.match(r"\s+[0-9a-f]+: R_X86_64_\w+\s+(.*)$", line):
            if functions and functions[-1].instructions:
                functions[-1].instructions[-1].relocation = moved.group(1)
        elif code := re.match(r"\s+([0-9a-f]+):\t(.+)$", line):
            words = re.sub(r"\s+#.*$", "", code.group(2)).split()
            while len(words) > 1 and words[0] in PREFIXES:
                words = words[1:]
            if not functions:
                raise Failure(
                    f"this line of the disassembly belongs to no function: {line.strip()}"
                )
            functions[-1].instructions.append(
                Instruction(int(code.group(1), 16), words[0], operands_of(" ".join(words[1:])))
            )
    return functions


# ---- From instructions to loops -----------------------------------------------------------------


@dataclasses.dataclass
class Loop:
    """Blocks that can be reached from one another. `inner` are the loops inside."""

    blocks: set[int]
    inner: list[Loop] = dataclasses.field(default_factory=list)

    @property
    def own_blocks(self) -> list[int]:
        return sorted(self.blocks.difference(*(loop.blocks for loop in self.inner)))

    def all(self) -> Iterator[Loop]:
        """This loop and all those inside it, innermost first."""
        for loop in self.inner:
            yield from loop.all()
        yield self


def blocks_of(function: Function) -> tuple[dict[int, list[Instruction]], dict[int, set[int]]]:
    """The basic blocks by their first address, and where each may go next."""
    code = function.instructions
    addresses = {i.address for i in code}
    first = {code[0].address} if code else set()
    for here, following in zip(code, [*code[1:], None]):
        if here.is_jump and here.target in addresses:
            first.add(here.target)
        if (here.is_jump or here.ends_flow) and following:
            first.add(following.address)
    blocks: dict[int, list[Instruction]] = {}
    for instruction in code:
        if instruction.address in first:
            blocks[instruction.address] = block = []
        block.append(instruction)
    following_block = dict(zip(blocks, [*list(blocks)[1:], None]))
    next_blocks: dict[int, set[int]] = {}
    for begin, block in blocks.items():
        last = block[-1]
        targets = {last.target} if last.is_jump else set()
        if not last.ends_flow:
            targets.add(following_block[begin])
        next_blocks[begin] = {target for target in targets if target in blocks}
    # What fills a gap behind a jump would look like a way into the loop that follows it.
    reached = set().union(*next_blocks.values())
    for begin in [b for b, block in blocks.items() if all(i.is_nop for i in block)]:
        if begin not in reached:
            del blocks[begin], next_blocks[begin]
    return blocks, next_blocks


def components(nodes: set[int], edges: dict[int, set[int]]) -> list[set[int]]:
    """The strongly connected components, by Tarjan's algorithm without recursion."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[set[int]] = []
    for root in sorted(nodes):
        if root in index:
            continue
        work = [(root, iter(sorted(edges[root] & nodes)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    stack.append(successor)
                    on_stack.add(successor)
                    work.append((successor, iter(sorted(edges[successor] & nodes))))
                    break
                if successor in on_stack:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = set()
                    while node not in component:
                        component.add(stack.pop())
                    on_stack -= component
                    found.append(component)
    return found


def loops_of(edges: dict[int, set[int]]) -> list[Loop]:
    """The outermost loops, each with those inside it. Wherever the compiler has put its blocks, a
    loop is what can be reached from itself, and the loops inside are what is left of it without the
    jumps to where it is entered."""

    def inside(nodes: set[int], left: dict[int, set[int]]) -> Iterator[Loop]:
        for component in components(nodes, left):
            if len(component) == 1 and not component & left[min(component)]:
                continue
            entries = {
                entry
                for block, targets in edges.items()
                if block not in component
                for entry in targets & component
            } or {min(component)}
            rest = {block: targets - entries for block, targets in left.items()}
            yield Loop(component, list(inside(component, rest)))

    return list(inside(set(edges), edges))


# ---- From loops to figures ----------------------------------------------------------------------


@dataclasses.dataclass
class Figures:
    """What a loop does in one iteration, without the loops inside it. A branch that is rarely taken
    counts like any other."""

    instructions: int = 0
    bytes_written: int = 0
    vector_loads: int = 0
    vector_stores: int = 0
    general_loads: int = 0
    constants: int = 0
    coefficients: int = 0
    vector_spills: int = 0
    general_spills: int = 0
    moves: int = 0
    calls: int = 0
    multiplications: int = 0

    @property
    def spills(self) -> int:
        return self.vector_spills + self.general_spills

    @property
    def per_64_bytes(self) -> float:
        return self.instructions * 64 / self.bytes_written


def figures_of(instructions: Iterable[Instruction], frame_registers: set[str]) -> Figures:
    figures = Figures()
    read, written = 0, 0  # vectors on the stack
    for i in instructions:
        if i.is_nop:
            continue
        figures.instructions += 1
        figures.calls += i.is_call
        figures.moves += i.moves_between_files
        figures.multiplications += i.multiplies and i.is_vector
        if i.mnemonic.startswith(("push", "pop")):
            figures.general_spills += 1
        elif i.memory is None:
            continue
        elif i.base in frame_registers:
            whole = i.is_vector and not re.match(r"v?mov[dq]$", i.mnemonic)
            read += whole and not i.stores
            written += whole and i.stores
            figures.general_spills += not whole
        elif i.base == "%rip":
            figures.constants += 1
        elif i.is_vector and i.stores:
            if not i.is_element:
                figures.vector_stores += 1
                figures.bytes_written += i.bytes_stored
        elif i.is_vector:
            figures.vector_loads += 1
        elif i.loads:
            figures.general_loads += 1
    # What a loop reads and never writes was made before it: coefficients that are more than
    # registers hold, or that a pass has prepared in memory.
    if written:
        figures.vector_spills = read + written
    else:
        figures.coefficients = read
    return figures


@dataclasses.dataclass
class RowLoop:
    """One loop over rows, or one that copies."""

    compiler: str
    function: str
    target: str
    scalar: str
    kernel: str
    table: str
    stores: str
    after: str
    kind: str
    address: int
    figures: Figures

    @property
    def name(self) -> str:
        return (
            f"{self.compiler}, {TARGETS.get(self.target, self.target)}, {self.scalar}, "
            f"{self.kernel}, {self.table} table, stores {self.stores}, after a row {self.after}, "
            f"{self.kind}, {self.figures.bytes_written} bytes"
        )


def enumerators(root: pathlib.Path = ROOT) -> dict[str, list[str]]:
    """The enumerators of the library's enumerations, by the names of these."""
    found: dict[str, list[str]] = {}
    for folder in ("include", "src/kernels"):
        for file in sorted((root / folder).rglob("*.hpp")):
            text = re.sub(r"//[^\n]*", "", file.read_text())
            for name, body in re.findall(r"enum class (\w+)[^{;]*\{([^}]*)\}", text):
                found[name] = re.findall(r"\w+", body)
    return found


def template_arguments(name: str, begin: int) -> tuple[list[str], int]:
    """The arguments between the angle brackets that open at `begin`, and the place behind them."""
    depth, end = 0, begin
    for end in range(begin, len(name)):
        depth += (name[end] == "<") - (name[end] == ">" and name[end - 1] != "-")
        if depth == 0:
            break
    return operands_of(name[begin + 1 : end]), end + 1


def described(name: str, enums: dict[str, list[str]]) -> dict[str, str]:
    """What a function's name says: scalar, kernel, target, width of the table, stores and what
    is done after a row. `-` stands for what it does not say."""

    def word(match: re.Match[str]) -> str:
        words, number = enums.get(match.group(1), []), int(match.group(2))
        return words[number] if number < len(words) else f"{match.group(1)}({number})"

    def value(enum: str) -> str:
        match = re.search(rf"\([\w:]*\b({enum})\)(\d+)", name)
        return word(match) if match else "-"

    result = {
        "kernel": "-",
        "table": value("TableWidth"),
        "stores": value("Stores"),
        "after": value("AfterRow"),
    }
    scalars = {"Eigen::bfloat16": "bfloat16", "Eigen::half": "half", "double": "double"}
    result["scalar"] = next((scalars[s] for s in scalars if s in name), "float")
    target = re.search(r"\bN_(\w+)::", name)
    result["target"] = target.group(1) if target else "-"
    if kernel := re.search(r"\b(\w+)Kernel<", name):
        arguments, _ = template_arguments(name, kernel.end() - 1)
        words = [
            re.sub(r"\([\w:]*?(\w+)\)(\d+)", word, argument)
            for argument in arguments
            if argument not in (*scalars, "float") and "TableWidth)" not in argument
        ]
        result["kernel"] = f"{kernel.group(1)}({', '.join(words)})" if words else kernel.group(1)
    return result


def row_loops_of(text: str, compiler: str, enums: dict[str, list[str]]) -> list[RowLoop]:
    """The loops over rows, and those that copy, of what objdump prints of one file."""
    found: list[RowLoop] = []
    for function in functions_of(text):
        description = described(function.name, enums)
        if description["target"] == "-":
            continue
        blocks, edges = blocks_of(function)
        row: set[int] = set()  # the blocks of loops over rows
        for outermost in loops_of(edges):
            for loop in outermost.all():
                figures = figures_of(
                    (i for block in loop.own_blocks for i in blocks[block]),
                    function.frame_registers,
                )
                if figures.vector_stores == 0 or row & loop.blocks:
                    continue
                if figures.multiplications:
                    row |= loop.blocks
                    kind = KINDS[1] if loop.inner else KINDS[0]
                elif loop.inner:
                    continue
                else:
                    kind = KINDS[2]
                found.append(
                    RowLoop(
                        compiler=compiler,
                        function=function.name,
                        **description,
                        kind=kind,
                        address=min(loop.blocks),
                        figures=figures,
                    )
                )
    return found


# ---- Objects ------------------------------------------------------------------------------------


def output_of(*command: str | pathlib.Path) -> str:
    """What a command prints. Its own messages are shown if it fails."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "LC_ALL": "C"}
        )
    except OSError as error:
        raise Failure(f"{words[0]} could not be started: {error.strerror}") from error
    if done.returncode != 0:
        sys.stderr.write(done.stdout + done.stderr)
        raise Failure(f"this command failed, its messages are above: {shlex.join(words)}")
    return done.stdout


def compiled_by(compiler: str) -> list[pathlib.Path]:
    """The objects of the kernels, compiled as the preset library compiles them."""
    if shutil.which(compiler) is None:
        raise Failure(f"--compiler must be a compiler that is installed, got {compiler}")
    folder = ROOT / "build" / f"inner_loops-{pathlib.Path(compiler).name}"
    output_of(
        "cmake",
        "--preset",
        "library",
        "-B",
        folder,
        f"-DCMAKE_CXX_COMPILER={compiler}",
        "-DCMAKE_CXX_FLAGS=",
        "-DCMAKE_UNITY_BUILD=OFF",
    )
    wanted = {str(ROOT / "src" / "kernels" / f"{scalar}.cpp") for scalar in SCALARS}
    objects = []
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        if entry["file"] in wanted:
            words = shlex.split(entry["command"])
            objects.append(words[words.index("-o") + 1])
    if len(objects) != len(wanted):
        raise Failure(
            f"{folder}/compile_commands.json must name {len(wanted)} files of kernels, "
            f"got {len(objects)}"
        )
    output_of("cmake", "--build", folder, "--target", *objects)
    return [folder / name for name in objects]


def compiler_of(path: pathlib.Path) -> str:
    """The name and version that the compiler has left in an object."""
    text = output_of("readelf", "-p", ".comment", path)
    if match := re.search(r"clang version (\d+(\.\d+)?)", text):
        return f"Clang {match.group(1)}"
    match = re.search(r"GCC: \(.*\) (\d+(\.\d+)?)", text)
    return f"GCC {match.group(1)}" if match else "unknown compiler"


def loops_of_object(path: pathlib.Path, enums: dict[str, list[str]]) -> list[RowLoop]:
    if not path.is_file():
        raise Failure(f"--object must be a file, got {path}")
    text = output_of("objdump", "-dr", "-C", "--no-show-raw-insn", path.resolve())
    if "x86-64" not in text[:1000]:
        raise Failure(f"--object must hold code for x86-64, got {path}")
    loops = row_loops_of(text, compiler_of(path.resolve()), enums)
    if not any(loop.figures.multiplications for loop in loops):
        raise Failure(f"--object must hold loops over rows, got none in {path}")
    return loops


# ---- Output -------------------------------------------------------------------------------------


def listing(loops: list[RowLoop]) -> str:
    words = "compiler target scalar kernel table stores after kind".split()
    numbers = (
        "instructions,bytes,/64 B,loads,stores,constants,general loads,coefficients,"
        "vector spills,general spills,moves,calls"
    ).split(",")
    rows = [[*words, *numbers]]
    for loop in loops:
        f = loop.figures
        counted = [f.vector_loads, f.vector_stores, f.constants, f.general_loads]
        counted += [f.coefficients, f.vector_spills, f.general_spills, f.moves, f.calls]
        said = [loop.compiler, TARGETS.get(loop.target, loop.target), loop.scalar, loop.kernel]
        said += [loop.table, loop.stores, loop.after, loop.kind]
        sizes = [str(f.instructions), str(f.bytes_written), f"{f.per_64_bytes:.1f}"]
        rows.append([*said, *sizes, *map(str, counted)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.rjust(width) if column >= len(words) else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([*lines, "", *counts(loops)]) + "\n"


def counts(loops: list[RowLoop]) -> Iterator[str]:
    """One line for each compiler, instruction set and kind of loop."""
    for compiler in sorted({loop.compiler for loop in loops}):
        for target in sorted({loop.target for loop in loops}, key=[*TARGETS].index):
            for kind in KINDS:
                these = [
                    loop.figures
                    for loop in loops
                    if (loop.compiler, loop.target, loop.kind) == (compiler, target, kind)
                ]
                yield (
                    f"{compiler}, {TARGETS[target]}, {kind}: {len(these)} loops, "
                    f"{sum(f.spills > 0 for f in these)} with spills, "
                    f"{sum(f.moves > 0 for f in these)} with moves between register files"
                )


def cell(loops: list[RowLoop]) -> str:
    """Instructions for each 64 bytes of the loop that writes most, through the cache and with a
    table of half the width where there are several; and the most spills and moves of all loops."""
    if not loops:
        return "-"
    widest = max(
        loops,
        key=lambda loop: (
            loop.stores != "streaming",
            loop.table != "full",
            loop.figures.bytes_written,
            -loop.figures.instructions,
        ),
    )
    spills = max(loop.figures.spills for loop in loops)
    moves = max(loop.figures.moves for loop in loops)
    return f"{widest.figures.per_64_bytes:.1f} / {spills} / {moves}"


def markdown(loops: list[RowLoop], explained: list[dict]) -> str:
    compilers = sorted({loop.compiler for loop in loops}, reverse=True)
    columns = [
        (target, compiler)
        for target in TARGETS
        for compiler in compilers
        if any((loop.target, loop.compiler) == (target, compiler) for loop in loops)
    ]
    heads = [f"{TARGETS[target]}, {compiler}" for target, compiler in columns]
    lines = [f"| loop | {' | '.join(heads)} |", "| --- |" + " --- |" * len(columns)]
    groups_of_table: list[tuple[str, list[RowLoop]]] = []
    for scalar in SCALARS:
        of_scalar = [loop for loop in loops if loop.scalar == scalar]
        kernels = sorted({loop.kernel for loop in of_scalar} - {"-"})
        groups = [
            (
                f"{scalar}, `{kernel}`",
                [loop for loop in of_scalar if loop.kind == KINDS[0] and loop.kernel == kernel],
            )
            for kernel in kernels
        ]
        groups.append(
            (f"{scalar}, {KINDS[1]}", [loop for loop in of_scalar if loop.kind == KINDS[1]])
        )
        groups_of_table += [(name, group) for name, group in groups if group]
    groups_of_table.append(
        (f"every scalar, {KINDS[2]}", [loop for loop in loops if loop.kind == KINDS[2]])
    )
    for name, group in groups_of_table:
        cells = [
            cell([loop for loop in group if (loop.target, loop.compiler) == column])
            for column in columns
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += [""] if explained else []
    for entry in explained:
        words = [
            str(TARGETS.get(value, value))
            for key, value in entry.items()
            if key not in ("reason", *LIMITS)
        ]
        text = f"- **{', '.join(words) or 'all loops'}**: {entry['reason']}"
        lines += [*textwrap.wrap(text, 100, subsequent_indent="  ", break_on_hyphens=False)]
    return "\n".join(lines) + "\n"


# ---- Check --------------------------------------------------------------------------------------

KEYS = ("compiler", "target", "scalar", "kernel", "table", "stores", "after", "kind")
LIMITS = ("spills", "moves")


def read_explained(path: pathlib.Path = EXPLAINED) -> list[dict]:
    """The loops with spills or moves that are explained. Each entry has a `reason`, the words of
    KEYS that a loop must have (a compiler by how its name begins, such as GCC), and how many
    `spills` and `moves` are explained, none if it does not say."""
    entries = json.loads(path.read_text())
    for entry in entries:
        for key in entry:
            if key not in (*KEYS, *LIMITS, "reason"):
                raise Failure(
                    f"{path.name}: a key must be one of "
                    f"{', '.join((*KEYS, *LIMITS, 'reason'))}, got {key}"
                )
        if not entry.get("reason"):
            raise Failure(f"{path.name}: an entry must have a reason, got {json.dumps(entry)}")
    return entries


def matches(entry: dict, loop: RowLoop) -> bool:
    """Whether an entry is about a loop, however many spills and moves that has."""
    return loop.compiler.startswith(entry.get("compiler", "")) and all(
        entry[key] == getattr(loop, key) for key in KEYS[1:] if key in entry
    )


def problems(loops: list[RowLoop], explained: list[dict]) -> list[str]:
    """The innermost loops over rows on AVX2 and AVX-512 with spills or moves that no entry
    explains, and the entries that explain none."""
    found = []
    used: set[int] = set()
    for loop in loops:
        figures = loop.figures
        if loop.target not in CHECKED_TARGETS or loop.kind != KINDS[0]:
            continue
        if figures.spills + figures.moves == 0:
            continue
        reasons = [
            number
            for number, entry in enumerate(explained)
            if matches(entry, loop)
            and figures.spills <= entry.get("spills", 0)
            and figures.moves <= entry.get("moves", 0)
        ]
        used |= set(reasons)
        if not reasons:
            found.append(
                f"{loop.name}, at {loop.address:#x}: {figures.vector_spills} spills of vectors, "
                f"{figures.general_spills} of general registers, {figures.moves} moves"
            )
    compilers = {loop.compiler for loop in loops}
    for number, entry in enumerate(explained):
        if number not in used and any(c.startswith(entry.get("compiler", "")) for c in compilers):
            found.append(f"this entry of {EXPLAINED.name} explains no loop: {json.dumps(entry)}")
    return found


def arguments_of(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--compiler",
        action="append",
        metavar="NAME",
        help="compile with this one, in build/inner_loops-NAME; may be given more "
        "than once (default: g++ and clang++)",
    )
    source.add_argument(
        "--object",
        nargs="+",
        type=pathlib.Path,
        metavar="FILE",
        help="read these files instead of compiling",
    )
    output = parser.add_mutually_exclusive_group()
    output.add_argument(
        "--markdown", action="store_true", help="print the table of docs/performance.md"
    )
    output.add_argument(
        "--write", action="store_true", help="put that table into docs/performance.md"
    )
    output.add_argument(
        "--check",
        action="store_true",
        help="exit 1 and name each innermost loop over rows on AVX2 or AVX-512 with a spill "
        f"or a move that {EXPLAINED.name} does not explain",
    )
    return parser.parse_args(words)


def write_page(table: str) -> None:
    parts = re.split(f"({re.escape(BEGIN)}|{re.escape(END)})", PAGE.read_text())
    if len(parts) != 5 or (parts[1], parts[3]) != (BEGIN, END):
        raise Failure(f"{PAGE} must have the lines {BEGIN.strip()} and {END.strip()} once")
    PAGE.write_text("".join([*parts[:2], "\n" + table + "\n", *parts[3:]]))


def main(words: list[str] | None = None) -> int:
    arguments = arguments_of(words)
    try:
        explained = read_explained()
        objects = arguments.object or [
            path
            for compiler in arguments.compiler or ["g++", "clang++"]
            for path in compiled_by(compiler)
        ]
        enums = enumerators()
        loops = [loop for path in objects for loop in loops_of_object(path, enums)]
        loops.sort(
            key=lambda loop: (
                loop.compiler,
                SCALARS.index(loop.scalar),
                [*TARGETS].index(loop.target),
                KINDS.index(loop.kind),
                loop.kernel,
                loop.table,
                loop.stores,
                loop.after,
                loop.figures.bytes_written,
            )
        )
        if arguments.check:
            found = problems(loops, explained)
            for line in found:
                print(f"error: {line}", file=sys.stderr)
            checked = sum(loop.target in CHECKED_TARGETS for loop in loops)
            print(f"inner loops: {checked} on AVX2 and AVX-512, {len(found)} to be explained")
            return 1 if found else 0
        if arguments.write:
            write_page(markdown(loops, explained))
        else:
            print(markdown(loops, explained) if arguments.markdown else listing(loops), end="")
        return 0
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
