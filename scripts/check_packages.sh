#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Uses the library as other projects do: installed, as a folder, through pkg-config, from Debian
# packages, by the recipes of packaging/ and from the source archive.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
. tests/packaging/linking.sh

usage="usage: scripts/check_packages.sh [--compiler NAME]... [--eigen FOLDER | --eigen-5]
                                 [--consumers | --recipes | --linking]
  Builds static and shared libraries, installs them, and builds and runs tests/packaging against
  them: find_package, add_subdirectory and pkg-config, in C++17 and C++20, and in C11. It also
  checks what README.md shows and what the libraries let see. With the first compiler it compiles
  each header alone, runs the library's tests with a static library, builds the tool and the
  examples with a shared one, and links in less usual ways: without exceptions and RTTI, in shared
  objects beside one another and beside another version, with fmt and Highway built in, without
  models. It installs the Debian packages into a folder, where lintian must have nothing to say of
  them, and tries the recipes of packaging/ and the source archive. Everything goes under
  build/packages. Each combination prints one line; the first failure of a compiler ends it.
  --compiler NAME  g++ or clang++; both by default.
  --consumers      Leave out README.md, the tests, the tool, the examples, Debian, the recipes and
                   the archive.
  --recipes        Only the recipes of packaging/ and the source archive: a minute.
  --linking        Only the less usual ways to link: some minutes. They need Debian's sources of fmt
                   and Highway, which are downloaded (2 MB).
  --eigen FOLDER   Also use the Eigen headers in FOLDER (Eigen/Core), by EIGEN_ROPE_EIGEN_DIR.
  --eigen-5        The same with headers newer than Debian's: those in TensorFlow's Python
                   package, which is downloaded once (some 250 MB)."
compilers=() other_eigen="" consumers_only=0 recipes_only=0 linking_only=0
while [ $# -gt 0 ]; do
  case "$1" in
    --compiler | --eigen)
      needs_value "$@"
      if [ "$1" = --compiler ]; then compilers+=("$2"); else other_eigen=$(realpath "$2"); fi
      shift
      ;;
    --eigen-5) other_eigen=download ;;
    --consumers) consumers_only=1 ;;
    --recipes) recipes_only=1 ;;
    --linking) linking_only=1 ;;
    *) other_argument "$1" "$usage" ;;
  esac
  shift
done
[ ${#compilers[@]} -gt 0 ] || compilers=(g++ clang++)

packages=("${build_packages[@]}" "${demo_packages[@]}" pkg-config dpkg-dev)
[ "$consumers_only" -eq 1 ] || packages+=("${test_packages[@]}" file git lintian)
[[ " ${compilers[*]} " != *clang* ]] || packages+=(clang)
[ "$other_eigen" != download ] || packages+=(python3-pip)
require_packages "${packages[@]}"

source_folder=$PWD
work=$source_folder/build/packages
mkdir -p "$work"
logs=$(mktemp -d "$work/logs.XXXXXX")
# Outside of the project's repository, for the source archive.
elsewhere=$(mktemp -d)
trap 'rm -r "$logs" "$elsewhere"' EXIT
log=$logs/log

# run WHAT COMMAND...: the command's output is shown if it fails
run() {
  local what=$1
  shift
  "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    die "$what: failed; the messages are above"
  }
}

if [ "$other_eigen" = download ]; then
  other_eigen=$work/eigen/tensorflow/include
  if [ ! -e "$other_eigen/Eigen/Core" ]; then
    say "downloading TensorFlow's package for its Eigen headers"
    run "the download" python3 -m pip download --quiet --disable-pip-version-check --no-deps \
      --dest "$work/wheel" tensorflow-cpu
    run "the wheel" python3 -c '
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    folders = ("tensorflow/include/Eigen/", "tensorflow/include/unsupported/Eigen/")
    wheel.extractall(sys.argv[2], [name for name in wheel.namelist() if name.startswith(folders)])' "$work"/wheel/*.whl "$work/eigen"
    rm -r "$work/wheel"
  fi
fi

# With relative names, folders of the same objects find each other's in the cache, batches of
# sources too.
export CCACHE_BASEDIR=$source_folder

# The library in a fraction of the time that users wait for it: not optimised, kernels in plain C++.
quick=(-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16 -DCMAKE_CXX_FLAGS_RELEASE=-O0 \
  -DEIGEN_ROPE_KERNEL_OPTIMISATION=-O0
  -DEIGEN_ROPE_LEAVE_OUT_TARGETS="HWY_SSE4;HWY_AVX2;HWY_AVX3;HWY_AVX3_DL")
without_programs=(-DEIGEN_ROPE_BUILD_TESTS=OFF -DEIGEN_ROPE_BUILD_BENCH=OFF \
  -DEIGEN_ROPE_BUILD_TOOL=OFF -DEIGEN_ROPE_BUILD_EXAMPLES=OFF)

# configure_project FOLDER SOURCE COMPILER OPTION...
configure_project() {
  local folder=$work/$1 source=$2 compiler=$3
  shift 3
  run "configuring $folder" cmake -S "$source" -B "$folder" -G Ninja \
    -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF "$@"
}

# report WHAT PROGRAM: runs it and prints its line
report() {
  local line
  line=$("$2") || die "$1: the program says something is wrong"
  printf '  %-60s %s\n' "$1" "$line"
}

# library NAME SOURCE COMPILER OPTION...: builds this project, or one that has it as a folder, and
# installs it as build/packages/NAME/installed
library() {
  local name=$1 source=$2 compiler=$3
  shift 3
  rm -rf "$work/$name/installed" "$work/$name/CMakeCache.txt"
  configure_project "$name" "$source" "$compiler" -DCMAKE_BUILD_TYPE=Release \
    -DEIGEN_ROPE_DEVELOPER=ON \
    -DCMAKE_INSTALL_PREFIX="$work/$name/installed" "$@"
  run "building $name" cmake --build "$work/$name"
  run "installing $name" cmake --install "$work/$name"
}

# consumer WHAT NAME COMPILER STANDARD OPTION...
consumer() {
  local what=$1 name=$2 compiler=$3 standard=$4
  shift 4
  rm -f "$work/$name/CMakeCache.txt"
  configure_project "$name" tests/packaging "$compiler" -DCMAKE_CXX_STANDARD="$standard" \
    -DCMAKE_CXX_EXTENSIONS=OFF \
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache "$@"
  run "$what" cmake --build "$work/$name" --target consumer
  local program=$work/$name/consumer
  report "$what" "$program"
}

# As tests/packaging has them.
warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror)

# pkg_config_consumer WHAT NAME COMPILER STANDARD PREFIX EIGEN
pkg_config_consumer() {
  local what=$1 program=$work/$2 compiler=$3 standard=$4 prefix=$5 eigen=$6
  local path libdir flags libs
  path=$(dirname "$(find "$prefix" -name eigen-rope-models.pc)")
  libdir=$(dirname "$path")
  export PKG_CONFIG_PATH=$path
  read -r -a flags <<<"$(pkg-config --cflags eigen-rope-models)"
  read -r -a libs <<<"$(pkg-config --libs eigen-rope-models)"
  unset PKG_CONFIG_PATH
  # Eigen's headers as system headers: its warnings do not count.
  [ -n "$eigen" ] || eigen=$(pkg-config --variable=prefix eigen3)/include/eigen3
  run "$what" ccache "$compiler" -std=c++"$standard" "${warnings[@]}" -isystem "$eigen" \
    "${flags[@]}" -c tests/packaging/consumer.cpp -o "$program.o"
  run "$what" "$compiler" "$program.o" -o "$program" "${libs[@]}" -Wl,-rpath,"$libdir"
  report "$what" "$program"
}

# The C compiler beside a C++ compiler.
c_compiler_of() {
  case "$1" in
    *clang++*) echo "${1/clang++/clang}" ;;
    *) echo "${1/g++/gcc}" ;;
  esac
}

# c_consumers COMPILER NAME KIND PREFIX: a program in C11 by find_package, in a
# project that knows no C++ where the library is shared, and by pkg-config
c_consumers() {
  local compiler name=$2 kind=$3 prefix=$4 path libdir flags libs program
  compiler=$(c_compiler_of "$1")
  rm -f "$work/$name-c/CMakeCache.txt"
  run "configuring $name-c" cmake -S tests/packaging/c -B "$work/$name-c" -G Ninja \
    -DCMAKE_C_COMPILER="$compiler" -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF \
    -DCMAKE_PREFIX_PATH="$prefix"
  run "$compiler, $kind, C11, find_package" cmake --build "$work/$name-c"
  report "$compiler, $kind, C11, find_package" "$work/$name-c/c_consumer"
  program=$work/$name-c/by_pkg_config
  path=$(dirname "$(find "$prefix" -name eigen-rope.pc)")
  libdir=$(dirname "$path")
  export PKG_CONFIG_PATH=$path
  read -r -a flags <<<"$(pkg-config --cflags eigen-rope)"
  if [ "$kind" = static ]; then
    read -r -a libs <<<"$(pkg-config --static --libs eigen-rope)"
  else
    read -r -a libs <<<"$(pkg-config --libs eigen-rope)"
  fi
  unset PKG_CONFIG_PATH
  run "$compiler, $kind, C11, pkg-config" "$compiler" -std=c11 "${warnings[@]}" \
    -DEIGEN_ROPE_C11_MAIN "${flags[@]}" tests/c/c11_program.c -o "$program" "${libs[@]}" \
    -lm -Wl,-rpath,"$libdir"
  report "$compiler, $kind, C11, pkg-config" "$program"
}

# compare_c_symbols WHAT PREFIX: what the library exports under names of C is a list that is kept:
# a name that is missing breaks programs that were compiled before
compare_c_symbols() {
  local what=$1 library
  library=$(find "$2" -name libeigen_rope.so)
  nm -D --defined-only "$library" | sed 's/@.*//' |
    awk '$3 !~ /^_Z/ && $3 != "_init" && $3 != "_fini" { print $3 }' | LC_ALL=C sort >"$log.c"
  diff tests/packaging/c_symbols.txt "$log.c" >&2 || die \
    "$what: < is in tests/packaging/c_symbols.txt and not exported, > is exported and not in it"
  grep -ohE '\beigen_rope_[a-z_]+\(' include/eigen_rope/c/eigen_rope.h | tr -d '(' |
    LC_ALL=C sort -u >"$log.declared"
  comm -13 "$log.c" "$log.declared" | grep . >&2 && die \
    "$what: the functions above are declared and not exported"
  printf '  %-60s %s\n' "$what" "$(wc -l <"$log.c") names of C"
}

# What the shared libraries let see is what headers mark, each by its name or its class's, and
# nothing of the libraries underneath.
compare_symbols() {
  local what=$1 prefix=$2 libraries classes marked seen
  mapfile -t libraries < <(find "$prefix" -name 'libeigen_rope*.so')
  # Names alone: what the standard library makes of other libraries' types is the standard
  # library's.
  nm -D --defined-only -C "${libraries[@]}" | sed -n 's/^[0-9a-f]* [A-Za-z] //p' |
    sed -E \
      's/\[abi:[a-z0-9]+\]//g; s/operator(<<|>>)/operator_shift/; s/operator(<=>|->|[<>]=?)/operator_compare/; s/operator ([a-z])/operator_\1/' |
    sed -E ':again; s/<[^<>]*>//g; t again; s/\(.*//; s/.*[ *&]//' >"$log.seen"
  if grep -E '^(fmt|hwy|nlohmann)::' "$log.seen" >&2; then die \
    "$what: the symbols above belong to other libraries"; fi
  classes=$(grep -rhoE '(class|struct) EIGEN_ROPE_API [A-Za-z]+' include | sed 's/.* //' | sort -u)
  marked=$({
    echo "$classes"
    grep -rhE '^[^/#]*EIGEN_ROPE_API .*\(' include | sed -E \
      's/operator<</operator_shift/; s/<[^<>]*>//g; s/^.*EIGEN_ROPE_API ([^(]*[ *&])?(~?[A-Za-z_0-9]+|operator==)\(.*/\2/'
  } | sort -u)
  classes=$(paste -sd'|' <<<"$classes")
  seen=$(grep '^eigen_rope::' "$log.seen" | sed -E "s/.*::($classes)(::.*)?\$/\1/; t; s/.*:://" | sort -u)
  diff <(echo "$marked") <(echo "$seen") >&2 || die \
    "$what: < is marked EIGEN_ROPE_API and not exported, > is exported and not marked"
  printf '  %-60s %s\n' "$what" "$(wc -l <<<"$seen") names, all marked EIGEN_ROPE_API"
}

# readme_block LANGUAGE: the first block of README.md in this language
readme_block() {
  awk -v fence="\`\`\`$1" '$0 == "```" && on { exit } on { print } $0 == fence { on = 1 }' README.md
}

# compiler_checks COMPILER: everything that is done with each of them. The first, with Debian's
# Eigen, compiles the library as users do; else a project that has it as a folder builds it, and
# what is installed is that.
compiler_checks() {
  local compiler=$1 log eigen short own_eigen in_folder standard kind shared prefix standards
  log=$logs/$(basename "$compiler")
  for eigen in "" ${other_eigen:+"$other_eigen"}; do
    short=$(basename "$compiler")${eigen:+-eigen5}
    # Every way in both standards: the library's sources by the Eigen they are compiled with, what
    # is installed by the kind of library.
    own_eigen=()
    standard=17
    if [ -n "$eigen" ]; then
      own_eigen=(-DEIGEN_ROPE_EIGEN_DIR="$eigen")
      standard=20
    fi
    in_folder=(-DEIGEN_ROPE_SOURCE_DIR="$source_folder" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
      -DCMAKE_CXX_STANDARD="$standard" -DCMAKE_CXX_EXTENSIONS=OFF)
    for kind in static shared; do
      shared=OFF
      standards=(17 20)
      if [ "$kind" = shared ]; then
        shared=ON
        standards=(20 17)
      fi
      if [ "$compiler$eigen" = "${compilers[0]}" ]; then
        library "$short-$kind" "$source_folder" "$compiler" -DBUILD_SHARED_LIBS=$shared \
          "${without_programs[@]}"
      else
        library "$short-$kind" tests/packaging "$compiler" -DBUILD_SHARED_LIBS=$shared \
          "${own_eigen[@]}" "${in_folder[@]}" "${quick[@]}"
        report "$compiler, $kind, add_subdirectory, C++$standard" "$work/$short-$kind/consumer"
      fi
      prefix=$work/$short-$kind/installed
      consumer "$compiler, $kind, find_package, C++${standards[0]}" "$short-$kind-find-package" \
        "$compiler" "${standards[0]}" \
        -DCMAKE_PREFIX_PATH="$prefix" "${own_eigen[@]}"
      pkg_config_consumer "$compiler, $kind, pkg-config, C++${standards[1]}" \
        "$short-$kind-pkg-config" "$compiler" "${standards[1]}" "$prefix" "$eigen"
      [ -n "$eigen" ] || c_consumers "$compiler" "$short-$kind" "$kind" "$prefix"
    done
    # Eigen's version may differ from that of the shared library.
    [ -z "$eigen" ] || consumer "$compiler, shared with Debian's Eigen, find_package, C++20" \
      "$short-other-eigen" "$compiler" 20 -DEIGEN_ROPE_EIGEN_DIR="$eigen" \
      -DCMAKE_PREFIX_PATH="$work/$(basename "$compiler")-shared/installed"
    # The same objects again, if ccache is there.
    [ "$compiler$eigen" != "${compilers[0]}" ] ||
      consumer "$compiler, static, add_subdirectory, C++17" "$short-folder" "$compiler" 17 \
        "${in_folder[@]}" -DEIGEN_ROPE_DEVELOPER=ON -DCMAKE_BUILD_TYPE=Release
    compare_symbols "$compiler, symbols of the shared library" "$work/$short-shared/installed"
    compare_c_symbols "$compiler, symbols of its C interface" "$work/$short-shared/installed"
    versioned_symbols "$compiler, the shared library" "$work/$short-shared/installed"
    eigen_types "$compiler, the shared library" "$work/$short-shared/installed"
    static_symbols "$compiler, symbols of the static library" "$compiler" \
      "$work/$short-static/installed"
  done
}

# conan_package OPTION...: makes it of packaging/conan, whose test is tests/packaging/consumer.cpp
conan_package() {
  run "the Conan package" "$conan" create packaging/conan --no-remote "${conan_settings[@]}" "$@"
  printf '  %s\n' "the Conan package${*:+, $*}"
}

# The recipes build this tree. They find the libraries of this machine, where others would have
# packages of Conan, vcpkg and Spack.
check_recipes() {
  local option pair variables="" setting
  for option in $(grep -rhoE 'EIGEN_ROPE_BUILD_[A-Z]+' packaging | sort -u); do
    grep -q "^option($option " CMakeLists.txt || die \
      "packaging/ sets $option, which is no option of CMakeLists.txt"
  done

  python_packages tests/python/conan.txt build/conan
  conan=build/conan/bin/conan
  export CONAN_HOME=$work/conan
  rm -rf "$CONAN_HOME"
  run "Conan's profile" "$conan" profile detect
  for pair in eigen:eigen3 fmt:fmt highway:libhwy nlohmann_json:nlohmann_json cli11:CLI11; do
    run "Conan's package of ${pair%:*}" "$conan" create tests/packaging/conan_system --no-remote \
      --name="${pair%:*}" --version="$(pkg-config --modversion "${pair#*:}")"
  done
  : >"$work/quick.cmake"
  for setting in "${quick[@]#-D}"; do
    variables+="${variables:+, }\"${setting%%=*}\": \"${setting#*=}\""
    echo "set(${setting%%=*} \"${setting#*=}\" CACHE STRING \"\")" >>"$work/quick.cmake"
  done
  conan_settings=(-c tools.cmake.cmaketoolchain:generator=Ninja \
    -c tools.cmake.cmake_layout:test_folder="$work/conan-test"
    -c "tools.cmake.cmaketoolchain:extra_variables={$variables}")
  conan_package
  conan_package -o '&:shared=True' -o '&:with_tool=True'
  # Its test reads a model's file.
  conan_package -o '&:with_models=False' --test-folder=

  run "the vcpkg port" cmake -DFOLDER="$work/vcpkg" -DINITIAL_CACHE="$work/quick.cmake" \
    -P tests/packaging/vcpkg_stub.cmake
  consumer "the vcpkg port, find_package, C++17" vcpkg-consumer "${compilers[0]}" 17 \
    -DCMAKE_PREFIX_PATH="$work/vcpkg/packages"

  run "the Spack package" python3 tests/packaging/spack_stub.py
  printf '  %s\n' "the Spack package, read with a stand-in for Spack"
}

# The archive is the same every time, and builds where there is neither a repository nor git.
check_archive() {
  if ! in_clone; then
    printf '  %s\n' "this is no clone: no source archive is made"
    return
  fi
  local commit folder
  commit=$(git stash create) # with what is not committed yet
  for folder in first second; do
    run "scripts/release.sh" scripts/release.sh --commit "${commit:-HEAD}" --out "$work/$folder"
  done
  cmp "$work"/first/eigen-rope-*.tar.gz "$work"/second/eigen-rope-*.tar.gz || die \
    "scripts/release.sh has made two archives of one commit that differ"
  tar -xzf "$work"/first/eigen-rope-*.tar.gz -C "$elsewhere"
  printf '#!/bin/sh\necho "git: not here" >&2\nexit 127\n' >"$elsewhere/git"
  chmod +x "$elsewhere/git"
  (
    cd "$elsewhere"/eigen-rope-*/
    export PATH=$elsewhere:$PATH CCACHE_BASEDIR=$PWD
    run "configuring the source archive" cmake --preset library "${quick[@]}" \
      -DEIGEN_ROPE_BUILD_TESTS=ON -DEIGEN_ROPE_TEST_OPTIONS=-O0
    run "building the source archive" cmake --build --preset library --target eigen_rope_models \
      operator_tests
    run "a test of the source archive" build/library/bin/operator_tests --gtest_brief=1
    run "configuring everything in the source archive" cmake --preset dev
    scripts/check_style.sh >"$log" 2>&1 && die \
      "scripts/check_style.sh asks git what to look at, and passes without git"
    [ "$(wc -l <"$log")" -eq 1 ] || die "scripts/check_style.sh has more to say than that git is missing"
  )
  printf '  %s\n' "the source archive, twice the same, and built without git"
}

if [ "$recipes_only" -eq 1 ]; then
  say "the recipes and the source archive"
  check_recipes
  check_archive
  exit 0
fi

if [ "$linking_only" -eq 1 ]; then
  compiler=${compilers[0]}
  short=$(basename "$compiler")-quick
  say "less usual ways to link with $compiler"
  for kind in static shared; do
    library "$short-$kind" "$source_folder" "$compiler" "${without_programs[@]}" "${quick[@]}" \
      -DBUILD_SHARED_LIBS="$([ $kind = shared ] && echo ON || echo OFF)"
  done
  eigen_types "the shared library" "$work/$short-shared/installed"
  static_symbols "symbols of the static library" "$compiler" "$work/$short-static/installed"
  linking_checks "$work/$short-static/installed" "$work/$short-shared/installed"
  exit 0
fi

# At the same time: a consumer is one file.
failed=0
for compiler in "${compilers[@]}"; do
  say "$("$compiler" --version | head -n 1)${other_eigen:+, also with the Eigen of $other_eigen}"
  beside compiler_checks "$compiler"
done
for job in "${running[@]}"; do wait "$job" || failed=1; done
[ $failed -eq 0 ] || exit 1
[ "$consumers_only" -eq 0 ] || exit 0

compiler=${compilers[0]}
short=$(basename "$compiler")
say "README.md, the tool, the examples and the Debian packages with $compiler"

mkdir -p "$work/readme"
readme_block cmake >"$work/readme/CMakeLists.txt"
readme_block cpp >"$work/readme/main.cpp"
for file in CMakeLists.txt main.cpp; do [ -s "$work/readme/$file" ] || die \
  "README.md shows no $file"; done
configure_project readme/build "$work/readme" "$compiler" \
  -DCMAKE_PREFIX_PATH="$work/$short-static/installed"
run "the project that README.md shows" cmake --build "$work/readme/build"
run "the project that README.md shows" "$work/readme/build/my_program"
printf '  %s\n' "the project that README.md shows"

# Getting started, to the letter, in a folder that has nothing but the library's sources.
rm -rf "$work/follow"
mkdir -p "$work/follow/eigen-rope"
tar -c --exclude=./.git --exclude=./build --exclude=./out . | tar -x -C "$work/follow/eigen-rope"
run "what docs/getting_started.md shows" env CMAKE_CXX_COMPILER_LAUNCHER=ccache \
  CMAKE_GENERATOR=Ninja CXX="$compiler" \
  python3 tests/packaging/follow_page.py docs/getting_started.md "$work/follow"
printf '  %s\n' "$(cat "$log")"

# What the library computes, as users get it: tests of what is compiled in their programs and of its
# kernels; and by the tool, compared with what other people recorded and with slopes.
tests=(library_tests table_kernel_tests rotate_tests gradient_tests)
configure_project "$short-static" "$source_folder" "$compiler" -DEIGEN_ROPE_BUILD_TESTS=ON \
  -DEIGEN_ROPE_BUILD_TOOL=ON -DEIGEN_ROPE_TEST_OPTIONS=-O0
run "building with the static library" cmake --build "$work/$short-static" --target headers_alone \
  eigen_rope_tool "${tests[@]}"
run "tests of the static library" xargs -P "$(nproc)" -I TEST env TEST --gtest_brief=1 \
  <<<"$(printf '%s\n' "${tests[@]/#/$work/$short-static/bin/}")"
run "eigen-rope verify" "$work/$short-static/bin/eigen-rope" verify \
  tests/data/golden/{aclnn,ggml,onnx,scaling}
run "eigen-rope gradcheck" "$work/$short-static/bin/eigen-rope" gradcheck
printf '  %s\n' \
  "each header alone; ${#tests[@]} programs of tests, eigen-rope verify and eigen-rope gradcheck with the static library"

# Those that between them call what is compiled.
examples=(check_gradient gradients kv_cache_shift operator_conversions quickstart scalings)
configure_project "$short-shared" "$source_folder" "$compiler" -DEIGEN_ROPE_BUILD_TOOL=ON \
  -DEIGEN_ROPE_BUILD_EXAMPLES=ON
run "tool and examples with the shared library" cmake --build "$work/$short-shared" --target \
  eigen_rope_tool "${examples[@]}"
run "the tool with the shared library" "$work/$short-shared/bin/eigen-rope" inspect \
  yarn:dims=128,factor=4,original=32768
for example in "${examples[@]}"; do
  run "the example $example with the shared library" "$work/$short-shared/bin/$example"
done
printf '  %s\n' "the tool and ${#examples[@]} examples, linked with the shared library"

linking_checks "$work/$short-static/installed" "$work/$short-shared/installed"

# debian_packages KIND: makes them of what is already built, shows them to lintian, and installs
# them into a folder that knows this machine's packages, and nothing of this project
debian_packages() {
  local kind=$1 name=$short-$1 folder=$work/$short-$1 root=$work/debian-$1/root libdir
  rm -rf "$root" "$folder"/*.deb
  configure_project "$name" "$source_folder" "$compiler" -DEIGEN_ROPE_BUILD_TESTS=OFF \
    -DEIGEN_ROPE_BUILD_TOOL=ON -DEIGEN_ROPE_BUILD_EXAMPLES=OFF
  run "building the Debian packages" cmake --build "$folder"
  (cd "$folder" && run "making the Debian packages" cpack -G DEB)
  # Its remarks on spelling are left out: compilers cut short texts of a program into pieces, and
  # lintian takes the pieces for words. Clang cannot use the C library's checks of printf and its
  # like, the ones for which lintian looks.
  local left_out=spelling-error-in-binary
  [[ $compiler != *clang* ]] || left_out+=,hardening-no-fortify-functions
  run "lintian" lintian --allow-root --pedantic --display-info --suppress-tags "$left_out" \
    "$folder"/*.deb
  [ ! -s "$log" ] || {
    cat "$log" >&2
    die "lintian must have nothing to say of the Debian packages"
  }
  mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
  cp /var/lib/dpkg/status "$root/var/lib/dpkg/status"
  run "installing the Debian packages" dpkg --root="$root" --force-not-root \
    --force-script-chrootless --log="$folder/dpkg.log" -i "$folder"/*.deb
  libdir=$(dirname "$(find "$root" -name 'libeigen_rope.*' | head -n 1)")
  consumer "Debian packages, $kind, find_package, C++17" "debian-$kind-17" "$compiler" 17 \
    -DCMAKE_PREFIX_PATH="$root/usr" \
    -DCMAKE_BUILD_RPATH="$libdir"
  run "the installed tool" env LD_LIBRARY_PATH="$libdir" "$root/usr/bin/eigen-rope" --version
  local file
  for file in man/man1/eigen-rope.1.gz bash-completion/completions/eigen-rope \
    zsh/vendor-completions/_eigen-rope fish/vendor_completions.d/eigen-rope.fish \
    doc/libeigen-rope-dev/{copyright,changelog.gz} doc/eigen-rope/{copyright,changelog.gz}; do
    [ -s "$root/usr/share/$file" ] || die "the Debian packages lack /usr/share/$file"
  done
}
debian_packages static
debian_packages shared

say "the recipes and the source archive"
check_recipes
check_archive
