#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether every link of a site leads somewhere: each href and src to a file that is there, each
fragment to an id in it.

usage: check_links.py SITE      exit code 1 with a line for each link that does not; the network is
not asked, and links to it are refused
"""

import html.parser
import json
import os
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids = set()
        self.links = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ('id', 'name') and tag != 'meta':
                self.ids.add(value)
            elif name in ('href', 'src', 'data') and value:
                self.links.append((self.getpos()[0], value))

    handle_startendtag = handle_starttag


def pages_of(site):
    """Every page by its name, and the places of the search as the links of search_index.js."""
    pages = {}
    for name in sorted(os.listdir(site)):
        if name.endswith('.html'):
            with open(os.path.join(site, name), encoding='utf-8') as file:
                pages[name] = Page(file.read())
    with open(os.path.join(site, 'search_index.js'), encoding='utf-8') as script:
        index = json.loads(script.read().split('const searchIndex = ')[1].rstrip(';\n'))
    pages['search_index.js'] = Page('')
    pages['search_index.js'].links = [(1, place) for _, _, place, _, _ in index]
    return pages


def main():
    site = sys.argv[1]
    pages = pages_of(site)
    broken = links = 0
    reached = {'index.html'}
    for name, page in pages.items():
        for line, link in page.links:
            links += 1
            parts = urllib.parse.urlsplit(link)
            file = urllib.parse.unquote(parts.path) or name
            fragment = urllib.parse.unquote(parts.fragment)
            reached.add(file) if file != name else None
            why = None
            if parts.scheme or parts.netloc:
                why = 'is outside the site'
            elif not os.path.isfile(os.path.join(site, file)):
                why = 'leads to no file'
            elif fragment and file in pages and fragment not in pages[file].ids:
                why = 'leads to no such place'
            if why:
                broken += 1
                print(f'{name}:{line}: {link} {why}')
    for name in sorted(set(pages) - reached - {'search_index.js', '404.html'}):
        if name.startswith(
            'dir_'
        ):  # the list of headers names their folders, but not the outermost one
            continue
        broken += 1
        print(f'{name}: no page links here')
    print(f'{len(pages)} pages, {links} links, {broken} broken')
    return 1 if broken or not pages else 0


if __name__ == '__main__':
    sys.exit(main())
