#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at a site in headless Chromium, as its readers do.

usage: check_pages.py SITE QUESTIONS PICTURES     exit code 1 with a line for each finding; pictures
of the main pages go to PICTURES

- No page is wider than its window, at 1280 and at 390 pixels, and no figure is missing.
- Each link to a place inside a page, from a page or from the search, brings that place on screen.
- Each query of QUESTIONS (JSON) finds its page first.
- The search field takes a query, arrow keys and Enter, and says when nothing is found.
- Each question of QUESTIONS is answered after at most three clicks from the front page: each click
  is the text of a link that is on the page, and the answer is on screen after the last.

All pages are loaded into a frame by a page of the check's own, which is removed afterwards.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

from check_links import pages_of

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
    'group__reference__rotation',
    'rotate_8hpp',
)
LOOK = '''<!DOCTYPE html><meta charset="utf-8"><body>
<script src="search_index.js"></script><script src="search.js"></script><script>
const { pages, widths, places, queries, questions } = %s;
const findings = [];
async function load(frame, page) {
  await new Promise(done => { frame.onload = done; frame.src = page; if (!frame.parentNode) document.body.append(frame); });
}
function newFrame(width) {
  const frame = document.createElement('iframe');
  Object.assign(frame.style, { width: width + 'px', height: '800px', border: 0 });
  return frame;
}
function onScreen(element) {
  const boxes = element.getClientRects();
  return boxes.length > 0 && boxes[0].bottom > 0 && boxes[0].top < 800;
}
async function looks() {
  for (const width of widths) for (const page of pages) {
    const frame = newFrame(width);
    await load(frame, page);
    const root = frame.contentDocument.documentElement;
    if (root.scrollWidth > width) findings.push(`${page} is ${root.scrollWidth} wide in ${width}`);
    for (const image of frame.contentDocument.images) {
      if (image.complete && image.naturalWidth === 0) findings.push(`${page} lacks ${image.src}`);
    }
    frame.remove();
  }
}
async function leads() {
  for (const [page, labels] of Object.entries(places)) {
    const frame = newFrame(1280);
    await load(frame, page);
    for (const label of labels) {
      frame.contentWindow.location.hash = '';
      frame.contentWindow.scrollTo(0, 0);
      frame.contentWindow.location.hash = label;
      const target = frame.contentDocument.getElementById(label);
      if (!target || !onScreen(target)) findings.push(`${page}#${label} is not on screen`);
    }
    frame.remove();
  }
}
function asks() {
  for (const { query, finds } of queries) {
    const hits = search(query).map(hit => hit.place);
    if (!hits.length || !(hits[0] === finds || hits[0].split('#')[0] === finds)) {
      findings.push(`"${query}" finds ${hits.slice(0, 3).join(', ') || 'nothing'} before ${finds}`);
    }
  }
}
async function types() {
  const frame = newFrame(1280);
  await load(frame, 'index.html');
  const page = frame.contentDocument, field = page.getElementById('find'), list = page.getElementById('found');
  const press = (key, target) => target.dispatchEvent(new frame.contentWindow.KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  const type = async query => {
    field.value = query;
    field.dispatchEvent(new frame.contentWindow.Event('input'));
    for (let i = 0; i < 100 && !list.children.length; ++i) await new Promise(done => setTimeout(done, 20));
  };
  press('/', page.body);
  if (page.activeElement !== field) findings.push('the key / does not lead to the search field');
  await type('xyzzy');
  if (!list.textContent.includes('Nothing found')) findings.push('the search does not say that nothing is found');
  list.replaceChildren();
  await type('qwen');
  press('ArrowDown', field);
  const second = list.querySelectorAll('a')[1];
  if (!second || !second.classList.contains('chosen')) findings.push('the arrow keys do not choose a result');
  press('ArrowUp', field);
  const gone = new Promise(done => { frame.onload = done; setTimeout(done, 2000); });
  press('Enter', field);
  await gone;
  if (!frame.contentWindow.location.pathname.endsWith('/models.html')) findings.push('Enter does not lead to the result');
  frame.remove();
}
async function clicks() {
  for (const { question, clicks, answer } of questions) {
    const frame = newFrame(1280);
    await load(frame, 'index.html');
    for (const text of clicks) {
      const link = [...frame.contentDocument.querySelectorAll('a[href]')].find(a => a.textContent.trim() === text && a.getClientRects().length);
      if (!link) { findings.push(`"${question}": no link "${text}" on ${frame.contentWindow.location.pathname.split('/').pop()}`); break; }
      const [page, label] = link.href.split('#');
      if (page !== frame.contentWindow.location.href.split('#')[0]) await load(frame, page);
      if (label) frame.contentWindow.location.hash = label;
    }
    if (clicks.length > 3) findings.push(`"${question}" takes ${clicks.length} clicks`);
    const texts = [...frame.contentDocument.querySelectorAll('main p, main td, main li, main .line, main h1, main h2, main h3')];
    if (!texts.some(e => e.textContent.includes(answer) && onScreen(e))) findings.push(`"${question}": "${answer}" is not on screen`);
    frame.remove();
  }
}
(async () => {
  await looks(); await leads(); asks(); await types(); await clicks();
  const result = Object.assign(document.createElement('pre'), { id: 'result', textContent: 'looked at\\n' + findings.map(line => line + '\\n').join('') + 'done' });
  document.body.replaceChildren(result);
})();
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


def places_of(pages):
    """The places inside each page that a link of the site, or the search, names."""
    places = {}
    for name, page in pages.items():
        for _, link in page.links:
            file, _, label = link.partition('#')
            if label:
                places.setdefault(file or name, set()).add(urllib.parse.unquote(label))
    return {file: sorted(labels) for file, labels in places.items()}


def main():
    site, pictures = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[3])
    with open(sys.argv[2], encoding='utf-8') as file:
        asked = json.load(file)
    os.makedirs(pictures, exist_ok=True)
    profile = tempfile.mkdtemp()
    looking = os.path.join(site, 'looking_at_all.html')
    try:
        pages = pages_of(site)
        places = places_of(pages)
        pages = [name for name in pages if name.endswith('.html')]
        facts = {'pages': pages, 'widths': WIDTHS, 'places': places, **asked}
        with open(looking, 'w', encoding='utf-8') as file:
            file.write(LOOK % json.dumps(facts).replace('</', '<\\/'))
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
        count = sum(len(labels) for labels in places.values())
        print(
            f'{len(pages)} pages at {WIDTHS[0]} and {WIDTHS[1]} pixels, {count} places, '
            f'{len(asked["queries"])} queries, {len(asked["questions"])} questions, '
            f'{match.group(1).count(chr(10))} findings'
        )
        return 1 if match.group(1) else 0
    finally:
        if os.path.exists(looking):
            os.remove(looking)
        shutil.rmtree(profile, ignore_errors=True)


sys.exit(main())
