# SPDX-License-Identifier: Apache-2.0
"""Asks the program of record.cpp what llama.cpp does with tiny models of every architecture, and
writes it down.

    python3 record.py PROGRAM --package TEXT --out FILE [--docs FILE]

The file is JSON, one architecture a line; tests/data/models/recorded/llama_cpp.md says what is in
it.
"""

import argparse
import datetime
import json
import re
import struct
import subprocess
import sys

from models import ASSIST, ASSISTED, DEPTHS, EXPERTS, OWN, PLAIN, START, TOKENS, VALUES, VARIANTS

MISSING = re.compile(r"key not found in model: \S+?\.(?P<key>[a-z0-9_.]+)$")


class Program:
    def __init__(self, path):
        self.process = subprocess.Popen(
            [path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, job):
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def resolved(keys):
    """Keys with what depends on the number of layers filled in."""
    layers = keys["block_count"]
    return {
        name: value(layers) if callable(value) else value
        for name, value in keys.items()
        if value is not None
    }


def metadata(architecture, keys):
    tokens = TOKENS.get(architecture, 128)
    result = {"general.architecture": architecture, **PLAIN}
    result.update({f"{architecture}.{name}": value for name, value in resolved(keys).items()})
    result["tokenizer.ggml.model"] = "test"
    result["tokenizer.ggml.tokens"] = [f"t{i}" for i in range(tokens)]
    result["tokenizer.ggml.scores"] = [0.0] * tokens
    return result


def job(architecture, keys):
    result = {"id": architecture, "keys": metadata(architecture, keys)}
    if architecture in ASSIST:
        assisted, width = ASSIST[architecture]
        own = {**START, **ASSISTED[assisted]}
        for name in (
            "attention.layer_norm_rms_epsilon",
            "attention.sliding_window",
            "attention.sliding_window_pattern",
            "embedding_length_per_layer_input",
        ):
            own[name] = VALUES[name]
        result["other"] = {"keys": metadata(assisted, own)}
        result["hidden_width"] = width
    return result


def completed(program, architecture, keys):
    """The keys with those that llama.cpp asks for, and its answer."""
    keys = dict(keys)
    for _ in range(len(VALUES)):
        answer = program.run(job(architecture, keys))
        found = MISSING.search(answer.get("error", ""))
        name = found.group("key") if found else ""
        if name.startswith(f"{architecture}."):
            name = name[len(architecture) + 1 :]
        if name not in VALUES or name in keys:
            break
        keys[name] = VALUES[name]
    return keys, answer


def base_of(program, architecture):
    """Keys and answer of the smallest model that runs: without experts, if it can be."""
    own = OWN.get(architecture, {})
    first = None
    for more in ({}, EXPERTS):
        keys, answer = completed(program, architecture, {**START, **more, **own})
        if "error" not in answer:
            return keys, answer
        first = first or answer
    return keys, answer if "unsupported" not in first["error"] else first


def shortest(value):
    """The shortest decimal that is the same float32."""
    single = struct.unpack("f", struct.pack("f", value))[0]
    for digits in range(1, 10):
        text = f"{single:.{digits}g}"
        if struct.unpack("f", struct.pack("f", float(text)))[0] == single:
            break
    number = float(text)
    return int(number) if number == int(number) and abs(number) < 1e15 else number


def ranges(numbers):
    """0-3,8 for [0, 1, 2, 3, 8]."""
    parts = []
    for number in sorted(set(numbers)):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def role(node, seen):
    """q, k, or the name of what is rotated besides (a compressed cache, an indexer)."""
    if node["op"] != "ROPE":
        return "back"
    text = node["name"] + " " + node["weight"]
    if "indexer" in text or "compress" in text or "lid_" in text:
        return "beside"
    if re.match(r"[Kk]", node["name"]) or re.search(r"attn_k(v|_|\.)", node["weight"]):
        return "k"
    return "k" if node["layer"] in seen else "q"


MODES = {0: "normal", 2: "neox", 8: "mrope", 24: "vision", 40: "imrope"}


def graph_of(answer):
    if "error" in answer:
        return {"error": answer["error"].replace("the model is refused: error loading model: ", "")}
    nodes = {}
    seen = set()
    for node in answer["rotations"]:
        what = role(node, seen) if node["layer"] >= 0 else "beside"
        if what == "back":
            continue
        if what == "q":
            seen.add(node["layer"])
        within = node["width"] < node["stride"]
        place = [
            node["offset"] + (node["view_offset"] % node["stride"] if within else 0),
            node["stride"] if within else node["width"],
        ]
        entry = {
            "mode": MODES.get(node["mode"], str(node["mode"])),
            "dims": node["dims"],
            "base": shortest(node["base"]),
        }
        if node["freq_scale"] != 1:
            entry["scale"] = shortest(node["freq_scale"])
        if node["attn_factor"] != 1:
            entry["attn"] = shortest(node["attn_factor"])
        if node["ext_factor"] != 0:
            entry["ext"] = shortest(node["ext_factor"])
            entry["fast"] = shortest(node["beta_fast"])
            entry["slow"] = shortest(node["beta_slow"])
            entry["context"] = node["original_context"]
        if any(node["sections"]):
            entry["sections"] = node["sections"]
        if node["factors"]:
            entry["factors"] = node["factors"]
        nodes.setdefault(node["layer"], []).append((what, place, entry))
    # A rotation that no name and no weight places is that of something made in the graph, beside
    # queries and keys that are placed.
    if nodes.pop(-1, None) and not nodes:
        return {"error": "the layers of its rotations cannot be told"}
    # Layers that rotate alike are one line: {"layers", "q": [offset, row], "k": [offset, row],
    # ...}, k only where it is placed otherwise.
    groups = {}
    for layer, found in nodes.items():
        for what, place, entry in found:
            if what != "q":
                continue
            keys = [other for other in found if other[0] == "k"]
            line = {"q": place}
            if any(other[2] != entry for other in keys) or not keys:
                line["k"] = [dict(other[2], place=other[1]) for other in keys]
            elif keys[0][1] != place:
                line["k"] = keys[0][1]
            line.update(entry)
            groups.setdefault(json.dumps(line), []).append(layer)
        if not any(what == "q" for what, _, _ in found):
            groups.setdefault(json.dumps({"only": found}), []).append(layer)
    rotations = [{"layers": ranges(layers), **json.loads(text)} for text, layers in groups.items()]
    logits = {}
    for node in answer["softmaxes"]:
        if "moe" not in node["name"] and node["layer"] >= 0:
            logits.setdefault(shortest(node["scale"]), []).append(node["layer"])
    return {
        "rotations": rotations,
        "logits": [[scale, ranges(layers)] for scale, layers in logits.items()],
    }


def changed(keys, variant):
    change = VARIANTS[variant]
    if callable(change):
        change = change(resolved(keys))
        if change is None:
            return None
    if all(keys.get(name) == value for name, value in change.items()) and change:
        return None
    return {**keys, **change}


def kind(graph):
    """How a graph rotates, without numbers of layers: to tell depths apart."""
    shapes = sorted(
        json.dumps({k: v for k, v in r.items() if k != "layers"}) for r in graph["rotations"]
    )
    return shapes


def share(graph, layers):
    rotated = set()
    for rotation in graph["rotations"]:
        for part in rotation["layers"].split(","):
            first, _, last = part.partition("-")
            rotated.update(range(int(first), int(last or first) + 1))
    return "none" if not rotated else "all" if len(rotated) >= layers else "some"


def record(program, architecture):
    keys, answer = base_of(program, architecture)
    if "error" in answer:
        return {"not_recorded": graph_of(answer)["error"]}
    graphs = []
    variants = {}

    def keep(name, graph):
        if graph not in graphs:
            graphs.append(graph)
        variants.setdefault(graphs.index(graph), []).append(name)

    base = graph_of(answer)
    for name in VARIANTS:
        given = changed(keys, name)
        if given is not None:
            keep(name, graph_of(program.run(job(architecture, given))))
    depths = {}
    # Depth decides in a few architectures whether and where they rotate.
    for layers in DEPTHS:
        deep = {**keys, "block_count": layers}
        graph = graph_of(program.run(job(architecture, deep)))
        if "error" not in graph and (
            kind(graph) != kind(base) or share(graph, layers) != share(base, keys["block_count"])
        ):
            keep(f"layers_{layers}", graph)
            depths[f"layers_{layers}"] = {
                name: value
                for name, value in resolved(deep).items()
                if resolved(keys)[name] != value
            }
    given = {name: value for name, value in resolved(keys).items() if START.get(name) != value}
    result = {"keys": given}
    own = {name: VARIANTS[name](resolved(keys)) for name in VARIANTS if callable(VARIANTS[name])}
    own = {**{name: change for name, change in own.items() if change is not None}, **depths}
    if own:
        result["own"] = own
    return {**result, "graphs": graphs, "variants": [variants[i] for i in range(len(graphs))]}


def variant_table():
    """The variants' changes; None for one whose changes are with each architecture (own)."""
    result = {}
    for name, change in VARIANTS.items():
        if callable(change):
            result[name] = None
            continue
        result[name] = {
            key: value(START["block_count"]) if callable(value) else value
            for key, value in change.items()
        }
    return result


def write_docs(path, text):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    begin, end = "<!-- recorded: begin -->", "<!-- recorded: end -->"
    if page.count(begin) != 1 or page.count(end) != 1:
        sys.exit(f"{path} must have the lines {begin} and {end} once")
    head, _, rest = page.partition(begin)
    _, _, tail = rest.partition(end)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{head}{begin}\n{text}\n{end}{tail}")


def totals(info, result):
    architectures = result["architectures"]
    recorded = {n: a for n, a in architectures.items() if "not_recorded" not in a}
    never = sum(1 for a in recorded.values() if all(not g.get("rotations") for g in a["graphs"]))
    graphs = sum(
        len(names)
        for a in recorded.values()
        for g, names in zip(a["graphs"], a["variants"])
        if "error" not in g
    )
    refused = sum(
        len(names)
        for a in recorded.values()
        for g, names in zip(a["graphs"], a["variants"])
        if "error" in g
    )
    missing = ", ".join(f"`{n}`" for n, a in architectures.items() if "not_recorded" in a)
    return (
        f"Recorded on {result['date']} from {info['package']} (llama.cpp {info['llama_cpp']}, ggml {info['ggml']}): "
        f"{len(architectures)} architectures, {len(recorded)} of them from executed graphs, {never} of which never rotate; "
        f"{graphs} graphs of tiny models, and {refused} models that llama.cpp refuses. Not recorded: {missing}."
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--package", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--docs")
    parser.add_argument("--only", nargs="*")
    arguments = parser.parse_args()
    listed = subprocess.run(
        [arguments.program, "--list"], capture_output=True, text=True, check=True
    )
    info = {"package": arguments.package, **json.loads(listed.stdout)}
    program = Program(arguments.program)
    result = {
        "package": info["package"],
        "llama_cpp": info["llama_cpp"],
        "ggml": info["ggml"],
        "date": datetime.date.today().isoformat(),
        "start": START,
        "variants": variant_table(),
        "architectures": {},
    }
    for name in sorted(info["architectures"]):
        if arguments.only and name not in arguments.only:
            continue
        result["architectures"][name] = record(program, name)
        print(name, file=sys.stderr)
    with open(arguments.out, "w", encoding="utf-8") as file:
        head = {key: value for key, value in result.items() if key != "architectures"}
        file.write("{\n")
        for key, value in head.items():
            file.write(f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))},\n")
        file.write('"architectures": {\n')
        lines = [
            f"{json.dumps(name)}: {json.dumps(value, separators=(',', ':'))}"
            for name, value in result["architectures"].items()
        ]
        file.write(",\n".join(lines) + "\n}\n}\n")
    if arguments.docs:
        write_docs(arguments.docs, totals(info, result))


if __name__ == "__main__":
    main()
