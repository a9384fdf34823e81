#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at every page of a site in headless Chromium at 1280 and 390 pixels: none may be wider than
its window, no figure may be missing.

usage: check_widths.py SITE PICTURES     exit code 1 with a line for each page that is; pictures of
the main pages go to PICTURES

All pages are loaded into a frame of that width by a page of its own, which is removed afterwards.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

WIDTHS = (1280, 390)
PICTURES = (
    'index',
    'getting_started',
    'idea',
    'cookbook',
    'scalings',
    'operators',
    'tool',
    'annotated',
    'namespaceeigen__rope',
    'rotate_8hpp',
)
LOOK = '''<!DOCTYPE html><meta charset="utf-8"><body><script>
const pages = %s, widths = %s;
async function look() {
  let lines = 'looked at\\n';
  for (const width of widths) for (const page of pages) {
    const frame = document.createElement('iframe');
    frame.style.width = width + 'px'; frame.style.height = '800px'; frame.style.border = 0;
    await new Promise(done => { frame.onload = done; frame.src = page; document.body.append(frame); });
    const root = frame.contentDocument.documentElement;
    if (root.scrollWidth > width) lines += page + ' is ' + root.scrollWidth + ' wide in ' + width + '\\n';
    for (const image of frame.contentDocument.images) if (image.complete && image.naturalWidth === 0) lines += page + ' lacks ' + image.src + '\\n';
    frame.remove();
  }
  document.body.innerHTML = '<pre id="result">' + lines + 'done</pre>';
}
look();
</script></body>'''


def chromium(profile, *arguments):
    command = [
        'chromium',
        '--headless',
        '--disable-gpu',
        '--hide-scrollbars',
        '--allow-file-access-from-files',
        f'--user-data-dir={profile}',
        *arguments,
    ]
    if os.geteuid() == 0:
        command.insert(1, '--no-sandbox')
    return subprocess.run(
        command,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=300,
    ).stdout


def main():
    site, pictures = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(pictures, exist_ok=True)
    profile = tempfile.mkdtemp()
    looking = os.path.join(site, 'looking_at_all.html')
    try:
        pages = sorted(name for name in os.listdir(site) if name.endswith('.html'))
        with open(looking, 'w', encoding='utf-8') as file:
            file.write(LOOK % (pages, list(WIDTHS)))
        result = chromium(
            profile, '--virtual-time-budget=600000', '--dump-dom', 'file://' + looking
        )
        match = re.search(r'<pre id="result">looked at\n(.*)done</pre>', result, re.S)
        if not match:
            raise SystemExit('Chromium did not finish')
        print(match.group(1), end='')
        for page in PICTURES:
            for width in WIDTHS:
                for scheme in ('light', 'dark'):
                    dark = (
                        ['--blink-settings=preferredColorScheme=0', '--force-dark-mode']
                        if scheme == 'dark'
                        else []
                    )
                    chromium(
                        profile,
                        f'--window-size={width},1600',
                        f'--screenshot={pictures}/{page}_{width}_{scheme}.png',
                        *dark,
                        f'file://{site}/{page}.html',
                    )
        print(
            f'{len(pages)} pages at {WIDTHS[0]} and {WIDTHS[1]} pixels, {match.group(1).count(chr(10))} findings'
        )
        return 1 if match.group(1) else 0
    finally:
        if os.path.exists(looking):
            os.remove(looking)
        shutil.rmtree(profile, ignore_errors=True)


sys.exit(main())
