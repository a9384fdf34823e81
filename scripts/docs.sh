#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation as a site under out/site: the public headers, the pages of docs/ and the
# examples.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

check=no
case "${1:-}" in
  "") ;;
  --check) check=yes ;;
  -h | --help)
    echo "usage: scripts/docs.sh [--check]
  Builds out/site; open out/site/index.html.
  --check    Also look at every page with Chromium, at the width of a desk and of a telephone. The
             pictures are in out/site_pictures."
    exit 0
    ;;
  *) die "unknown argument '$1'; see scripts/docs.sh --help" ;;
esac

require_packages "${docs_packages[@]}"
work=build/site
rm -rf "$work" out/site
mkdir -p "$work" out
python3 docs/site/prepare_pages.py "$work/pages" || die "the pages could not be prepared"

version=$(sed -n 's/^#define EIGEN_ROPE_VERSION_[A-Z]* \([0-9]*\).*/\1/p' include/eigen_rope/version.hpp | paste -sd.)
say "building out/site of version $version"
{
  cat docs/site/Doxyfile
  echo "INPUT += $work/pages"
  echo "STRIP_FROM_PATH += $work/pages"
  echo "USE_MDFILE_AS_MAINPAGE = $work/pages/index_page.md"
  echo "PROJECT_NUMBER = $version"
  echo "HTML_HEADER = $work/pages/header.html"
  echo "HTML_EXTRA_FILES = docs/site/style.css $(echo docs/images/*)"
  echo "OUTPUT_DIRECTORY = $work"
  echo "GENERATE_TAGFILE = $work/tags.xml"
} >"$work/Doxyfile"
doxygen "$work/Doxyfile" || die \
  "Doxygen has found what is not documented or cannot be read; its messages are above"
# What nothing links to: Doxygen's own styles and scripts, and its indices by letter (headers,
# classes and namespaces list everything once).
rm -f "$work"/html/*.js "$work"/html/{doxygen,tabs,navtree,search}.css \
  "$work"/html/{bc_,nav_,sync_,tab_,splitbar,bdwn,closed,doc,doxygen,folder,open}*.{png,svg} \
  "$work"/html/{functions,globals,namespacemembers}*.html \
    "$work"/html/{classes,hierarchy,pages}.html "$work"/html/*-members.html
# Lists of a page's own sections, which name private ones too.
sed -i '/<div class="summary">/,/<\/div>/d' "$work"/html/*.html
# Links to whatever has the name of a local variable or parameter: in code only names with their
# namespace lead somewhere for certain.
sed -i -E \
  's|<a class="code[^>]*>([^<:]*)</a>|\1|g; s|(&amp;)<a class="el"[^>]*>([^<:]*)</a>|\1\2|g' \
  "$work"/html/*.html
python3 docs/site/make_names.py "$work/tags.xml" "$work/pages" "$work/html/names.js"
mv "$work/html" out/site
python3 docs/site/check_links.py out/site || die "links lead nowhere; they are listed above"
if [ "$check" = yes ]; then
  require_packages "${docs_check_packages[@]}"
  say "looking at the pages"
  python3 docs/site/check_widths.py out/site out/site_pictures || die \
    "pages are wider than their windows; they are listed above"
fi
say "out/site/index.html"
