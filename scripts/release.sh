#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the source archive of a release. The same commit always gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage="usage: scripts/release.sh [--commit NAME] [--out FOLDER]
  Writes FOLDER/eigen-rope-VERSION.tar.gz and prints its name and SHA-256. The archive holds every
  file of the commit, in git's order, owned by root, with the time of the commit. It builds, tests
  and documents itself without git.
  --commit NAME  What git calls the commit; HEAD by default. Changes without a commit stay out.
  --out FOLDER   out by default."
commit=HEAD out=out
while [ $# -gt 0 ]; do
  case "$1" in
    --commit | --out)
      needs_value "$@"
      if [ "$1" = --commit ]; then commit=$2; else out=$2; fi
      shift
      ;;
    *) other_argument "$1" "$usage" ;;
  esac
  shift
done

require_packages git
require_git scripts/release.sh
git rev-parse --quiet --verify "$commit^{commit}" >/dev/null || die "git knows no commit '$commit'"

# number NAME: one of the three of the version that this commit has
number() {
  git show "$commit:include/eigen_rope/version.hpp" |
    sed -n "s/^#define EIGEN_ROPE_VERSION_$1 \([0-9]*\).*/\1/p"
}
version=$(number MAJOR).$(number MINOR).$(number PATCH)
git grep -qE "^## ${version//./\\.} - [0-9]{4}-[0-9]{2}-[0-9]{2}$" "$commit" -- CHANGELOG.md ||
  die "CHANGELOG.md must have a section '## $version - YEAR-MONTH-DAY'"
recipe=packaging/vcpkg/vcpkg.json
git grep -qF "\"version\": \"$version\"" "$commit" -- "$recipe" ||
  die "$recipe must have the version $version"

mkdir -p "$out"
archive=$out/eigen-rope-$version.tar.gz
# The mask of permissions is a setting of git's user.
git -c tar.umask=0022 archive --format=tar --prefix="eigen-rope-$version/" "$commit" |
  gzip -9 --no-name >"$archive.part"
mv "$archive.part" "$archive"
echo "$archive"
sha256sum "$archive" | cut -d' ' -f1
