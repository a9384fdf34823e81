#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the lines of use that the reference shows: every block between \\code{.cpp} and
\\endcode in the comments of the public headers.

usage: check_uses.py [HEADER...]      in the repository's folder; without headers: all of
include/eigen_rope

Each block is the body of a function. A block may use the variables of PREAMBLE; whatever else it
needs it declares. The compiler's messages name the header and its line. EIGEN_ROPE_EIGEN_DIR is
the folder of another Eigen, CXX another compiler.
"""

import glob
import os
import subprocess
import sys
import tempfile

PREAMBLE = '''
namespace er = eigen_rope;
const er::Index D = 64, heads = 8, tokens = 100, batch = 2;
Eigen::Tensor<float, 4> q(D, heads, tokens, batch), k = q, x = q, y = q, dy = q, dx = q;
const er::Frequencies frequencies = er::Frequencies::powers({D});
const er::Positions positions = er::Positions::range(0, tokens);
const er::Cache<float> cache(frequencies, positions);
Eigen::ThreadPool threads(2);
Eigen::ThreadPoolDevice pool(&threads, 2);
'''


def public_headers():
    headers = glob.glob('include/eigen_rope/**/*.hpp', recursive=True)
    return sorted(header for header in headers if '/detail/' not in header)


def blocks_of(header):
    """The line each block begins behind, and the block."""
    begin, lines = 0, []
    with open(header, encoding='utf-8') as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if text == r'/// \code{.cpp}':
                begin, lines = number, []
            elif text == r'/// \endcode':
                yield begin, lines
                begin = 0
            elif begin:
                if not text.startswith('///'):
                    raise SystemExit(f'{header}:{begin}: this block has no end')
                lines.append(text[len('/// ') :])


def main():
    headers = sys.argv[1:] or public_headers()
    out = ['#define EIGEN_USE_THREADS', '#include <iostream>', '#include <memory>', '#include <thread>']
    out += [f'#include "{header[len("include/") :]}"' for header in public_headers()]
    out.append(PREAMBLE)
    count = 0
    for header in headers:
        for line, lines in blocks_of(header):
            count += 1
            out.append(f'void use_{count}() {{')
            out.append(f'#line {line + 1} "{header}"')
            out += [*lines, '}']
    if not count:
        raise SystemExit('these headers show no lines of use')
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, 'uses.cpp')
        with open(source, 'w', encoding='utf-8') as file:
            file.write('\n'.join(out) + '\n')
        eigen = os.environ.get('EIGEN_ROPE_EIGEN_DIR', '/usr/include/eigen3')
        compiler = os.environ.get('CXX', 'g++')
        command = [compiler, '-std=c++17', '-fsyntax-only', '-Iinclude', '-isystem', eigen, source]
        if subprocess.run(command, check=False).returncode:
            return 1
    print(f'{count} blocks of lines of use compile')
    return 0


sys.exit(main())
