# SPDX-License-Identifier: Apache-2.0
"""`eigen-rope convert` on files that Python's safetensors package wrote, read back with it, q.k
computed with numpy.

    python3 convert_test.py ROPE FOLDER

ROPE is the tool; files are made in a folder inside FOLDER that disappears. Needs numpy and
safetensors. The rotation is written here from its definition: pair k of a head turns by position *
10000^(-2k/r); split-half pairs elements k and k + r/2, interleaved 2k and 2k + 1.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np
import safetensors
from safetensors.numpy import load_file, save_file

HEADS, KEY_HEADS, DIMS, HIDDEN = 4, 2, 16, 24


def rotate(x, position, pairing, rotary):
    """x: [heads, dims]; the first `rotary` elements of each head are rotated."""
    y = x.copy()
    for k in range(rotary // 2):
        a, b = (k, k + rotary // 2) if pairing == "split_half" else (2 * k, 2 * k + 1)
        angle = position * 10000.0 ** (-2.0 * k / rotary)
        y[:, a] = np.cos(angle) * x[:, a] - np.sin(angle) * x[:, b]
        y[:, b] = np.cos(angle) * x[:, b] + np.sin(angle) * x[:, a]
    return y


def logits(model, prefix, x_q, x_k, pairing, rotary):
    """q.k of every head at several positions; norms over head dims where the model has them."""

    def project(name, x, heads):
        y = model[f"{prefix}{name}_proj.weight"].astype(np.float64) @ x
        y = y + model.get(f"{prefix}{name}_proj.bias", np.zeros(1)).astype(np.float64)
        y = y.reshape(heads, DIMS)
        if f"{prefix}{name}_norm.weight" in model:
            y = (
                y
                / np.sqrt((y * y).mean(axis=1, keepdims=True) + 1e-6)
                * model[f"{prefix}{name}_norm.weight"].astype(np.float64)
            )
        return y

    q, k = project("q", x_q, HEADS), project("k", x_k, KEY_HEADS)
    result = []
    for p_q, p_k in [(0, 0), (5, 2), (100, 7), (3000, 1)]:
        rq, rk = (
            rotate(q, p_q, pairing, rotary),
            np.repeat(rotate(k, p_k, pairing, rotary), HEADS // KEY_HEADS, axis=0),
        )
        result.append((rq * rk).sum(axis=1))
    return np.array(result)


def run(*arguments, code=0):
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
    return done


def make_model(dtype, seed, prefix="model.layers.0.self_attn."):
    random = np.random.default_rng(seed)
    normal = lambda *shape: random.standard_normal(shape).astype(dtype)
    return {
        prefix + "q_proj.weight": normal(HEADS * DIMS, HIDDEN),
        prefix + "q_proj.bias": normal(HEADS * DIMS),
        prefix + "k_proj.weight": normal(KEY_HEADS * DIMS, HIDDEN),
        prefix + "k_proj.bias": normal(KEY_HEADS * DIMS),
        prefix + "v_proj.weight": normal(KEY_HEADS * DIMS, HIDDEN),
        prefix + "o_proj.weight": normal(HIDDEN, HEADS * DIMS),
        prefix + "q_norm.weight": normal(DIMS),
        prefix + "k_norm.weight": normal(DIMS),
        "model.embed_tokens.weight": normal(50, HIDDEN),
    }


def check_same_logits(
    old, new, rotary, pairings=("split_half", "interleaved"), prefix="model.layers.0.self_attn."
):
    random = np.random.default_rng(9)
    x_q, x_k = random.standard_normal(HIDDEN), random.standard_normal(HIDDEN)
    before = logits(old, prefix, x_q, x_k, pairings[0], rotary)
    after = logits(new, prefix, x_q, x_k, pairings[1], rotary)
    # Matrix products may sum in another order: HIDDEN and DIMS terms, each of the size of the
    # logits' parts.
    bound = 64 * HIDDEN * np.finfo(np.float64).eps * np.abs(before).max()
    assert np.abs(after - before).max() <= bound, (np.abs(after - before).max(), bound)
    wrong = logits(new, prefix, x_q, x_k, pairings[0], rotary)
    assert np.abs(wrong - before).max() > 1e-3 * np.abs(before).max()  # the conversion matters


def options(rotary=DIMS):
    return [
        "--heads",
        str(HEADS),
        "--kv-heads",
        str(KEY_HEADS),
        "--head-dims",
        str(DIMS),
        "--rotary-dims",
        str(rotary),
    ]


def test_numpy_types(tool, folder):
    for dtype in (np.float64, np.float32, np.float16):
        for rotary in (DIMS, 8):
            old = make_model(dtype, 1)
            source, target, back = (
                os.path.join(folder, name)
                for name in ("in.safetensors", "out.safetensors", "back.safetensors")
            )
            save_file(old, source, metadata={"format": "pt"})
            run(
                tool,
                "convert",
                source,
                target,
                "--from",
                "split_half",
                "--to",
                "interleaved",
                "--overwrite",
                *options(rotary),
            )
            new = load_file(target)
            assert sorted(new) == sorted(old)
            check_same_logits(old, new, rotary)
            for name in (
                "model.layers.0.self_attn.v_proj.weight",
                "model.layers.0.self_attn.o_proj.weight",
                "model.embed_tokens.weight",
            ):
                assert new[name].tobytes() == old[name].tobytes(), name
            with safetensors.safe_open(target, framework="numpy") as file:
                metadata = file.metadata()
            assert metadata["format"] == "pt" and metadata["rope_pairing"] == "interleaved", (
                metadata
            )

            again = run(
                tool,
                "convert",
                target,
                back,
                "--from",
                "split_half",
                "--to",
                "interleaved",
                "--overwrite",
                *options(rotary),
                code=2,
            )
            assert "is recorded as paired interleaved" in again.stderr, again.stderr
            run(
                tool,
                "convert",
                target,
                back,
                "--from",
                "interleaved",
                "--to",
                "split_half",
                "--overwrite",
                *options(rotary),
            )
            for name, value in load_file(back).items():
                assert value.tobytes() == old[name].tobytes(), name


def write_raw(path, tensors):
    """A file by the format's definition, for types numpy lacks: tensors are (dtype, shape,
    bytes)."""
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {
            "dtype": dtype,
            "shape": shape,
            "data_offsets": [len(data), len(data) + len(content)],
        }
        data += content
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_raw(path):
    """What the package finds in a file: (dtype, shape, bytes)."""
    with open(path, "rb") as file:
        return {
            n: (e["dtype"], e["shape"], bytes(e["data"]))
            for n, e in safetensors.deserialize(file.read())
        }


def widened(raw):
    """bfloat16 bytes as float64: the upper half of a float32."""
    return {
        n: (np.frombuffer(d, np.uint16).astype(np.uint32) << 16)
        .view(np.float32)
        .astype(np.float64)
        .reshape(s)
        for n, (_, s, d) in raw.items()
    }


def test_bfloat16(tool, folder):
    old = make_model(np.float32, 2)
    tensors = {
        n: ("BF16", list(v.shape), (v.view(np.uint32) >> 16).astype(np.uint16).tobytes())
        for n, v in old.items()
    }
    source, target = (
        os.path.join(folder, "bf16.safetensors"),
        os.path.join(folder, "bf16_out.safetensors"),
    )
    write_raw(source, tensors)
    run(tool, "convert", source, target, "--from", "split_half", "--to", "interleaved", *options())
    assert {n: d for n, (d, _, _) in read_raw(target).items()} == {n: "BF16" for n in old}
    check_same_logits(widened(read_raw(source)), widened(read_raw(target)), DIMS)
    with safetensors.safe_open(target, framework="numpy") as file:
        assert sorted(file.keys()) == sorted(old)


def test_published_permutation(tool, folder):
    """Half to interleaved is the published inverse of the permutation that made Hugging Face's
    Llama out of Meta's."""
    old = make_model(np.float32, 3)
    source, target = (
        os.path.join(folder, "p.safetensors"),
        os.path.join(folder, "p_out.safetensors"),
    )
    save_file(old, source)
    run(tool, "convert", source, target, "--from", "split_half", "--to", "interleaved", *options())
    new = load_file(target)
    for name, heads in (("q", HEADS), ("k", KEY_HEADS)):
        weight = old[f"model.layers.0.self_attn.{name}_proj.weight"]
        expected = np.stack(
            [weight.reshape(heads, 2, DIMS // 2, HIDDEN)[:, member] for member in (0, 1)], axis=2
        ).reshape(weight.shape)
        assert (new[f"model.layers.0.self_attn.{name}_proj.weight"] == expected).all()


def test_folder(tool, folder):
    source, target = os.path.join(folder, "sharded"), os.path.join(folder, "sharded_out")
    os.makedirs(source)
    old = make_model(np.float32, 4)
    files = {
        n: "model-00001-of-00002.safetensors"
        if "q_proj" in n or "norm" in n
        else "model-00002-of-00002.safetensors"
        for n in old
    }
    for file in sorted(set(files.values())):
        save_file({n: v for n, v in old.items() if files[n] == file}, os.path.join(source, file))
    index = json.dumps(
        {"metadata": {"total_size": sum(v.nbytes for v in old.values())}, "weight_map": files}
    )
    with open(os.path.join(source, "model.safetensors.index.json"), "w") as file:
        file.write(index)
    run(tool, "convert", source, target, "--from", "split_half", "--to", "interleaved", *options())
    new = {}
    for file in sorted(set(files.values())):
        new.update(load_file(os.path.join(target, file)))
    check_same_logits(old, new, DIMS)
    with open(os.path.join(target, "model.safetensors.index.json")) as file:
        assert file.read() == index


if __name__ == "__main__":
    os.makedirs(sys.argv[2], exist_ok=True)
    tests = [value for name, value in list(globals().items()) if name.startswith("test_")]
    for test in tests:
        with tempfile.TemporaryDirectory(dir=sys.argv[2]) as place:
            test(sys.argv[1], place)
    print(f"{len(tests)} passed")
