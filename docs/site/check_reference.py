#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the reference says of everything public what it is.

usage: check_reference.py XML OUT     Doxygen's XML; the page of all functions to write, as HTML to
stand in the site's frame. Exit code 1 with a line for each brief that is missing, or that does not
begin by saying what the thing is.
"""

import html
import os
import re
import sys
import xml.etree.ElementTree as tree

REFUSED = re.compile(r'(Throws|As|The same|Of|Likewise|Ditto)\b')
KINDS = ('class', 'struct', 'union', 'namespace', 'group')


def text_of(element):
    return ' '.join(''.join(element.itertext()).split()) if element is not None else ''


def main():
    folder, out = sys.argv[1:]
    functions = {}  # title of a group -> name -> (place, brief)
    findings = []
    count = 0

    def look(what, where, brief):
        nonlocal count
        count += 1
        if not brief:
            findings.append(f'{where}: {what} has no brief')
        elif REFUSED.match(brief):
            findings.append(f'{where}: {what} must say what it is, got "{brief[:60]}"')

    for name in sorted(os.listdir(folder)):
        if not name.endswith('.xml') or name == 'index.xml':
            continue
        compound = tree.parse(os.path.join(folder, name)).getroot().find('compounddef')
        if compound is None or compound.get('kind') not in KINDS:
            continue
        if compound.get('prot') == 'private':
            continue
        kind, called = compound.get('kind'), compound.findtext('compoundname')
        title = compound.findtext('title') or called
        location = compound.find('location')
        where = location.get('file') if location is not None else name
        if kind in ('class', 'struct', 'union', 'group'):
            look(called, where, text_of(compound.find('briefdescription')))
        if kind == 'namespace':
            continue  # its members are those of groups
        for member in compound.iter('memberdef'):
            short = member.findtext('name')
            if member.get('prot') != 'public' or member.get('kind') == 'friend':
                continue
            if kind != 'group' and re.match(r'~|operator|' + re.escape(called.split('::')[-1]) + '$', short):
                if not text_of(member.find('briefdescription')) and not member.findall('param'):
                    continue  # a default constructor, a destructor
            if 'default' in (member.findtext('argsstring') or ''):
                continue
            place = member.find('location')
            at = f'{place.get("file")}:{place.get("line")}'
            brief = text_of(member.find('briefdescription'))
            look(f'{called}::{short}' if kind != 'group' else short, at, brief)
            parts = ('definition', 'argsstring', 'templateparamlist', 'initializer')
            if any('detail::' in text_of(member.find(part)) for part in parts):
                findings.append(f'{at}: {short} shows a name of namespace detail')
            for value in member.findall('enumvalue'):
                look(f'{short}::{value.findtext("name")}', at, text_of(value.find('briefdescription')))
            if kind == 'group' and member.get('kind') == 'function':
                if short.startswith('operator'):
                    continue
                qualified = member.findtext('definition').split('(')[0].split()[-1]
                qualified = re.sub(r'^eigen_rope::', '', qualified)
                identity = member.get('id')
                page, anchor = identity.rsplit('_1', 1)
                functions.setdefault((title, f'{page}.html'), {}).setdefault(
                    qualified, (f'{page}.html#{anchor}', brief)
                )
    rows = ['<div class="header"><div class="headertitle"><div class="title">All functions</div></div></div>']
    rows.append('<div class="contents"><p>Every function outside a class, by subject.</p>')
    for (title, page), names in sorted(functions.items()):
        rows.append(f'<h2><a href="{page}">{html.escape(title)}</a></h2>\n<dl class="functions">')
        for called, (place, brief) in sorted(names.items()):
            rows.append(f'<dt><a href="{place}"><code>{html.escape(called)}</code></a></dt>')
            rows.append(f'<dd>{html.escape(brief)}</dd>')
        rows.append('</dl>')
    rows.append('</div>')
    with open(out, 'w', encoding='utf-8') as file:
        file.write('\n'.join(rows) + '\n')
    print(*findings, sep='\n', end='\n' if findings else '')
    print(f'{count} briefs, {len(findings)} of them missing or not saying what a thing is')
    return 1 if findings or not count else 0


sys.exit(main())
