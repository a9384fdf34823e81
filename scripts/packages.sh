# SPDX-License-Identifier: Apache-2.0
# Sourced by the other scripts: installs Debian packages that are missing, and says so.
# shellcheck shell=bash disable=SC2034  # the lists of packages are for those who source this

say() { printf '== %s\n' "$*"; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# quietly COMPLAINT COMMAND...: shows what the command says only if it fails, and dies of it
quietly() {
  local complaint=$1 log
  shift
  log=$(mktemp)
  if ! "$@" >"$log" 2>&1; then
    cat "$log" >&2
    die "$complaint"
  fi
  rm -f "$log"
}

# needs_value OPTION VALUE...: whether what is left of the arguments has a value for the option
needs_value() {
  [ $# -ge 2 ] || die "$1 needs a value; see scripts/${0##*/} --help"
}

# other_argument ARGUMENT USAGE: the last case of a script's arguments: the help, or what it does
# not know
other_argument() {
  case "$1" in
    -h | --help)
      echo "$2"
      exit 0
      ;;
    *) die "unknown argument '$1'; see scripts/${0##*/} --help" ;;
  esac
}

# What every build needs.
build_packages=(g++ cmake ninja-build ccache libeigen3-dev libfmt-dev libhwy-dev nlohmann-json3-dev)
# What the demo needs beyond that.
demo_packages=(libcli11-dev gnuplot-nox)
# What the tests need beyond both.
test_packages=(libgtest-dev libgmock-dev libbenchmark-dev libboost-dev libadolc-dev libceres-dev \
  libtrilinos-sacado-dev
  librapidcheck-dev libtbb-dev lld python3-venv)

# What the example trainer needs to run on several ranks.
ranks_packages=(libopenmpi-dev openmpi-bin)

# What coverage, the sanitizers and the static analyses need beyond those.
check_packages=(clang libclang-rt-14-dev cppcheck llvm valgrind)

# What the documentation needs, and what looks at it.
docs_packages=(doxygen python3)
docs_check_packages=(chromium fonts-dejavu-core)

require_packages() {
  command -v dpkg-query >/dev/null || die \
    "this script installs Debian packages and needs dpkg and apt; elsewhere install: $*"
  local missing=() package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || \
      missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die \
      "these packages are missing and installing them needs root or sudo: ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  quietly "apt-get update failed (network?)" "${as_root[@]}" apt-get update -qq
  local log
  log=$(mktemp)
  if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y \
    --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    die "apt-get could not install: ${missing[*]}"
  fi
  rm -f "$log"
}

# Whether this folder is a clone of the project's repository, and not one that lies in another's.
in_clone() { [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd -P)" ]; }

# require_git SCRIPT: for scripts that ask git what belongs to the project
require_git() {
  in_clone || die \
    "$1 asks git which files belong to the project, and therefore needs a clone of its repository"
}

# python_packages REQUIREMENTS FOLDER: a Python in FOLDER that has them, made anew where the
# requirements have changed
python_packages() {
  cmp -s "$1" "$2/requirements.txt" && return
  say "installing Python packages: $(grep -v '^#' "$1" | tr '\n' ' ')"
  rm -rf "$2"
  python3 -m venv "$2" || die "python3 could not make an environment in $2"
  "$2/bin/pip" install --quiet --disable-pip-version-check -r "$1" || die \
    "pip could not install the packages of $1 (network?)"
  cp "$1" "$2/requirements.txt"
}

# beside COMMAND...: starts it as soon as fewer run than there are processors, and puts its process
# at the end of the array `running`
running=()
beside() {
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done
  "$@" &
  running+=("$!")
}

# configure PRESET, quietly unless it fails
configure() {
  ! grep -qs '^ROPE_' "build/$1/CMakeCache.txt" ||
    die \
      "build/$1 holds settings of an older version, whose names begin with ROPE_: remove it with rm -r build/$1"
  quietly "configuring the preset $1 failed" cmake --preset "$@"
}
