#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Form: clang-format has nothing to change, shellcheck nothing to say, comments and prose are at
# most 100 columns wide, no paragraph of a page has more than 120 words, every source names its
# licence, headers have at most 400 lines, the library stands in its inline namespace, no room
# includes one above it, and the list of public names is true.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

case "${1:-}" in
  "") ;;
  -h | --help)
    echo \
      "usage: scripts/check_style.sh
  Checks every file that git knows, and names each that fails. The exit code is 1 if there is one.
  Half a minute.
  This repairs formatting: git ls-files '*.cpp' '*.hpp' '*.c' '*.h' | xargs clang-format -i"
    exit 0
    ;;
  *) die "unknown argument '$1'; see scripts/check_style.sh --help" ;;
esac

require_packages clang-format shellcheck git python3
require_git scripts/check_style.sh
fails=0
fail() {
  printf '%s\n' "$*" >&2
  fails=1
}

mapfile -t sources < <(git ls-files '*.cpp' '*.hpp' '*.c' '*.h')
printf '%s\0' "${sources[@]}" | xargs -0 -n 20 -P "$(nproc)" clang-format --dry-run -Werror || \
  fail "the lines above are not formatted"

mapfile -t scripts < <(git ls-files '*.sh' .ci)
shellcheck --severity=warning --external-sources "${scripts[@]}" || fail \
  "shellcheck's remarks are above"

mapfile -t licensed < <(git ls-files '*.cpp' '*.hpp' '*.c' '*.h' '*.cmake' '*CMakeLists.txt' '*.sh' '*.py' \
  '*.gnuplot' .ci)
for file in "${licensed[@]}"; do
  head -n 2 "$file" | grep -q 'SPDX-License-Identifier: Apache-2\.0' || fail \
    "$file: neither of the first two lines is '// SPDX-License-Identifier: Apache-2.0'"
done

python3 scripts/check_widths.py || fail "the lines above are wider than 100 columns, or hard to read"

mapfile -t headers < <(git ls-files '*.hpp' '*.h')
for file in "${headers[@]}"; do
  lines=$(wc -l <"$file")
  [ "$lines" -le 400 ] || fail "$file: headers must have at most 400 lines, got $lines"
done
mapfile -t public < <(git ls-files 'include/*.hpp')
for file in "${public[@]}"; do
  # The comment that opens a header, and the guard after it.
  lines=$(awk 'NR > 2 && !/^\/\// { exit } NR > 2 { ++n } END { print n + 0 }' "$file")
  [ "$lines" -ge 1 ] || fail "$file: a public header must open with a comment on what it is"
  grep -q '^#pragma once$' "$file" || fail "$file: '#pragma once' is missing"
done

# The tool is a program, whose names no other version has to be kept apart from.
mapfile -t library < <(git ls-files 'include/*.hpp' 'src/*.[ch]pp' 'src/*.inc' ':!src/tool' \
  ':!include/eigen_rope/version.hpp')
if grep -nE '^ *namespace eigen_rope( |::[^E])' "${library[@]}" >&2; then
  fail "the namespaces above must be eigen_rope::EIGEN_ROPE_ABI, or in it"
fi
if grep -rnE '^ *namespace eigen_rope::(aclnn|any|composed|detail|ggml|models|onnx|reference)\b' \
  tests bench examples docs --include='*.[ch]pp' >&2; then
  fail "the namespaces above must be in eigen_rope::EIGEN_ROPE_ABI, where the library has them"
fi

python3 scripts/check_rooms.py || fail "the lines above lead from a room to one above it"
python3 scripts/public_names.py --check || fail \
  "the public names of the headers must be listed in docs/design.md and used by a page, an example or a program"

[ "$fails" -eq 0 ] || die "style"
say \
  "style: ${#sources[@]} sources, ${#scripts[@]} scripts, ${#licensed[@]} licences, ${#headers[@]} headers"
