#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies the Markdown pages into a folder as Doxygen wants them, and makes the header with the
site's contents.

usage: prepare_pages.py OUT      in the repository's folder; the pages are those of
docs/site/contents.txt and all files they link to

Doxygen names pages and headings by labels, links by them, and reads less Markdown than the pages
are written in. So headings get labels, links to pages, headers and other files of the repository
are turned into references, indented code is fenced, and files that are linked without being pages
(examples, data) become pages that show them. A link to a file that is not there is an error.
"""

import html
import os
import re
import sys

PAGES = {}  # path -> label
LISTED = {}  # path -> title of files that are shown as they are
QUEUE = []


def label_of(path):
    known = {'README.md': 'index_page', 'CHANGELOG.md': 'changelog'}
    if path in known:
        return known[path]
    if path.startswith('docs/'):
        return path[len('docs/') : -len('.md')]
    return re.sub(r'[^A-Za-z0-9]+', '_', path).strip('_').lower()


def page(path):
    if path not in PAGES:
        PAGES[path] = label_of(path)
        QUEUE.append(path)
    return PAGES[path]


def slug(heading):
    """GitHub's anchor of a heading, with underscores."""
    text = re.sub(r'[`*]', '', heading.lower())
    text = re.sub(r'[^\w\- ]', '', text)
    return text.replace(' ', '_').replace('-', '_')


def target(path, link):
    """What a link of the page `path` is for Doxygen."""
    file, _, fragment = link.partition('#')
    if not file:
        return '@ref ' + PAGES[path] + '_' + fragment.replace('-', '_')
    there = os.path.normpath(os.path.join(os.path.dirname(path), file))
    if there == 'examples':
        return '@ref examples'
    if os.path.isdir(there):
        there = os.path.join(there, 'README.md')
    if not os.path.isfile(there):
        raise SystemExit(f'{path}: the link to {link} leads nowhere')
    if there.startswith('include/'):
        return '@ref ' + there[len('include/eigen_rope/') :]
    label = page(there)
    return '@ref ' + (label + '_' + fragment.replace('-', '_') if fragment else label)


def prose(path, line):
    """A line outside code. Code spans are left alone."""
    parts = re.split(r'(`+[^`]+`+)', line)
    for i, part in enumerate(parts):
        if i % 2:
            if "'" in part and not part.startswith('``'):
                parts[i] = '`' + part + '`'
            continue
    line = ''.join(parts)
    line = line.replace('\\|', '&#124;')

    def image(match):
        return f'<div class="figure"><img src="{os.path.basename(match.group(2))}" alt="{html.escape(match.group(1))}" /></div>'

    line = re.sub(r'!\[([^\]]*)\]\(([^)\s]+)\)', image, line)

    def reference(match):
        text, link = match.group(1), match.group(2)
        if re.match(r'[a-z]+:', link):
            return match.group(0)
        there = target(path, link)
        if there.startswith('@ref '):
            words = text.replace('"', "'").replace('`', '')
            return f'{there} "{words}"' if match.group(0).startswith('[') else match.group(0)
        return f'[{text}]({there})'

    return re.sub(r'\[((?:[^\[\]]|\[[^\]]*\])+)\]\(([^)\s]+)\)', reference, line)


def unwrapped(lines):
    """Each paragraph and each item of a list as one line, so that links and code spans are whole.
    Code, tables, headings, pictures and comments stay as they are."""
    out = []
    fenced = commented = joins = False
    for line in lines:
        fence = line.startswith('```')
        commented = commented or (not fenced and line.startswith('<!--'))
        item = re.match(r'\s*([-*+]|\d+\.) ', line)
        stays = (
            fenced or fence or commented or not line.strip() or re.match(r'#|\s*\||!\[|<|>', line)
        )
        if stays or (line.startswith('    ') and not joins):
            out.append(line)
            joins = False
        elif joins and not item:
            out[-1] += ' ' + line.strip()
        else:
            out.append(line)
            joins = True
        fenced = fenced != fence
        commented = commented and '-->' not in line
    return out


def language_of(code, fence):
    """What finish_pages.py takes a block for; text is a program's output."""
    if fence == 'cmake':
        return 'cmake'
    command = r'\s*(\$ |sudo |cmake |ctest |git |g\+\+ |cd |tar |pip |conan |vcpkg |spack |scripts/|build/|eigen-rope )'
    return 'shell' if any(re.match(command, line) for line in code) else 'text'


def block(code, fence=''):
    """A block of code that is not C++, as Doxygen wants it."""
    language = language_of(code, fence)
    return ['```{.unparsed}', f'@@{language}@@', *code, '```']


def convert(path):
    lines = unwrapped(open(path, encoding='utf-8').read().split('\n'))
    out = []
    titled = False
    in_comment = False
    fence = indented = code = None
    blank = True
    headings = sum(1 for line in lines if line.startswith('## '))
    for line in [*lines, None]:
        if in_comment:
            in_comment = '-->' not in line
            continue
        if fence is not None:
            if line.startswith('```'):
                out += ['```{.cpp}', *code, '```'] if fence == 'cpp' else block(code, fence)
                fence = None
            else:
                code.append(line)
            continue
        if indented is not None:
            if line is not None and (line.startswith('    ') or not line.strip()):
                indented.append(line[4:])
                continue
            while indented[-1] == '':
                indented.pop()
            out += [*block(indented), '']
            indented = None
        if line is None:
            break
        if line.startswith('```'):
            fence, code = line[3:].strip(), []
        elif line.startswith('<!--'):
            in_comment = '-->' not in line
            blank = True
            continue
        elif line.startswith('    ') and blank:
            indented = [line[4:]]
        elif line.startswith('# ') and not titled:
            titled = True
            out += [f'{line} {{#{PAGES[path]}}}', '']
            if headings >= 4 and path not in ('README.md', 'CHANGELOG.md'):
                out += ['[TOC]', '']
        elif re.match(r'#+ ', line):
            out.append(
                f'{prose(path, line).replace("`", "")} {{#{PAGES[path]}_{slug(line.lstrip("# "))}}}'
            )
        else:
            out.append(prose(path, line))
        blank = not line.strip()
    return '\n'.join(out) + '\n'


def listing(path):
    text = open(path, encoding='utf-8').read()
    language, mark = ('.cpp', '') if path.endswith(('.cpp', '.hpp')) else ('.unparsed', '@@text@@\n')
    return f'# {path} {{#{PAGES[path]}}}\n\n```{{{language}}}\n{mark}{text}```\n'


def title_of(path):
    for line in open(path, encoding='utf-8'):
        if line.startswith('# '):
            return line[2:].strip().replace('`', '')
    raise SystemExit(f'{path} has no title')


def first_words(path):
    """The sentence an example opens with."""
    text = []
    for line in open(path, encoding='utf-8').read().split('\n')[2:]:
        if not line.startswith('// '):
            break
        text.append(line[3:])
    match = re.match(r'.*?[.](?=\s|$)', ' '.join(text))
    return match.group(0).rstrip('.') if match else 'The example of the overview'


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    nav = []
    for line in open('docs/site/contents.txt', encoding='utf-8'):
        line = line.strip()
        if not line or line.startswith('#'):
            continue
        file, _, words = line.partition(' ')
        if line.startswith('@'):
            href = file[1:]
        elif file.endswith('.md'):
            href = 'index.html' if file == 'README.md' else page(file) + '.html'
            words = words or title_of(file)
            page(file)
        else:
            nav.append(('</ul>\n' if nav else '') + f'<h2>{line}</h2>\n<ul>')
            continue
        nav.append(f'<li><a href="{href}">{html.escape(words)}</a></li>')
    nav.append('</ul>')
    missing = {'docs/' + f for f in os.listdir('docs') if f.endswith('.md')} - set(PAGES)
    if missing:
        raise SystemExit('docs/site/contents.txt does not have ' + ', '.join(sorted(missing)))

    examples = sorted(f'examples/{f}' for f in os.listdir('examples') if f.endswith('.cpp'))
    for path in examples:
        page(path)
    while QUEUE:
        path = QUEUE.pop(0)
        text = convert(path) if path.endswith('.md') else listing(path)
        name = 'index_page.md' if path == 'README.md' else PAGES[path] + '.md'
        with open(os.path.join(out, name), 'w', encoding='utf-8') as file:
            file.write(text)
    with open(os.path.join(out, 'examples.md'), 'w', encoding='utf-8') as file:
        file.write(
            '# Examples {#examples}\n\nSmall programs, one subject each; every one checks what it shows and is run by the tests.\n\n'
        )
        file.write('| program | what it shows |\n| --- | --- |\n')
        for path in examples:
            words = first_words(path).replace('|', '&#124;')
            file.write(f'| @ref {PAGES[path]} "{os.path.basename(path)}" | {words} |\n')

    with open(os.path.join(out, 'contents.html'), 'w', encoding='utf-8') as file:
        file.write('\n'.join(nav) + '\n')
    header = open('docs/site/header.html', encoding='utf-8').read()
    with open(os.path.join(out, 'header.html'), 'w', encoding='utf-8') as file:
        file.write(header.replace('<!-- nav -->', '\n'.join(nav)))


main()
