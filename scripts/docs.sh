#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation as a site under out/site: the public headers, the pages of docs/ and the
# examples.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

usage="usage: scripts/docs.sh [--check]
  Builds out/site; open out/site/index.html.
  --check    Also compile the lines of use that the reference shows, and look at every page with
             Chromium, at the width of a desk and of a telephone: at every place that a link leads
             to, and at what the search finds. The pictures are in out/site_pictures."
check=no
case "${1:-}" in
  "") ;;
  --check) check=yes ;;
  *) other_argument "$1" "$usage" ;;
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
  echo "HTML_EXTRA_FILES = docs/site/style.css docs/site/favicon.svg docs/site/search.js $(echo docs/images/*)"
  echo "OUTPUT_DIRECTORY = $work"
} >"$work/Doxyfile"
doxygen "$work/Doxyfile" || die \
  "Doxygen has found what is not documented or cannot be read; its messages are above"
python3 docs/site/check_reference.py "$work/xml" "$work/functions.html" || die \
  "the reference must say of everything what it is; what it does not is listed above"
# What nothing links to: Doxygen's own styles and scripts, and its indices by letter (headers,
# classes and functions list everything once).
rm -f "$work"/html/{dynsections,jquery,menu,menudata,resize,svgpan,clipboard,cookie}*.js \
  "$work"/html/{doxygen,tabs,navtree,search}.css \
  "$work"/html/{bc_,nav_,sync_,tab_,splitbar,bdwn,closed,doc,doxygen,folder,open}*.{png,svg} \
  "$work"/html/{functions,globals,namespacemembers}*.html \
    "$work"/html/{classes,hierarchy,modules,topics,pages}.html "$work"/html/*-members.html
# Lists of a page's own sections, which name private ones too.
sed -i '/<div class="summary">/,/<\/div>/d' "$work"/html/*.html
# Links to whatever has the name of a local variable or parameter: in code only names with their
# namespace lead somewhere for certain.
sed -i -E \
  's|<a class="code[^>]*>([^<:]*)</a>|\1|g; s|(&amp;)<a class="el"[^>]*>([^<:]*)</a>|\1\2|g' \
  "$work"/html/*.html
# framed TITLE FILE: the file as a page, in the frame that Doxygen gives its own
framed() {
  sed "s/\\\$projectname/eigen-rope/g; s/\\\$projectnumber/$version/; s/\\\$title/$1/" \
    "$work/pages/header.html"
  cat "$2" docs/site/footer.html
}
framed "All functions" "$work/functions.html" >"$work/html/functions.html"
framed "Page not found" docs/site/404.html >"$work/html/404.html"
python3 docs/site/finish_pages.py "$work/html" "$work/pages/contents.html"
python3 docs/site/make_index.py "$work/html" docs/site/synonyms.json
mv "$work/html" out/site
python3 docs/site/check_links.py out/site || die "links lead nowhere; they are listed above"
if [ "$check" = yes ]; then
  require_packages "${docs_check_packages[@]}"
  say "compiling the reference's lines of use"
  python3 docs/site/check_uses.py || die "lines of use do not compile; the compiler's messages are above"
  say "looking at the pages"
  python3 docs/site/check_pages.py out/site docs/site/questions.json out/site_pictures || die \
    "the pages have the faults listed above"
fi
say "out/site/index.html"
