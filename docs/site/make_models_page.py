#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what stands between the marks of docs/models.md, how published models and the families of
transformers rotate, from the recordings in tests/data/models and src/models/families_table.inc.

usage: make_models_page.py            writes the page
       make_models_page.py --check    exits 1 if the page is stale

What no recording says is "-", and so are dims whose pairs are not as many as recorded rates.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA, PAGE = ROOT / 'tests' / 'data' / 'models', ROOT / 'docs' / 'models.md'
PAIRINGS = {'half': 'split_half', 'interleaved': 'interleaved'}
PAIRINGS['interleaved_to_half'] = 'interleaved, written as split_half'
MODES = {'normal': 'interleaved', 'neox': 'split_half'}  # in ggml's words
MODES |= {'mrope': 'split_half, contiguous sections', 'imrope': 'split_half, interleaved sections'}
OR = '; in files with sections '
# Which layers rotate, by the rule in families_table.inc.
RULES = {'listed': 'by `no_rope_layers`', 'attention_listed': 'by `attn_layer_indices`'}
RULES |= {'cross_listed': 'all but cross attention', 'layer_bases': 'by `layer_rope_theta`'}
RULES |= {'blocks': 'by `block_types`'}
# Architectures that are called otherwise than the family: those that llama.cpp's converter, read at
# 0024aa74 (conversion/*.py at 0274f0fc, 01a723dc, 051139f5, 00487aad), registers its class for.
REGISTERED = dict.fromkeys(('mistral', 'mixtral', 'iquestcoder'), 'llama')
REGISTERED |= dict.fromkeys(('deepseek_v2', 'deepseek_v3', 'glm4_moe_lite', 'youtu'), 'deepseek2')
REGISTERED |= {'glm4v_text': 'glm4', 'glm_ocr_text': 'glm4', 'glm4v_moe_text': 'glm4moe'}
REGISTERED |= {'solar_open': 'glm4moe', 'glm_moe_dsa': 'glm-dsa', 'qwen2_5_vl_text': 'qwen2vl'}
REGISTERED |= {'cohere': 'command-r', 'olmo3': 'olmo2', 'phi': 'phi2'}
KEYS = ('factor', 'original_max_position_embeddings', 'low_freq_factor', 'high_freq_factor')
KEYS += ('attention_factor', 'mscale', 'mscale_all_dim', 'truncate')
FILES = ('recorded/hugging_face.json', 'recorded/llama_cpp.json', 'transformers_rates.json')
HF, GGUF, MADE = (json.loads((DATA / file).read_text(encoding='utf-8')) for file in FILES)
TYPES = dict(sorted(HF['types'].items()))
RATES = [rate['n'] if isinstance(rate, dict) else len(rate) for rate in HF['rates']]
FAMILIES = {name: record for name, record in TYPES.items() if record.get('rotates')}
ROW = re.compile(r'    \{"([^"]+)", Pair.*LayerRule::(\w+).*MropeOrder::(\w+).*"([^"]*)"\},')
INC = (ROOT / 'src' / 'models' / 'families_table.inc').read_text(encoding='utf-8')
TABLE = {row[1]: row.groups()[1:] for row in map(ROW.match, INC.splitlines()) if row}


def way_of(architecture):
    """How an architecture of llama.cpp pairs."""
    record = GGUF['architectures'][architecture]
    if 'not_recorded' in record:
        return 'not recorded'
    modes = {node['mode'] for graph in record['graphs'] for node in graph.get('rotations', ())}
    return OR.join(MODES[mode] for mode in sorted(modes, reverse=True)) or 'no layer rotates'


def in_gguf(name):
    """How a family pairs in GGUF files, and a cell about it, bold where that is another pairing."""
    plain = {re.sub('[-_]', '', known): known for known in GGUF['architectures']}
    same = (plain.get(text.replace('_', '')) for text in (name, name.removesuffix('_text')))
    found = REGISTERED.get(name) or next(filter(None, same), None)
    if not found:
        return '', '-'
    way = way_of(found).split(OR)['section_axes' in FAMILIES[name] and -1]
    pairing, own = way.split(',')[0], PAIRINGS[FAMILIES[name]['pairing']].split(',')[0]
    return way, f'`{found}`, ' + (pairing if pairing in (own, 'not recorded') else f'**{pairing}**')


def types_of(config):
    return config.get('layer_types') or config.get('layers_block_type') or []


def share_of(kind, types):
    """How many of the layers are of a kind: of the shortest list that repeats, or of all."""
    most = min(9, len(types)) if len(set(types)) > 1 else 0
    n = next((n for n in range(2, most) if types[n:] == types[:-n]), len(types))
    return f'{types[:n].count(kind)} of {n}'


def dims(config, kind, given, pairs):
    """How many elements of a row rotate, and of how many where the row is wider."""
    for layer, own in (config.get('per_layer_config') or {}).items():
        config = {**config, **own} if types_of(config)[int(layer)] == kind else config
    if kind == 'full_attention' and config.get('global_head_dim'):
        config = {**config, 'head_dim': config['global_head_dim']}
    latent, nope = config.get('qk_rope_head_dim'), config.get('qk_nope_head_dim')
    heads = config.get('num_attention_heads') or config.get('n_head')
    head = config.get('head_dim') or config.get('attention_head_dim') or config.get('kv_channels')
    head = head or (config.get('hidden_size') or config.get('n_embd')) // heads
    share = given.get('partial_rotary_factor', config.get('partial_rotary_factor'))
    share = config.get('rotary_pct', 1) if share is None else share
    rotated = latent or (not pairs and config.get('rotary_dim')) or int(head * share)
    proportional = given.get('rope_type') == 'proportional'
    if rotated % 2 or pairs not in (None, (head if proportional else rotated) // 2):
        return '-'
    head = nope + latent if latent and nope is not None else head
    rotated = int(share * head // 2) * 2 if proportional else rotated
    return str(head) if rotated == head else f'{rotated} of {head}'


def scaling(config, given):
    kind = given.get('rope_type') or given.get('type') or 'default'
    given = {KEYS[1]: config.get(KEYS[1]), **given}
    known = [(key, given[key]) for key in KEYS if given.get(key) is not None]
    texts = ['longrope (su)' if kind == 'su' else kind]
    texts += [f'{key} {"false" if value is False else f"{value:.15g}"}' for key, value in known]
    texts = [t.replace('_max_position_embeddings', ' context').replace('_f', ' f') for t in texts]
    texts += ['a short and a long list'] if 'long_factor' in given else []
    return '' if kind in ('default', 'mrope') else ', '.join(texts)


def sections(name, given):
    record, order = FAMILIES.get(name, {}), TABLE.get(name, '--')[1]
    if order == 'split':
        return 'sections cut the row, not its pairs'
    if order in ('contiguous', 'interleaved'):
        lengths = given.get('mrope_section') or record.get('default_sections')
        return f'{order} sections {str(lengths)[1:-1]}' if lengths else f'{order} sections'
    return ''


def layers(name, config, kinds):
    """Which layers rotate, and which kinds of them there are."""
    record, (rule, _, doubt) = FAMILIES[name], TABLE[name]
    signs = record['layers'].get('saved')
    if doubt or not signs:
        return f'not described: {doubt}' if doubt else '-'
    needed = dict(record.get('only_with', {}))
    if record['config'].get('use_mem_rope') and not record['default_config']['use_mem_rope']:
        needed['use_mem_rope'] = 'true'
    where = [f'{k.replace("_", " ")} is {v}' for k, v in needed.items() if isinstance(v, str)]
    resting = {kind for kind, sign in zip(types_of(record['config']), signs) if sign == '-'}
    types, text = types_of(needed) or types_of(config), RULES.get(rule, 'all')
    used = dict.fromkeys([*filter(None, kinds), *types])
    differ = any(given != next(iter(kinds.values())) for given in kinds.values())
    if rule not in RULES and (resting or differ):
        many = {} if types_of(needed) else {kind: f' ({share_of(kind, types)})' for kind in used}
        texts = [kind + many.get(kind, '') for kind in used if kind not in resting]
        texts += [f'{kind} does not rotate' for kind in used if kind in resting]
        text = '; '.join(texts).replace('_', ' ')
    return (f'where {" and ".join(where)}: ' if where else '') + text


def cells(name, config, kinds, pairs):
    """From the parameters of each kind of layers, and how many rates were made for it."""

    def per_kind(text_of):
        texts = {kind: text_of(kind, given) for kind, given in kinds.items()}
        if len(set(texts.values())) == 1:
            return next(iter(texts.values()))
        short = {kind: kind.removesuffix('_attention').replace('_', ' ') for kind in kinds}
        return ', '.join(f'{text} ({short[kind]})' for kind, text in texts.items() if text)

    record = FAMILIES.get(name)
    coded = record and 'rope_parameters' not in record['default_config']
    fixed = record['default_theta'] if coded else 0
    base = per_kind(lambda _, given: f'{given.get("rope_theta") or fixed:.15g}')
    scale = per_kind(lambda _, given: scaling(config, given))
    return [
        PAIRINGS[record['pairing']] if record else '-',
        base if base != '0' else '-',
        per_kind(lambda kind, given: dims(config, kind, given, pairs.get(kind))),
        layers(name, config, kinds) if record else '-',
        ', '.join(filter(None, (scale, sections(name, next(iter(kinds.values())))))) or 'none',
    ]


def kinds_of(parameters):
    """The parameters of each kind of layers, full attention first."""
    nested = [(kind, given) for kind, given in parameters.items() if isinstance(given, dict)]
    return dict(sorted(nested, key=lambda item: item[0] != 'full_attention')) or {'': parameters}


def published(fixtures):
    """A row for each file in tests/data/models/hugging_face."""
    for fixture, model, _ in fixtures:
        top = json.loads((DATA / 'hugging_face' / f'{fixture}.json').read_text(encoding='utf-8'))
        config = top.get('text_config', top)
        name = TYPES.get(top['model_type'], {}).get('text', [0, config['model_type']])[1]
        default = FAMILIES.get(name, {}).get('default_config', {})
        usual = kinds_of(default.get('rope_parameters') or {})
        given = config.get('rope_parameters') or config.get('rope_scaling') or {}
        base = {'rope_theta': config.get('rope_theta', config.get('rotary_emb_base'))}
        kinds = kinds_of(given) if 'rope_parameters' in config else {'': {**base, **given}}
        if len(usual) > len(kinds):  # a scaling in the old form is that of full attention
            local = config.get('rope_local_base_freq', usual['sliding_attention']['rope_theta'])
            kinds = {'full_attention': kinds[''], 'sliding_attention': {'rope_theta': local}}
        types, count = types_of(default), config.get('num_hidden_layers', 0)
        every = config.get('sliding_window_pattern') or config.get('full_attention_interval')
        every = every or [*types, 'full_attention'].index('full_attention') + 1
        types = types[:1] * (every - 1) + ['full_attention']
        config = {'layer_types': (types * count)[:count], **config}
        pairs = {k: len(r['inv_freq']) for k, r in MADE['fixtures'].get(fixture, {}).items()}
        yield [model, f'`{top["model_type"]}`', *cells(name, config, kinds, pairs)]


def families():
    """A row for each family of transformers, with the values of its configuration class."""
    for name, record in FAMILIES.items():
        config, answer = record['default_config'], record.get('answers', {}).get('default')
        pairs = {kind: RATES[i] for kind, i, _ in answer} if isinstance(answer, list) else {}
        kinds = kinds_of(config.get('rope_parameters') or {})
        yield [f'`{name}`', *cells(name, config, kinds, pairs)]


def table(header, rows):
    """A cell that is a list has names."""
    texts = ([c if isinstance(c, str) else f'`{"`, `".join(c)}`' for c in row] for row in rows)
    lines = [header.split(' | '), ['---'] * (header.count(' | ') + 1), *texts]
    return ''.join(f'| {" | ".join(line)} |\n' for line in lines)


def blocks():
    """What stands between each pair of marks."""
    readme = (DATA / 'README.md').read_text(encoding='utf-8')
    fixtures = re.findall(r'^\| `(\w+)` \| (.*?) \| (.*) \|$', readme, re.M)
    rows, ways = list(families()), {}
    for name in GGUF['architectures']:
        ways.setdefault(way_of(name), []).append(name)
    column = 'pairing | base | rotated dims | layers that rotate | scaling and sections'
    yield 'published', table(f'model | family | {column}', published(fixtures))
    yield 'sources', table('file | model | values', ([[f], m, v] for f, m, v in fixtures))
    yield 'families', table(f'family | {column}', rows)
    there = ([*row[:2], in_gguf(row[0][1:-1])[1]] for row in rows)
    yield 'gguf', table('family | transformers | GGUF', (row for row in there if row[2] != '-'))
    holders = {name: [] for name in FAMILIES}
    for name, record in TYPES.items():
        holders.get(record.get('text', '--')[1], []).append(name)
    texts = ([[name], found] for name, found in holders.items() if found)
    yield 'texts', table('family of the text | types', texts)
    yield 'architectures', table('pairing | architectures', sorted(ways.items()))
    resting = [name for name, record in TYPES.items() if record.get('rotates') is False]
    yield 'resting', table('types that do not rotate', [[resting]])


def main():
    if sys.argv[1:] not in ([], ['--check']):
        sys.exit(__doc__)
    old = text = PAGE.read_text(encoding='utf-8')
    for mark, block in blocks():
        begin, end = f'<!-- {mark}: begin -->\n', f'<!-- {mark}: end -->\n'
        before, rest = text.split(begin)
        text = before + begin + block + end + rest.split(end)[1]
    if sys.argv[1:]:
        sys.exit('docs/models.md is stale: make_models_page.py writes it' if text != old else 0)
    PAGE.write_text(text, encoding='utf-8')


main()
