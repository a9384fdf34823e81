#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes search_index.js, in which search.js looks words up: every section of every page, every
class and every documented member, with its place and its text.

usage: make_index.py SITE SYNONYMS      the folder of the finished HTML, where the script is
written; a JSON file of words and what else is looked up for them
"""

import html.parser
import json
import os
import re
import sys

HEADINGS = ('h1', 'h2', 'h3', 'h4')
SILENT = ('script', 'style', 'nav', 'header', 'title')
SILENT_CLASSES = {'permalink', 'toc', 'ingroups'}
BREAKS = ('p', 'li', 'td', 'th', 'tr', 'div', 'dd', 'dt', 'pre', 'br', 'table', 'ul')


class Sections(html.parser.HTMLParser):
    """A page's sections: [id, heading, whether a member, text]. The first is the page itself."""

    def __init__(self, text):
        super().__init__()
        self.sections = [['', '', False, '']]
        self.silent = []
        self.heading = None
        self.in_main = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        classes = (values.get('class') or '').split()
        self.in_main |= tag == 'main'
        if self.silent:
            if tag == self.silent[0]:
                self.silent.append(tag)
        elif tag in SILENT or set(classes) & SILENT_CLASSES:
            self.silent.append(tag)
        elif tag in HEADINGS and values.get('id'):
            self.sections.append([values['id'], '', 'memtitle' in classes, ''])
            self.heading = tag
        elif 'title' in classes and tag == 'div':
            self.heading = tag
        elif tag in BREAKS:
            self.handle_data(' ')

    def handle_endtag(self, tag):
        if self.silent:
            if tag == self.silent[0]:
                self.silent.pop()
        elif tag == self.heading:
            self.heading = None

    def handle_data(self, data):
        if self.in_main and not self.silent:
            self.sections[-1][1 if self.heading else 3] += data


def kind_of(name):
    """What search.js weighs a page by."""
    if name.endswith('_8hpp.html') or name.startswith('namespace'):
        return 'header'
    if re.search('__(ggml|onnx|aclnn)|rope_1_1(ggml|onnx|aclnn)_', name):
        return 'operator'
    if name.startswith(('class', 'struct', 'union', 'group__')):
        return 'name'
    if name.startswith(('examples_', 'tests_', 'bench_')) or name in ('changelog.html', 'functions.html'):
        return 'example'
    return 'page'


def squeezed(text):
    return ' '.join(text.split())


def title_of(heading):
    """What a page is called: a class by its name alone, and a header by its file."""
    heading = squeezed(heading)
    match = re.match(r'([\w:]+)\s*<.*>', heading)
    return match.group(1) if match else heading


def main():
    site, synonyms = sys.argv[1:]
    entries = []
    for name in sorted(os.listdir(site)):
        if not name.endswith('.html') or name.startswith(('dir_', '404')):
            continue
        with open(os.path.join(site, name), encoding='utf-8') as file:
            sections = Sections(file.read()).sections
        kind = kind_of(name)
        reference = kind not in ('page', 'example')
        page = title_of(sections[0][1])
        of = page + '::' if name.startswith(('class', 'struct', 'union')) else ''
        for label, heading, member, text in sections:
            heading, text = squeezed(heading), squeezed(text)
            if not label:
                if kind == 'page':
                    text = squeezed(' '.join(section[3] for section in sections))
                entries.append([page, '', name, kind, text])
            elif member:
                called = re.match(r'(?:operator\W+|[~\w]+)', heading)
                qualified = re.search(r'eigen_rope::([\w:]*?)' + re.escape(called[0]), text)
                before = of or (qualified[1] if qualified and kind == 'operator' else '')
                entries.append([before + called[0], page, f'{name}#{label}', kind, text])
            elif not reference:
                entries.append([heading, page, f'{name}#{label}', 'section', text])
    with open(synonyms, encoding='utf-8') as file:
        words = json.load(file)
    short = {'ensure_ascii': False, 'separators': (',', ':')}
    with open(os.path.join(site, 'search_index.js'), 'w', encoding='utf-8') as file:
        file.write(
            '// title, page, place, kind, text\n'
            f'const searchSynonyms = {json.dumps(words, **short)};\n'
            f'const searchIndex = {json.dumps(entries, **short)};\n'
        )
    print(f'{len(entries)} places can be found')


main()
