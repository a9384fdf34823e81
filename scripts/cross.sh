#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds for 64-bit ARM with plain flags, runs tests under emulation and compares the bits of its
# results with those of this machine.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage="usage: scripts/cross.sh [--quick]
  Installs Debian's cross compiler and qemu, and unpacks the arm64 libraries into
  build/aarch64-packages; the system's own packages stay as they are. Builds the preset aarch64 and
  runs it under qemu: tests of tables, kernels, golden data and properties, and eigen-rope verify.
  Then it compares what tables, rotations and gradients are there, bit for bit, with what the preset
  native makes of them here.
  --quick    Leave out the tool, the expressions and the properties: at most 2 minutes on 2 cores."
quick=0
case "${1:-}" in
  "") ;;
  --quick) quick=1 ;;
  *) other_argument "$1" "$usage" ;;
esac

require_packages "${build_packages[@]}" "${demo_packages[@]}" "${test_packages[@]}" \
  g++-aarch64-linux-gnu qemu-user

# The libraries that are not headers alone. apt keeps lists of its own for them, so that this
# machine needs no second architecture.
packages=(libhwy-dev libhwy1 libfmt-dev libfmt9 libgtest-dev libgmock-dev librapidcheck-dev)
folder=$PWD/build/aarch64-packages
unpack_packages() {
  local apt=(apt-get -qq -o APT::Architectures::="$(dpkg --print-architecture)" -o \
    APT::Architectures::=arm64 -o "Dir::State::Lists=$folder/lists"
    -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User=)
  say "unpacking ${packages[*]} for arm64"
  rm -rf "$folder"
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
  "${apt[@]}" update || die "apt-get update failed (network?)"
  (cd "$folder" && "${apt[@]}" download "${packages[@]/%/:arm64}") || die \
    "apt-get could not download packages for arm64"
  local package
  for package in "$folder"/*.deb; do dpkg -x "$package" "$folder"; done
  rm -r "$folder/lists" "$folder/cache"
  echo "${packages[*]}" >"$folder/complete"
}
[ "$(cat "$folder/complete" 2>/dev/null)" = "${packages[*]}" ] || unpack_packages

programs=(table_kernel_tests operator_tests flags_tests)
[ $quick -eq 1 ] || programs+=(library_tests rotate_tests gradient_tests property_tests)
targets=("${programs[@]}" print_results)
[ $quick -eq 1 ] || targets+=(eigen_rope_tool)
say "building build/aarch64"
configure aarch64
cmake --build --preset aarch64 --target "${targets[@]}" || die \
  "the build failed; the compiler's messages are above"

emulated=(qemu-aarch64 -L /usr/aarch64-linux-gnu)
for program in "${programs[@]}"; do
  say "$program"
  RC_PARAMS="max_success=100 seed=20260101" "${emulated[@]}" "build/aarch64/bin/$program" \
    --gtest_brief=1 || die "$program failed; its output is above"
done
if [ $quick -eq 0 ]; then
  say "eigen-rope verify"
  "${emulated[@]}" build/aarch64/bin/eigen-rope verify tests/data/golden | tail -n 1 || die \
    "eigen-rope verify failed"
fi

say "comparing bits with those of this machine"
configure native -DEIGEN_ROPE_BUILD_BENCH=OFF
cmake --build --preset native --target print_results || die \
  "the build failed; the compiler's messages are above"
build/native/bin/print_results >build/aarch64/here.txt
"${emulated[@]}" build/aarch64/bin/print_results >build/aarch64/there.txt
diff build/aarch64/here.txt build/aarch64/there.txt || die \
  "results of 64-bit ARM have other bits (above: < here, > there)"
say "the same bits: $(wc -l <build/aarch64/here.txt) results"
