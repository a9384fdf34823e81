#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds and dictionaries for the fuzzers, made of the tests' own data.

usage: make_seeds.py TESTS_DATA FOLDER    writes FOLDER/<target>/* and FOLDER/<target>.dict
"""

import json
import pathlib
import random
import re
import struct
import sys
import tarfile

data, folder = map(pathlib.Path, sys.argv[1:])


def write(target, name, content):
    place = folder / target
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def words_of(value):
    """Keys and texts of a JSON value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from words_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from words_of(inner)
    elif isinstance(value, str) and len(value) < 40:
        yield value


def write_dictionary(target, words, quote):
    lines = set()
    for word in words:
        text = '"' + word + '"' if quote else word
        lines.add(
            '"'
            + "".join(
                c if c.isalnum() or c in "_-./ :={}[]," else "\\x%02x" % ord(c)
                for c in text
                if ord(c) < 256
            )
            + '"'
        )
    (folder / (target + ".dict")).write_text("\n".join(sorted(lines)) + "\n")


def make_config_json():
    words = []
    for path in sorted((data / "models/hugging_face").glob("*.json")):
        write("config_json", path.stem, path.read_bytes())
        words += words_of(json.loads(path.read_text()))
    for name, entry in json.loads((data / "models/transformers_rates.json").read_text()).items():
        words += words_of(entry)
        if isinstance(entry, dict) and isinstance(entry.get("config"), dict):
            write("config_json", "rates_" + name, json.dumps(entry["config"]))
    words += ["null", "true", "1e308", "-1", "0", "4294967296", "9223372036854775807", "0.1"]
    write_dictionary("config_json", words, True)


def make_gguf():
    words = []
    for path in sorted((data / "models/gguf").glob("*.gguf")):
        content = path.read_bytes()
        write("gguf", path.stem, content)
        words += [text.decode() for text in re.findall(rb"[a-z][ -~]{4,60}", content)]
    write_dictionary("gguf", words, False)


def make_scaling_text():
    texts = [
        "default:dims=128",
        "linear:dims=64,factor=4",
        "proportional:dims=64,factor=2,pairs=20",
        "dynamic:dims=64,factor=2,original=2048",
        "ntk:dims=64,factor=4",
        "yarn:dims=128,base=1e6,factor=4,original=4096,beta_fast=32,beta_slow=1,ends=exact,mscale=1",
        "ggml_yarn:dims=128,freq_scale=0.25,original=4096,ext_factor=1",
        "llama3:dims=128,base=5e5,factor=8,low=1,high=4,original=8192",
        "longrope:dims=4,original=4096,short=1/1.05,long=1/3.9,context=131072",
        "default:dims=8,factors=1/2/1e30/-1,attention_factor=0.5",
        "default:dims=8,exponents=0/1/0/1,exponent_dims=4,head_dims=16,context=100",
        "default:dims=64,base=18446744073709551616,context=65536",
    ]
    for number, text in enumerate(texts):
        write("scaling_text", str(number), text)
        write("scaling_text", "compare%d" % number, text + "\n" + texts[number - 1])
    words = {
        word
        for text in texts
        for part in text.replace(":", ",").split(",")
        for word in part.split("=")
    }
    write_dictionary(
        "scaling_text",
        sorted(words)
        + ["1e308", "1e-308", "-0", "inf", "nan", "9223372036854775807", ",", "/", "=", "\n"],
        False,
    )


def safetensors(tensors, metadata=None):
    header, at = {}, 0
    if metadata:
        header["__metadata__"] = metadata
    for name, dtype, shape, size in tensors:
        count = size
        for extent in shape:
            count *= extent
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + count]}
        at += count
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + bytes(at)


def make_safetensors():
    # From split_half to interleaved; bits of what is given; 2 heads of 4; then key heads and so on,
    # where their bits are set.
    options = bytes([0, 1, 1, 2, 4, 1])
    grouped = bytes([0, 1, 1 + 32, 2, 4, 1])
    layer = "model.layers.0.self_attn."
    projections = [
        (layer + "q_proj.weight", "F32", [8, 2], 4),
        (layer + "k_proj.weight", "F32", [4, 2], 4),
        (layer + "v_proj.weight", "F32", [4, 2], 4),
    ]
    write("safetensors", "plain", options + safetensors(projections))
    write(
        "safetensors",
        "biases",
        options
        + safetensors(
            projections
            + [(layer + "q_proj.bias", "F32", [8], 4), (layer + "k_proj.bias", "F32", [4], 4)]
        ),
    )
    write(
        "safetensors",
        "norms",
        options
        + safetensors(
            projections + [(layer + "q_norm.weight", "BF16", [4], 2)],
            {"format": "pt", "rope_pairing": "split_half"},
        ),
    )
    write(
        "safetensors",
        "lora",
        options
        + safetensors(
            [
                (layer + "q_proj.lora_B.weight", "F16", [8, 2], 2),
                (layer + "q_proj.lora_A.weight", "F16", [2, 2], 2),
            ]
        ),
    )
    write(
        "safetensors",
        "fused",
        grouped + safetensors([("h.0.attn.c_attn.weight", "BF16", [16, 2], 2)]),
    )
    index = {
        "metadata": {"total_size": 128},
        "weight_map": {"q_proj.weight": "q.safetensors", "k_proj.weight": "k.safetensors"},
    }
    write("safetensors", "index", options + json.dumps(index).encode())
    write_dictionary(
        "safetensors",
        [
            "weight_map",
            "q.safetensors",
            "k.safetensors",
            "q_proj.weight",
            "k_proj.weight",
            "dtype",
            "shape",
            "data_offsets",
            "__metadata__",
            "rope_pairing",
            "F32",
            "F4",
            "BF16",
            "F64",
            "C64",
            layer + "q_proj.weight",
            layer + "k_proj.weight",
            layer + "q_norm.weight",
            "wq.weight",
            "qkv_proj.weight",
            "half",
            "split_half",
            "interleaved",
        ],
        True,
    )


def make_checkpoint():
    words = set()
    with tarfile.open(pathlib.Path(__file__).parent / "corpus/checkpoint.tar.gz") as kept:
        for file in kept:
            words.update(
                word.decode()
                for word in re.findall(rb"[a-z_.0-9]{4,40}", kept.extractfile(file).read())
            )
    numbers = ["0", "-1", "65537", "1e300", "4.5", "9223372036854775807", "18446744073709551615"]
    write_dictionary(
        "checkpoint",
        sorted(words)
        + numbers
        + ['\\"%s\\":' % word for word in ("batch", "context", "steps", "dim", "heads")],
        False,
    )


def make_golden_folder():
    words = []
    for folder_name in ("onnx/node", "onnx/bf16", "onnx/ort", "aclnn"):
        place = data / "golden" / folder_name
        content = json.loads((place / "cases.json").read_text())
        binary = (place / "data.bin").read_bytes()
        cases = content["cases"] if isinstance(content, dict) else content
        words += words_of(cases)
        for number, case in enumerate(cases[:: max(1, len(cases) // 12)]):
            case, kept = dict(case), b""
            tensors = []
            for tensor in case["tensors"]:
                piece = binary[tensor["offset"] : tensor["offset"] + tensor["bytes"]]
                tensors.append({**tensor, "offset": len(kept)})
                kept += piece
            case["tensors"] = tensors
            if len(kept) < 4096:
                write(
                    "golden_folder",
                    "%s_%d" % (folder_name.replace("/", "_"), number),
                    b"j" + json.dumps([case]).encode() + b"\0" + kept,
                )
        lines = (place / "cases.tsv").read_text().split("\n")
        write(
            "golden_folder",
            folder_name.replace("/", "_") + "_tsv",
            b"t" + "\n".join(lines[:6]).encode() + b"\0" + binary[:4096],
        )
    content = json.loads((data / "golden/ggml/cases.json").read_text())
    cases = content["cases"] if isinstance(content, dict) else content
    words += words_of(cases[:20])
    small = 0
    for case in cases:
        case, kept = dict(case), b""
        for name, array in list(case.items()):
            if not (isinstance(array, dict) and "offset" in array):
                continue
            size = {"f32": 4, "f16": 2, "bf16": 2, "i32": 4, "i64": 8, "f64": 8}[array["dtype"]]
            piece = (data / "golden/ggml" / array["file"]).read_bytes()[
                array["offset"] : array["offset"] + size * array["count"]
            ]
            case[name] = {**array, "file": "data.bin", "offset": len(kept)}
            kept += piece
        if len(kept) < 3000:
            write(
                "golden_folder",
                "ggml_%d" % small,
                b"j" + json.dumps([case]).encode() + b"\0" + kept,
            )
            small += 1
        if small == 24:
            break
    for name, entry in json.loads((data / "golden/scaling/inv_freq.json").read_text()).items():
        if isinstance(entry, dict) and len(entry.get("inv_freq", [])) <= 64:
            write("golden_folder", "scaling_" + name, b"s" + json.dumps({name: entry}).encode())
            words += words_of(entry.get("params", {}))
            words += [entry["type"]] if "type" in entry else []
    write_dictionary("golden_folder", [word for word in words if len(word) < 24][:4000], True)


def make_operators():
    numbers = random.Random(7)
    for target in ("ggml", "onnx", "aclnn", "any", "c", "tokens"):
        for number in range(64):
            write(target, str(number), numbers.randbytes(numbers.choice([40, 100, 200, 400])))


for make in (
    make_operators,
    make_config_json,
    make_gguf,
    make_scaling_text,
    make_safetensors,
    make_checkpoint,
    make_golden_folder,
):
    make()
