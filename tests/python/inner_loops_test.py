# SPDX-License-Identifier: Apache-2.0
"""Whether scripts/inner_loops.py sees what a hand-made disassembly holds (inner_loops.txt): loops
with spills and with moves between register files, one without either, and loops that copy or have
been unrolled. The places of blocks, fillers and jumps between functions are those that compilers
make.

    python inner_loops_test.py
"""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "scripts"))

import inner_loops

ENUMS = {
    "Members": ["separate", "adjacent"],
    "TableWidth": ["half", "full"],
    "Stores": ["cached", "streaming"],
    "AfterRow": ["nothing", "copies", "writes_lines"],
}
LOOPS = inner_loops.row_loops_of((HERE / "inner_loops.txt").read_text(), "GCC 12.2", ENUMS)


def loop_at(address):
    found = [loop for loop in LOOPS if loop.address == address]
    assert len(found) == 1, f"at {address:#x}: expected one loop, got {len(found)}"
    return found[0]


def figures(address, *names):
    return tuple(getattr(loop_at(address).figures, name) for name in names)


def instruction(text):
    words = text.split(maxsplit=1)
    operands = inner_loops.operands_of(words[1]) if len(words) > 1 else []
    return inner_loops.Instruction(0, words[0], operands)


class Loops(unittest.TestCase):
    def test_all_are_found_and_no_other(self):
        self.assertEqual(
            [(loop.address, loop.kind) for loop in sorted(LOOPS, key=lambda loop: loop.address)],
            [
                (0x28, "row"),
                (0x70, "row"),
                (0xC6, "row"),
                (0x110, "row, copies inside"),
                (0x120, "copy"),
                (0x190, "row"),
                (0x1E2, "copy"),
            ],
        )

    def test_names_say_kernel_and_target(self):
        words = ("target", "scalar", "kernel", "table", "stores", "after")

        def of(address):
            return tuple(getattr(loop_at(address), word) for word in words)

        self.assertEqual(
            of(0x28), ("AVX2", "float", "Apart(separate, adjacent)", "half", "cached", "nothing")
        )
        self.assertEqual(of(0x70), ("AVX3", "half", "Neighbour", "full", "streaming", "nothing"))
        self.assertEqual(of(0xC6), ("AVX3", "bfloat16", "EvenOdd", "half", "cached", "nothing"))
        self.assertEqual(
            of(0x110), ("AVX2", "double", "Apart(separate, separate)", "half", "cached", "copies")
        )
        self.assertEqual(
            of(0x190), ("SSE4", "float", "Apart(Members(7), separate)", "half", "-", "-")
        )

    def test_clean_loop(self):
        # %rbp is a pointer there; the constant and the nops count as neither.
        names = ("instructions", "vector_loads", "constants", "vector_stores", "spills", "moves")
        self.assertEqual(figures(0x28, *names), (7, 1, 1, 1, 0, 0))
        # What objdump writes behind a jump looks like memory.
        self.assertEqual(figures(0x28, "general_loads"), (0,))
        self.assertEqual(loop_at(0x28).figures.per_64_bytes, 14)

    def test_spills(self):
        # Through %rsp and the frame pointer; vectors that are only read are coefficients.
        self.assertEqual(figures(0x70, "coefficients", "general_spills", "moves"), (2, 2, 0))
        self.assertEqual(figures(0x70, "vector_spills"), (0,))
        self.assertEqual(figures(0x70, "vector_stores", "bytes_written"), (2, 32))

    def test_a_vector_that_is_written_to_the_stack_is_a_spill(self):
        written = [
            instruction(text)
            for text in (
                "vmovaps %zmm0,0x40(%rsp)",
                "vmulps 0x40(%rsp),%zmm1,%zmm2",
                "vmovups %zmm2,(%rax)",
            )
        ]
        found = inner_loops.figures_of(written, {"%rsp"})
        self.assertEqual((found.vector_spills, found.coefficients), (2, 0))

    def test_moves_between_register_files(self):
        # vmovq, kmovd, vpinsrq and vpbroadcastq from registers; not those from memory.
        self.assertEqual(figures(0xC6, "moves", "vector_loads", "instructions"), (4, 2, 12))
        # A pointer that is spilled comes back through a vector register.
        self.assertEqual(figures(0xC6, "vector_spills", "general_spills"), (0, 1))

    def test_loops_inside_are_counted_apart(self):
        self.assertEqual(figures(0x110, "instructions", "bytes_written", "calls"), (11, 32, 1))
        self.assertEqual(figures(0x110, "vector_spills"), (1,))
        self.assertEqual(figures(0x120, "instructions", "bytes_written", "spills"), (5, 32, 0))

    def test_what_is_left_of_an_unrolled_loop_is_none(self):
        self.assertEqual(figures(0x190, "instructions", "bytes_written", "coefficients"), (6, 16, 1))


class Instructions(unittest.TestCase):
    def one(self, text):
        return instruction(text)

    def test_bytes_stored(self):
        expected = {
            "vmovups %zmm0,(%rax)": 64,
            "vmovntps %ymm0,(%rax,%rcx,8)": 32,
            "movups %xmm0,0x10(%rax)": 16,
            "vcvtps2ph $0x4,%zmm1,(%rax)": 32,
            "vcvtps2ph $0x4,%xmm1,(%rax)": 8,
            "vpmovdw %zmm1,(%rax)": 32,
            "vextractf128 $0x1,%ymm1,(%rax)": 16,
            "vextracti64x4 $0x1,%zmm1,(%rax)": 32,
            "vextractf32x4 $0x1,%zmm1,(%rax)": 16,
            "vmovhpd %xmm1,(%rax)": 8,
            "vpextrq $0x1,%xmm1,(%rax)": 8,
        }
        for text, count in expected.items():
            with self.subTest(text):
                self.assertTrue(self.one(text).stores)
                self.assertEqual(self.one(text).bytes_stored, count)

    def test_what_is_no_store(self):
        for text in (
            "cmp %rax,(%rsp)",
            "cmpq $0x0,0x138(%rsp)",
            "testb $0x1,0x20(%rsp)",
            "vmulps (%rax),%ymm0,%ymm1",
            "lea 0x8(%rsp),%rax",
            "jne 70 <f(int)>",
        ):
            with self.subTest(text):
                self.assertFalse(self.one(text).stores)

    def test_moves_between_files(self):
        for text in (
            "vmovq %rax,%xmm0",
            "vmovd %xmm0,%eax",
            "pextrq $0x1,%xmm0,%rax",
            "vpinsrd $0x1,%r8d,%xmm0,%xmm0",
            "kmovw %eax,%k1",
            "kmovq %k1,%rax",
            "vmovmskpd %ymm0,%eax",
            "vpmovm2d %k1,%zmm0",
            "vcvtsi2sd %rax,%xmm0,%xmm0",
        ):
            with self.subTest(text):
                self.assertTrue(self.one(text).moves_between_files)
        for text in (
            "vmovq (%rax),%xmm0",
            "vmovq %xmm0,%xmm1",
            "vmovaps %zmm0,%zmm1",
            "vaddps (%rax){1to16},%zmm0,%zmm1{%k1}",
            "vpcmpud $0x1,%zmm0,%zmm1,%k1",
            "kmovw %k1,%k2",
            "mov %rax,%rcx",
            "vpbroadcastd (%rax),%zmm0",
        ):
            with self.subTest(text):
                self.assertFalse(self.one(text).moves_between_files)


class Check(unittest.TestCase):
    def test_names_loops_with_spills_or_moves(self):
        found = inner_loops.problems(LOOPS, [])
        # The loop of double has a loop inside: it is not an innermost one.
        self.assertEqual(len(found), 2)
        for words in (
            ("AVX-512, half", "0 spills of vectors, 2 of general registers, 0 moves"),
            ("AVX-512, bfloat16", "0 spills of vectors, 1 of general registers, 4 moves"),
        ):
            with self.subTest(words[0]):
                self.assertTrue(any(all(word in line for word in words) for line in found))

    def test_explained_ones_are_left_out_up_to_their_limits(self):
        entry = {"compiler": "GCC", "scalar": "half", "spills": 2, "reason": "a reason"}
        self.assertEqual(len(inner_loops.problems(LOOPS, [entry])), 1)
        too_few = {**entry, "spills": 1}
        # The loop itself, and the entry that explains none.
        self.assertEqual(len(inner_loops.problems(LOOPS, [too_few])), 3)
        no_moves = {"scalar": "bfloat16", "spills": 1, "reason": "a reason"}
        self.assertEqual(len(inner_loops.problems(LOOPS, [no_moves])), 3)

    def test_entries_of_a_compiler_that_has_not_run_are_not_stale(self):
        entry = {"compiler": "Clang", "scalar": "half", "spills": 2, "reason": "a reason"}
        self.assertEqual(len(inner_loops.problems(LOOPS, [entry])), 2)

    def test_the_list_can_be_read(self):
        inner_loops.read_explained()


class Table(unittest.TestCase):
    def test_cells_have_instructions_spills_and_moves(self):
        table = inner_loops.markdown(LOOPS, [{"scalar": "half", "reason": "It has a reason."}])
        self.assertIn("| loop | SSE4, GCC 12.2 | AVX2, GCC 12.2 | AVX-512, GCC 12.2 |", table)
        self.assertIn("| half, `Neighbour` | - | - | 22.0 / 2 / 0 |", table)
        self.assertIn("| bfloat16, `EvenOdd` | - | - | 12.0 / 1 / 4 |", table)
        self.assertIn("- **half**: It has a reason.", table)


if __name__ == "__main__":
    unittest.main()
