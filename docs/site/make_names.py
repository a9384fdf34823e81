#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes names.js, what the field above the site's contents looks names up in: every page, heading
and documented name, with its place.

usage: make_names.py TAGFILE PAGES OUT      a tag file of Doxygen's, the folder of the prepared
pages, the script to write
"""

import json
import os
import re
import sys
import xml.etree.ElementTree as tree


def text(element, name):
    child = element.find(name)
    return (child.text or '') if child is not None else ''


def main():
    tags, pages, out = sys.argv[1:]
    names = {}
    for compound in tree.parse(tags).getroot():
        kind, name, file = compound.get('kind'), text(compound, 'name'), text(compound, 'filename')
        if kind in ('class', 'struct'):
            names.setdefault(name, file)
        elif kind == 'file':
            names.setdefault(
                text(compound, 'path').split('include/')[-1] + name,
                file if file.endswith('.html') else file + '.html',
            )
        if kind not in ('namespace', 'class', 'struct'):
            continue
        for member in compound.findall('member'):
            short = text(member, 'name')
            if (
                member.get('kind') == 'friend'
                or short.startswith(('operator', '~'))
                or kind != 'namespace'
                and short == name.split('::')[-1]
            ):
                continue
            names.setdefault(
                f'{name}::{short}', text(member, 'anchorfile') + '#' + text(member, 'anchor')
            )
    for file in sorted(os.listdir(pages)):
        if not file.endswith('.md'):
            continue
        html = 'index.html' if file == 'index_page.md' else file[:-3] + '.html'
        title = None
        for heading, label in re.findall(
            r'^#+ (.*) \{#(\S+)\}$', open(os.path.join(pages, file), encoding='utf-8').read(), re.M
        ):
            if title is None:
                title = heading
                names.setdefault(title, html)
            else:
                names.setdefault(f'{title}: {heading}', f'{html}#{label}')
    with open(out, 'w', encoding='utf-8') as script:
        script.write(
            'const names = '
            + json.dumps(sorted(names.items()), ensure_ascii=False, separators=(',', ':'))
            + ';\n'
        )


main()
