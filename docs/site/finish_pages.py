#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finishes the pages that Doxygen has written.

usage: finish_pages.py SITE CONTENTS      the folder of the HTML, the list of pages in their order

- A heading and a documented member carry their anchor themselves, and show a link to it.
- Code whose first line is @@LANGUAGE@@ (prepare_pages.py writes it) is coloured for shell or CMake.
- A page of the contents links to the one before and the one after it.
- A page's description, for search engines and previews, is its first paragraph.
- A page that is named after a class or a header has the name alone as its title.
"""

import html
import os
import re
import sys

SHELL_WORDS = r'(sudo|apt|apt-get|cmake|ctest|ninja|cpack|git|g\+\+|pkg-config|cd|mkdir|source|man|python3|pip|tar)'
CMAKE_WORDS = r'([A-Za-z_]+)(?=\s*\()'


def span(kind, text):
    return f'<span class="{kind}">{text}</span>'


def coloured(language, line):
    """A line of HTML-escaped code in the language."""
    if language == 'text':
        return line
    code, mark, comment = line, '', ''
    found = re.search(r'(^|\s{1,})#\s.*$', line)
    if found:
        code, comment = line[: found.start()], line[found.start() :]
    if language == 'cmake':
        code = re.sub(r'&quot;.*?&quot;', lambda m: span('stringliteral', m.group()), code)
        code = re.sub(r'^(\s*)' + CMAKE_WORDS, r'\1<span class="keyword">\2</span>', code)
    else:
        found = re.match(r'\s*\$ ', code)
        if found:
            mark, code = span('comment', found.group()), code[found.end() :]
        code = re.sub(
            r'(^|&amp;&amp; |\| )(\s*)' + SHELL_WORDS + r'(?= )',
            r'\1\2<span class="keyword">\3</span>',
            code,
        )
    return mark + code + (span('comment', comment) if comment else '')


def with_colours(page):
    """Fragments that say their language, in its colours."""

    def fragment(match):
        lines = re.findall(r'<div class="line">(.*?)</div>', match.group(1), re.S)
        language = re.search(r'@@(\w+)@@', lines[0]).group(1)
        body = ''.join(
            f'<div class="line">{coloured(language, line.rstrip())}</div>\n' for line in lines[1:]
        )
        return f'<div class="fragment {language}">{body}</div><!-- fragment -->'

    return re.sub(
        r'<div class="fragment">(<div class="line">\s*(?:<span[^>]*>[^<]*</span>)?\s*@@\w+@@.*?)</div><!-- fragment -->',
        fragment,
        page,
        flags=re.S,
    )


def permalink(label):
    return f'<a class="permalink" href="#{label}" aria-label="Link to this place">#</a>'


def with_anchors(page):
    page = re.sub(
        r'<h(\d)([^>]*)>\s*<a class="anchor" id="([^"]+)"></a>(.*?)</h\1>',
        lambda m: f'<h{m[1]}{m[2]} id="{m[3]}">{m[4].strip()} {permalink(m[3])}</h{m[1]}>',
        page,
        flags=re.S,
    )
    page = re.sub(
        r'<a id="([^"]+)" name="\1"></a>\s*<h2 class="(memtitle|groupheader)">(?:<span class="permalink">.*?</span>)?(.*?)</h2>',
        lambda m: f'<h2 class="{m[2]}" id="{m[1]}">{m[3].strip()} {permalink(m[1])}</h2>',
        page,
        flags=re.S,
    )
    return page


def order_of(contents):
    """The pages' files and titles, in their order."""
    return re.findall(r'<li><a href="([^"]+)">(.*?)</a></li>', contents)


def with_short_title(page):
    """A class's page is titled by its name alone, and begins with what it is."""
    page = re.sub(
        r'(<div class="title">)(?:eigen_rope::)?(.*?) (?:Class|Struct|Namespace)(?: Template)? Reference',
        r'\1\2',
        page,
    )
    page = re.sub(r'(<div class="title">.*?) File Reference', r'\1', page)
    return re.sub(r'(<a name="details" id="details"></a>)?<h2 class="groupheader"[^>]*>Detailed Description.*?</h2>', r'\1', page)


def with_neighbours(page, name, order):
    files = [file for file, _ in order]
    if name not in files:
        return page
    i = files.index(name)
    links = ''
    if i > 0:
        links += f'<a rel="prev" href="{files[i - 1]}">{order[i - 1][1]}</a>'
    if i + 1 < len(files):
        links += f'<a rel="next" href="{files[i + 1]}">{order[i + 1][1]}</a>'
    return page.replace('</main>', f'<nav class="neighbours">{links}</nav>\n</main>')


def with_description(page):
    body = page[page.find('<div class="contents">') :]
    for what in (
        r'<div class="(?:toc|figure)">.*?</div>',
        r'<div class="fragment.*?<!-- fragment -->',
        r'<table.*?</table>',
    ):
        body = re.sub(what, '', body, flags=re.S)
    for paragraph in re.findall(r'<(?:p|p [^>]*|div class="textblock")>(.*?)</(?:p|div)>', body, re.S):
        text = ' '.join(re.sub(r'<[^>]+>', '', paragraph).split())
        if len(text) > 30 and not text.startswith(('#include', 'template')):
            if len(text) > 160:
                text = text[:160].rsplit(' ', 1)[0] + ' ...'
            quoted = html.escape(html.unescape(text), quote=True)
            return page.replace(
                '<link rel="stylesheet"', f'<meta name="description" content="{quoted}">\n<link rel="stylesheet"', 1
            )
    return page


def main():
    site, contents = sys.argv[1:]
    with open(contents, encoding='utf-8') as file:
        order = order_of(file.read())
    described = {file for file, _ in order}
    for name in sorted(os.listdir(site)):
        if not name.endswith('.html'):
            continue
        path = os.path.join(site, name)
        with open(path, encoding='utf-8') as file:
            page = file.read()
        page = with_short_title(page)
        page = with_anchors(page)
        page = with_colours(page)
        page = with_neighbours(page, name, order)
        page = with_description(page)
        if name in described and 'name="description"' not in page:
            raise SystemExit(f'{name} must begin with a paragraph that describes it')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(page)


main()
