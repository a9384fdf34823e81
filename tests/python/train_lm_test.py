# SPDX-License-Identifier: Apache-2.0
"""Computes the first losses of examples/train_lm with numpy alone, in double, from the weights and
batches that bench/peers/trainer_data.py reads, and compares them with those of the program. What
trains in PyTorch for comparison (bench/peers/trainer.py) reads the same.

    python train_lm_test.py TRAIN_LM FOLDER

TRAIN_LM is the program, FOLDER where it writes. Exits with 1 if anything differs.
"""

import pathlib
import subprocess
import sys

import numpy as np

PEERS = pathlib.Path(__file__).resolve().parents[2] / "bench" / "peers"
sys.path.insert(0, str(PEERS))

import trainer  # noqa: E402
import trainer_page  # noqa: E402
from trainer_data import Batches, Checkpoint  # noqa: E402

# The program computes in float: sums of a few hundred terms, a handful of them one after the other.
TOLERANCE = 1e3 * float(np.finfo(np.float32).eps)


def norm(x, gain):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5) * gain


def rotate(x, base):
    """x is [windows, heads, tokens, head dim]."""
    tokens, width = x.shape[-2:]
    angles = np.arange(tokens)[:, None] * base ** (-np.arange(0, width, 2) / width)
    a, b = x[..., : width // 2], x[..., width // 2 :]
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate((a * cos - b * sin, b * cos + a * sin), axis=-1)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def loss_in_bits(checkpoint, inputs, targets):
    config = checkpoint.config

    def weight(name):
        return checkpoint.tensor(f"model.{name}.weight").astype(np.float64)

    windows, tokens = inputs.shape
    x = weight("embedding")[inputs]
    for layer in (f"layers.{i}" for i in range(config["layers"])):
        y = norm(x, weight(f"{layer}.norm1"))
        q, k, v = (
            (y @ weight(f"{layer}.attention.{name}").T)
            .reshape(windows, tokens, config["heads"], -1)
            .transpose(0, 2, 1, 3)
            for name in "qkv"
        )
        q, k = (rotate(rows, config["rope"]["base"]) for rows in (q, k))
        scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
        scores[..., np.triu(np.ones((tokens, tokens), dtype=bool), 1)] = -np.inf
        o = (softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(windows, tokens, -1)
        x = x + o @ weight(f"{layer}.attention.o").T
        up = np.maximum(norm(x, weight(f"{layer}.norm2")) @ weight(f"{layer}.mlp.up").T, 0)
        x = x + up**2 @ weight(f"{layer}.mlp.down").T
    odds = softmax(norm(x, weight("norm")) @ weight("head").T)
    return -np.mean(np.log2(np.take_along_axis(odds, targets[..., None], axis=-1)))


def check_losses(program, folder):
    text = folder / "text.txt"
    text.write_bytes(b"".join(b"line %d of a text for a small model\n" % i for i in range(300)))

    def train(name, *arguments):
        command = [program, f"--text={text}", f"--out={folder / name}", "--no-comparison"]
        sizes = ["--layers=2", "--heads=2", "--dim=16", "--context=40", "--batch=3", "--threads=2"]
        subprocess.run([*command, *sizes, *arguments], check=True, stdout=subprocess.PIPE)
        return Checkpoint(folder / name / "default.safetensors")

    start = train("start", "--save-start")
    trained = train("trained", "--steps=9", "--stop-at=3", "--profile")
    losses = trained.tensor("curve.train")
    assert len(losses) == 3, losses
    batches = Batches(text.read_bytes(), start.config)
    expected = loss_in_bits(start, *batches.of(0))
    assert abs(losses[0] - expected) <= TOLERANCE * expected, (losses[0], expected)
    assert losses[2] != losses[0]
    # Another batch, with other weights: what step 3 would see.
    resumed = train("trained", "--steps=9", "--resume", "--stop-at=4").tensor("curve.train")
    expected = loss_in_bits(trained, *batches.of(3))
    assert abs(resumed[3] - expected) <= TOLERANCE * expected, (resumed[3], expected)
    profile = (folder / "trained" / "default.profile.csv").read_text().splitlines()
    assert len(profile) == 1 + 3, profile

    try:
        Batches(b"ab", start.config)
    except ValueError as error:
        assert "kinds of characters, got 2" in str(error), error
    else:
        raise AssertionError("a text with another vocabulary must be refused")


def check_page():
    page = f"before\n{trainer_page.BEGIN}\nold\n{trainer_page.END}\nafter\n"
    new = trainer_page.replace_section(page, "\nnew\n")
    assert trainer_page.section_of(page) == "old"
    assert trainer_page.section_of(new) == "new"
    assert new.startswith("before\n") and new.endswith("\nafter\n"), new
    for wrong in ("no marks", page + page, f"{trainer_page.END} {trainer_page.BEGIN}"):
        try:
            trainer_page.replace_section(wrong, "new")
        except ValueError:
            continue
        raise AssertionError(f"a page without its marks must be refused: {wrong}")
    for name in ("docs/peers.md", "bench/peers/page.md.in"):
        trainer_page.section_of((PEERS.parents[1] / name).read_text())


def check_figures():
    assert trainer.largest_difference([1.0, 2.0], [1.5, 2.25]) == 0.5
    assert trainer.spread([3.0, 1.0, 2.0], 1) == "2.0 (1.0 - 3.0)"


def main():
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    check_losses(sys.argv[1], folder)
    check_page()
    check_figures()


if __name__ == "__main__":
    main()
