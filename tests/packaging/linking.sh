#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts/check_packages.sh: links the library in less usual ways. It uses that script's
# functions and variables.
# shellcheck shell=bash disable=SC2154

# ours FILE: the symbols that a shared object exports of the library and of what it is made with,
# with nm's letter before each. What the standard library makes of their types is its own: Clang
# hides no comparison of iterators.
ours() {
  nm -D --defined-only -C "$1" | sed 's/^[0-9a-f]* //' | grep -vE '^. (std|__gnu_cxx)::' |
    grep -E '^. (.*[ <(&*,])?(eigen_rope|fmt|hwy[a-z_0-9]*|nlohmann)::' || true
}

# The inline namespace, as symbols have it.
abi=eigen_rope::v$(sed -nE 's/^#define EIGEN_ROPE_VERSION_(MAJOR|MINOR) ([0-9]+).*/\2/p' \
  include/eigen_rope/version.hpp | paste -sd_)

# versioned_symbols WHAT PREFIX: nothing in the libraries has a name that another version may have
versioned_symbols() {
  local what=$1 libraries
  mapfile -t libraries < <(find "$2" -name 'libeigen_rope*.a' -o -name 'libeigen_rope*.so')
  nm -C --defined-only "${libraries[@]}" 2>/dev/null | sed -n 's/^[0-9a-f]* [A-Za-z] //p' >"$log.all"
  if grep -F eigen_rope:: "$log.all" | grep -Fv "$abi" >&2; then die \
    "$what: the names above are not in $abi"; fi
}

# eigen_types WHAT PREFIX: users of the shared library hand it pointers to Eigen's 16-bit scalars,
# and nothing else of Eigen's, so that it serves programs with another Eigen
eigen_types() {
  local what=$1
  find "$2" -name 'libeigen_rope*.so' -exec nm -D -C --defined-only {} + |
    sed -n 's/^[0-9a-f]* [TW] //p' | grep "$abi::" >"$log.functions"
  # Between < and > stand the types that a function was made for, not what it takes.
  if sed -E ':again; s/<[^<>]*>//g; t again' "$log.functions" |
    grep -E '^Eigen::|[(] *Eigen::(half|bfloat16)[,)]|, Eigen::(half|bfloat16)[,)]' >&2; then die \
    "$what: the functions above take a scalar of Eigen's by value"; fi
  [ "$(grep -oE '\bEigen::[A-Za-z_0-9]+' "$log.functions" | sort -u | paste -sd' ')" = \
    "Eigen::bfloat16 Eigen::half" ] || die \
    "$what: functions have other types of Eigen's than bfloat16 and half"
}

# static_symbols WHAT COMPILER PREFIX: a shared object that the whole static library is linked into
# exports nothing of it
static_symbols() {
  local what=$1 compiler=$2 object=$log.so archives seen
  mapfile -t archives < <(find "$3" -name 'libeigen_rope*.a')
  run "$what" "$compiler" -shared -o "$object" -Wl,--whole-archive "${archives[@]}" \
    -Wl,--no-whole-archive -lfmt -lhwy
  seen=$(ours "$object")
  rm "$object"
  [ -z "$seen" ] || die "$what: a shared object that links it exports: $seen"
  versioned_symbols "$what" "$3"
  printf '  %-60s %s\n' "$what" "no name is exported, all are in $abi"
}

# debian_sources FOLDER PACKAGE...: Debian's sources of the packages
debian_sources() {
  local folder=$1 options
  shift
  rm -rf "$folder"
  mkdir -p "$folder/lists/partial" "$folder/sources.d"
  # What this machine takes packages from, with the sources instead of the programs.
  sed -n 's/^deb /deb-src /p' /etc/apt/sources.list 2>/dev/null >"$folder/sources.d/all.list" || true
  for file in /etc/apt/sources.list.d/{debian,ubuntu}.sources; do
    [ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$folder/sources.d/${file##*/}"
  done
  options=(-qq -o "Dir::State::lists=$folder/lists" -o Dir::Etc::sourcelist=/dev/null
    -o "Dir::Etc::sourceparts=$folder/sources.d" -o "Dir::Cache=$folder")
  run "the list of Debian's sources (network?)" apt-get "${options[@]}" update
  (cd "$folder" && run "Debian's sources of $* (network?)" apt-get "${options[@]}" source "$@")
}

# find_says SENTENCE NAME PREFIX OPTION...: what CMake says where a project looks for the library;
# the sentence may be one that must not be said: !SENTENCE
find_says() {
  local sentence=$1 name=$2 prefix=$3 said
  shift 3
  rm -rf "${work:?}/$name"
  said=$(cmake -S tests/packaging/find -B "$work/$name" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF "$@" 2>&1 | tr -s '[:space:]' ' ' || true)
  if [ "${sentence#!}" != "$sentence" ]; then
    [[ $said != *"${sentence#!}"* ]] || die "find_package must not say '${sentence#!}', got: $said"
  else
    [[ $said == *"$sentence"* ]] || die "find_package must say '$sentence', got: $said"
  fi
}

# linking_project NAME PREFIX OPTION...: tests/packaging/linking with an installed library
linking_project() {
  local name=$1 prefix=$2
  shift 2
  rm -rf "${work:?}/$name"
  configure_project "$name" tests/packaging/linking "$compiler" -DCMAKE_CXX_STANDARD=17 \
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_PREFIX_PATH="$prefix" "$@"
}

# hosted WHAT FIRST SECOND SHARED: what two shared objects share in one process
hosted() {
  local line
  line=$("$work/$short-linking-static/host" "$2" "$3" "$4" 2>&1) || die \
    "$1: the two must share $4, got: $line"
  printf '  %-60s %s\n' "$1" "$line"
}

# linking_checks STATIC SHARED: with the libraries installed there
linking_checks() {
  local static=$1 shared=$2 name objects plugin seen sources=$work/sources eigen other said
  linking_project "$short-linking-static" "$static"
  run "linking the static library" cmake --build "$work/$short-linking-static"
  linking_project "$short-linking-shared" "$shared"
  run "linking the shared library" cmake --build "$work/$short-linking-shared" --target plugin \
    plugin_again

  for name in exceptions rtti both; do
    objects=$work/$short-linking-static/without_$name
    run "a program without $name" "$objects"
    [ "$name" = rtti ] || {
      # It is ended by a signal, which the shell reports.
      said=$( ("$objects" refuse) 2>&1 || true)
      [[ $said == *"[rope] rotary dims must be even, got 7"* ]] || die \
        "a program without $name must end with the library's sentence, got: $said"
    }
  done
  printf '  %s\n' "programs without exceptions, without RTTI and without both"

  plugin=$work/$short-linking-static/libplugin
  seen=$(ours "${plugin}_hidden.so")
  [ -z "$seen" ] || die "a shared object with hidden symbols exports: $seen"
  seen=$(ours "$plugin.so")
  [ -n "$seen" ] || die "a shared object that hides nothing must export its inline functions"
  if grep -v '^[WVu] ' <<<"$seen" >&2; then die \
    "the names above are exported, and are no inline functions"; fi
  if grep eigen_rope:: <<<"$seen" | grep -Fv "$abi::" >&2; then die \
    "the names above are exported, and are not in $abi"; fi
  printf '  %s\n' "shared objects that link the static library export none of it"

  # What is seen must be able to fail: the same version is shared.
  other=$work/$short-linking-shared/libplugin
  hosted "twice the same shared library" "$other.so" "${other}_again.so" all
  hosted "twice the same static library" "$plugin.so" "${plugin}_again.so" headers
  cp "${plugin}_hidden.so" "${plugin}_hidden_again.so"
  hosted "the same, with hidden symbols" "${plugin}_hidden.so" "${plugin}_hidden_again.so" nothing

  debian_sources "$sources" fmtlib highway
  built_in=(-DEIGEN_ROPE_FMT_DIR="$(echo "$sources"/fmtlib-*/)"
    -DEIGEN_ROPE_HIGHWAY_DIR="$(echo "$sources"/highway-*/)"
    -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON -DCMAKE_DISABLE_FIND_PACKAGE_hwy=ON)
  other_version "$other.so" "$plugin.so"
  without_packages

  # What is said of Eigen. Only its version is read.
  for eigen in 3.3.9 3.4.1 5.1.0 6.0.0; do
    mkdir -p "$work/eigens/$eigen/Eigen"
    printf '#define EIGEN_WORLD_VERSION 3\n' >"$work/eigens/$eigen/Eigen/Version"
    IFS=. read -r major minor patch <<<"$eigen"
    printf '#define EIGEN_%s_VERSION %s\n' MAJOR "$major" MINOR "$minor" PATCH "$patch" \
      >>"$work/eigens/$eigen/Eigen/Version"
  done
  own=$(pkg-config --modversion eigen3)
  find_says "compiled with Eigen $own" find "$static"
  find_says "!Warning" find "$static"
  find_says "[rope] Eigen should be the $own that the static library was compiled with, got 5.1.0" \
    find "$static" -DEIGEN_ROPE_EIGEN_DIR="$work/eigens/5.1.0"
  find_says "!Eigen should be" find "$static" -DEIGEN_ROPE_EIGEN_DIR="$work/eigens/${own%.*}.1"
  find_says "!Eigen should be" find "$shared" -DEIGEN_ROPE_EIGEN_DIR="$work/eigens/5.1.0"
  for eigen in 3.3.9 6.0.0; do
    find_says "[rope] Eigen must be at least 3.4 and less than 6, got $eigen" find "$shared" \
      -DEIGEN_ROPE_EIGEN_DIR="$work/eigens/$eigen"
  done
  printf '  %s\n' "find_package says which Eigen does not fit"
}

# other_version PLUGIN...: a shared library of another version, with fmt and Highway built in, does
# not mix with this one, which the shared objects use
other_version() {
  local tree=$work/other-version library libraries prefix=$work/$short-other/installed plugin
  rm -rf "$tree"
  mkdir -p "$tree"
  cp -r CMakeLists.txt LICENSE cmake include src "$tree"
  sed -i -E 's/^(#define EIGEN_ROPE_VERSION_MINOR) [0-9]+/\1 99/' "$tree/include/eigen_rope/version.hpp"
  library "$short-other" "$tree" "$compiler" -DBUILD_SHARED_LIBS=ON "${without_programs[@]}" \
    "${quick[@]}" "${built_in[@]}"
  mapfile -t libraries < <(find "$prefix" -name 'libeigen_rope*.so')
  for library in "${libraries[@]}"; do
    if ours "$library" | grep -E '^. (.*[ <(&*,])?(fmt|hwy[a-z_0-9]*)::' >&2; then die \
      "$library exports the names above, of what is built in"; fi
    if readelf -d "$library" | grep -E 'NEEDED.*lib(fmt|hwy)' >&2; then die \
      "$library needs a library that is built in"; fi
  done
  linking_project "$short-linking-other" "$prefix"
  run "linking another version" cmake --build "$work/$short-linking-other" --target plugin
  for plugin in "$@"; do
    hosted "another version, first, and ${plugin#"$work/$short-linking-"}" \
      "$work/$short-linking-other/libplugin.so" "$plugin" nothing
    hosted "${plugin#"$work/$short-linking-"}, first, and another version" "$plugin" \
      "$work/$short-linking-other/libplugin.so" nothing
  done
}

# A static library for those who only rotate, where there is neither nlohmann-json nor fmt nor
# Highway.
without_packages() {
  local prefix=$work/$short-built-in/installed said option
  library "$short-built-in" "$source_folder" "$compiler" -DEIGEN_ROPE_BUILD_MODELS=OFF \
    -DEIGEN_ROPE_BUILD_BENCH=OFF "${quick[@]}" "${built_in[@]}" \
    -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON
  if nm -C "$(find "$prefix" -name libeigen_rope.a)" 2>/dev/null | grep -E '\b(fmt::v[0-9]|hwy::)' >&2; then
    die "libeigen_rope.a has the names above, which another fmt or Highway may have"
  fi
  versioned_symbols "the static library with fmt and Highway built in" "$prefix"
  linking_project "$short-linking-built-in" "$prefix" -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON \
    -DCMAKE_DISABLE_FIND_PACKAGE_hwy=ON
  run "linking what is built in" cmake --build "$work/$short-linking-built-in" --target \
    plugin_hidden without_both
  run "a program with what is built in" "$work/$short-linking-built-in/without_both"
  PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name eigen-rope.pc)") run \
    "pkg-config without fmt and Highway" pkg-config --static --libs eigen-rope
  if grep -E 'fmt|hwy' "$log" >&2; then die "pkg-config names what is built in"; fi
  [ -z "$(find "$prefix" -name '*models*')" ] || die \
    "a library without models installs some"

  find_says "models: FALSE" find "$prefix" -DCOMPONENTS=rope -DOPTIONAL=models
  find_says "[rope] the component models needs a library that was built with EIGEN_ROPE_BUILD_MODELS, which was OFF" \
    find "$prefix" -DCOMPONENTS=models
  find_says "models: TRUE" find "$static" -DCOMPONENTS="rope;models"
  find_says "[rope] a component must be rope or models, got tool" find "$static" -DCOMPONENTS=tool
  for option in FMT:include/fmt/format-inl.h HIGHWAY:hwy/highway.h; do
    rm -rf "$work/refused"
    said=$(cmake -S . -B "$work/refused" -G Ninja "-DEIGEN_ROPE_${option%:*}_DIR=$work/eigens" 2>&1 |
      tr -s '[:space:]' ' ' || true)
    [[ $said == *"[rope] EIGEN_ROPE_${option%:*}_DIR must hold ${option#*:}, got $work/eigens"* ]] ||
      die "EIGEN_ROPE_${option%:*}_DIR must refuse a folder without ${option#*:}, got: $said"
  done
  rm -rf "$work/refused"
  printf '  %s\n' "the rotation alone, without nlohmann-json, with fmt and Highway built in"
}
