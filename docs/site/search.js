// SPDX-License-Identifier: Apache-2.0
// Finds sections, classes and functions by the words of their titles and texts. The index is
// search_index.js, which is loaded when the field is first used.
//
// search(query) returns the best places first. A word counts more in a title than in a text, and a
// rare word more than a frequent one; a word may begin a longer one. Synonyms count for less than
// the word itself. Places that have all the words come before those that have some.

const searchIdle = new Set(('a an and are as at be by can do does for from how i if in is it its my of on or the this to ' +
  'use using what when where which who why with').split(' '));

function searchWords(text) {
  return (text.toLowerCase().match(/[\p{L}\p{N}_+#²]+(?:[.:-]+[\p{L}\p{N}_+]+)*/gu) || []).map(searchStem);
}

// A plural is found by its singular, and the other way round.
function searchStem(word) {
  if (/[^s]ies$/.test(word) && word.length > 5) return word.slice(0, -3) + 'y';
  return /[^su]s$/.test(word) && word.length > 3 ? word.slice(0, -1) : word;
}

// How well a word is met by the words of a title: whole, as a part of a name, or as a beginning.
function searchInTitle(word, titleWords) {
  let best = 0;
  for (const candidate of titleWords) {
    if (candidate === word) best = Math.max(best, 1);
    else if (candidate.split(/[_:.-]+/).includes(word)) best = Math.max(best, 0.75);
    else if (word.length > 2 && candidate.startsWith(word)) best = Math.max(best, 0.5);
  }
  return best;
}

let searchPrepared = null;

function searchPrepare() {
  if (searchPrepared) return searchPrepared;
  searchPrepared = searchIndex.map(([title, page, place, kind, text]) => {
    const counts = new Map();
    for (const word of searchWords(text)) {
      counts.set(word, (counts.get(word) || 0) + 1);
      for (const part of word.split(/[_:.-]+/)) {
        if (part && part !== word) counts.set(part, (counts.get(part) || 0) + 0.5);
      }
    }
    return { title, page, place, kind, text, titleWords: searchWords(title), pageWords: searchWords(page), counts };
  });
  return searchPrepared;
}

function searchScore(entry, word) {
  const title = searchInTitle(word, entry.titleWords);
  const page = searchInTitle(word, entry.pageWords);
  let count = entry.counts.get(word) || 0;
  if (count === 0 && word.length > 2) {
    for (const [candidate, times] of entry.counts) if (candidate.startsWith(word)) count += 0.5 * times;
  }
  const density = count / (count + 2 + entry.counts.size / 150);
  const of = entry.kind === 'name' || entry.kind === 'operator' ? 1 : 3;
  return 10 * title + of * page + 6 * density;
}

function search(query) {
  const entries = searchPrepare();
  let words = searchWords(query);
  const telling = words.filter(word => !searchIdle.has(word));
  if (telling.length) words = telling;
  if (!words.length) return [];
  const groups = words.map(word => [[word, 1], ...(searchSynonyms[word] || []).map(other => [searchStem(other), 0.6])]);
  for (let i = 0; i + 1 < words.length; ++i) {
    const both = searchSynonyms[words[i] + ' ' + words[i + 1]];
    if (both) groups[i].push(...both.map(other => [searchStem(other), 0.8]));
  }
  const kinds = { page: 1.4, section: 1, name: 1.1, operator: 0.7, example: 0.6, header: 0.4 };
  const columns = groups.map(group => {
    const scores = entries.map(entry => Math.max(...group.map(([word, weight]) => weight * searchScore(entry, word))));
    const met = scores.filter(score => score > 0).length;
    const rarity = Math.log(1 + entries.length / (1 + met));
    return scores.map(score => score * rarity);
  });
  const hits = [];
  entries.forEach((entry, i) => {
    const met = columns.filter(column => column[i] > 0).length;
    if (!met) return;
    const sum = columns.reduce((total, column) => total + column[i], 0);
    hits.push({ entry, score: sum * kinds[entry.kind] * (met / columns.length) ** 3 });
  });
  hits.sort((a, b) => b.score - a.score || a.entry.place.length - b.entry.place.length);
  return hits.slice(0, 20).map(hit => hit.entry);
}

// The words of the text around the first that was asked for.
function searchExcerpt(entry, query) {
  const words = searchWords(query).filter(word => !searchIdle.has(word)).map(word => word.replace(/y$/, ''));
  const lower = entry.text.toLowerCase();
  const places = words.map(word => lower.indexOf(word)).filter(place => place >= 0);
  const first = places.length ? Math.min(...places) : 0;
  const begin = first < 40 ? 0 : lower.indexOf(' ', first - 40) + 1;
  const excerpt = entry.text.slice(begin, begin + 110);
  return (begin ? '... ' : '') + excerpt + (begin + 110 < entry.text.length ? ' ...' : '');
}

function searchShow(field, list) {
  const query = field.value.trim();
  const items = [];
  if (query) {
    for (const entry of search(query)) {
      const link = Object.assign(document.createElement('a'), { href: entry.place });
      const title = Object.assign(document.createElement('b'), { textContent: entry.title || entry.page });
      const where = Object.assign(document.createElement('span'), { className: 'where', textContent: entry.title ? entry.page : '' });
      const excerpt = Object.assign(document.createElement('span'), { className: 'excerpt', textContent: searchExcerpt(entry, query) });
      link.append(title, where, excerpt);
      const item = document.createElement('li');
      item.append(link);
      items.push(item);
    }
    if (!items.length) {
      items.push(Object.assign(document.createElement('li'), { className: 'nothing', textContent: `Nothing found for "${query}".` }));
    }
  }
  list.replaceChildren(...items);
}

function searchBegin() {
  const field = document.getElementById('find');
  const list = document.getElementById('found');
  let asked = null;
  const loaded = () => {
    asked ??= new Promise(done => {
      const script = Object.assign(document.createElement('script'), { src: 'search_index.js', onload: done });
      document.head.append(script);
    });
    return asked;
  };
  const links = () => [...list.querySelectorAll('a')];
  const chosen = () => links().findIndex(link => link.classList.contains('chosen'));
  const choose = place => {
    links().forEach((link, i) => link.classList.toggle('chosen', i === place));
    links()[place]?.scrollIntoView({ block: 'nearest' });
  };
  field.addEventListener('focus', loaded);
  field.addEventListener('input', async () => {
    await loaded();
    searchShow(field, list);
    choose(0);
  });
  field.addEventListener('keydown', event => {
    const count = links().length;
    if (event.key === 'ArrowDown' && count) choose((chosen() + 1) % count);
    else if (event.key === 'ArrowUp' && count) choose((chosen() + count - 1) % count);
    else if (event.key === 'Enter' && count) links()[Math.max(chosen(), 0)].click();
    else if (event.key === 'Escape') {
      field.value = '';
      list.replaceChildren();
      field.blur();
    } else return;
    event.preventDefault();
  });
  list.addEventListener('click', event => {
    if (event.target.closest('a')) {
      list.replaceChildren();
      field.value = '';
      document.getElementById('menu').checked = false;
    }
  });
  document.addEventListener('keydown', event => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    event.preventDefault();
    const menu = document.getElementById('menu');
    if (field.offsetParent === null) menu.checked = true;
    field.focus();
  });
}

if (typeof document !== 'undefined' && document.getElementById('find')) searchBegin();
