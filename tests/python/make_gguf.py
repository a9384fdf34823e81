# SPDX-License-Identifier: Apache-2.0
"""Small GGUF files by Python's gguf package, and beside each what is in it as JSON.

    python make_gguf.py FOLDER

One file for each scaling and each way to say something about the rotation. The numbers of the JSON
come from the published formulas, in double, from the values as the file has them (mostly rounded to
float32). Their form is that of `eigen-rope inspect --json`; rates are those at the context length.
Nothing is random: the same package writes the same bytes.
"""

import json
import math
import pathlib
import sys

import gguf
import numpy


def f32(value):
    return float(numpy.float32(value))


def powers(base, dims):
    return [f32(base) ** (-2 * k / dims) for k in range(dims // 2)]


def llama3_divisors(base, dims, factor, low, high, original):
    """What converters write as rope_freqs.weight."""
    divisors = []
    for rate in powers(base, dims):
        turns = original * rate / (2 * math.pi)
        kept = min(1, max(0, (turns - low) / (high - low)))
        divisors.append(1 / ((1 - kept) / factor + kept))
    return divisors


def yarn(base, dims, factor, original, fast=32.0, slow=1.0):
    """ggml's YaRN: ends rounded outwards, clamped to 0 and dims - 1, at least 0.001 apart."""

    def correction(beta):
        return dims * math.log(original / (2 * math.pi * beta)) / (2 * math.log(f32(base)))

    low = max(0, math.floor(correction(fast)))
    high = min(dims - 1, math.ceil(correction(slow)))
    rates = []
    for k, rate in enumerate(powers(base, dims)):
        kept = 1 - min(1, max(0, (k - low) / max(0.001, high - low)))
        rates.append(rate * ((1 - kept) / f32(factor) + kept))
    return rates


class File:
    """One file: the package's writer, and what it was told."""

    def __init__(
        self,
        folder,
        name,
        architecture,
        context=4096,
        layers=4,
        heads=8,
        key_heads=2,
        order=gguf.GGUFEndian.LITTLE,
    ):
        self.path = pathlib.Path(folder) / f"{name}.gguf"
        self.writer = gguf.GGUFWriter(self.path, architecture, endianess=order)
        self.expected = {
            "architecture": architecture,
            "context": context,
            "layer_count": layers,
            "heads": heads,
            "key_heads": key_heads if isinstance(key_heads, int) else max(key_heads),
            "warnings": [],
            "layers": [],
        }
        self.writer.add_name(f"a small file, {name}")
        self.writer.add_context_length(context)
        self.writer.add_block_count(layers)
        self.writer.add_head_count(heads)
        self.writer.add_head_count_kv(key_heads)
        # What a reader of the rotation steps over.
        self.writer.add_token_list(["<s>", "</s>", "naïve", "\n", "token"])
        self.writer.add_token_scores([0.0, -1.0, -2.0, -3.0, -4.0])
        self.writer.add_chat_template("{% for m in messages %}\n{{ m.content }}\n{% endfor %}")
        self.writer.add_tensor(
            "token_embd.weight", numpy.arange(64, dtype=numpy.float32).reshape(8, 8)
        )

    def layer(self, rates, head_dims, rotary_dims, base, pairing, scaling=None, **others):
        expected = {
            "layer_type": "",
            "layers": [],
            "head_dims": head_dims,
            "rotary_dims": rotary_dims,
            "base": f32(base),
            "linear_scale": 1.0,
            "scaling": scaling or {"type": "default"},
            "attention_factor": 1.0,
            "softmax_multiplier": 1.0,
            "pairing": pairing,
            "rates": rates,
        }
        expected.update(others)
        self.expected["layers"].append(expected)

    def factors(self, name, values, dtype=numpy.float32):
        stored = numpy.array(values, dtype=dtype)
        self.writer.add_tensor(f"{name}.weight", stored)
        return [float(value) for value in stored]

    def close(self):
        self.writer.write_header_to_file()
        self.writer.write_kv_data_to_file()
        self.writer.write_tensors_to_file()
        self.writer.close()
        self.path.with_suffix(".json").write_text(json.dumps(self.expected, indent=1) + "\n")
        return self.path


def llama(folder, name, base=500000.0, dims=16, **others):
    file = File(folder, name, "llama", **others)
    file.writer.add_embedding_length(dims * 8)
    file.writer.add_rope_dimension_count(dims)
    file.writer.add_rope_freq_base(base)
    return file


def write_powers(folder, name="llama_powers", **others):
    file = llama(folder, name, **others)
    file.layer(powers(500000, 16), 16, 16, 500000, "interleaved")
    return file.close()


def write_big_endian(folder):
    return write_powers(folder, "llama_big_endian", order=gguf.GGUFEndian.BIG)


def write_llama3(folder, name="llama_factors", dtype=numpy.float32):
    file = llama(folder, name, context=131072)
    divisors = file.factors("rope_freqs", llama3_divisors(500000, 16, 8.0, 1.0, 4.0, 8192), dtype)
    file.layer(
        [rate / divisor for rate, divisor in zip(powers(500000, 16), divisors)],
        16,
        16,
        500000,
        "interleaved",
    )
    return file.close()


def write_llama3_half(folder):
    return write_llama3(folder, "llama_factors_f16", numpy.float16)


def write_linear(folder):
    file = llama(folder, "llama_linear", base=10000.0)
    file.writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
    file.writer.add_rope_scaling_factor(4.0)
    file.layer(
        [rate / 4 for rate in powers(10000, 16)],
        16,
        16,
        10000,
        "interleaved",
        {"type": "linear", "factor": 4.0},
    )
    return file.close()


def write_none(folder):
    file = File(folder, "falcon_none", "falcon")
    file.writer.add_embedding_length(128)
    file.writer.add_rope_scaling_type(gguf.RopeScalingType.NONE)
    file.expected["warnings"] = ["falcon.rope.dimension_count", "falcon.rope.freq_base"]
    file.layer(powers(10000, 16), 16, 16, 10000, "split_half")
    return file.close()


def write_yarn(folder):
    file = File(folder, "qwen2_yarn", "qwen2", context=131072)
    file.writer.add_embedding_length(512)
    file.writer.add_rope_dimension_count(64)
    file.writer.add_rope_freq_base(1000000.0)
    file.writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    file.writer.add_rope_scaling_factor(4.0)
    file.writer.add_rope_scaling_orig_ctx_len(32768)
    file.layer(
        yarn(1000000, 64, 4.0, 32768),
        64,
        64,
        1000000,
        "split_half",
        {
            "type": "yarn",
            "ext_factor": 1.0,
            "original_context": 32768,
            "beta_fast": 32.0,
            "beta_slow": 1.0,
        },
        linear_scale=0.25,
        attention_factor=1 + 0.1 * math.log(4),
    )
    return file.close()


def write_gpt_oss(folder):
    file = File(folder, "gpt_oss_yarn", "gpt-oss", context=131072, layers=6, heads=64, key_heads=8)
    file.writer.add_embedding_length(2880)
    file.writer.add_key_length(64)
    file.writer.add_sliding_window(128)
    file.writer.add_rope_dimension_count(64)
    file.writer.add_rope_freq_base(150000.0)
    file.writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    file.writer.add_rope_scaling_factor(32.0)
    file.writer.add_rope_scaling_orig_ctx_len(4096)
    file.expected["warnings"] = ["truncate"]
    file.layer(
        yarn(150000, 64, 32.0, 4096),
        64,
        64,
        150000,
        "split_half",
        {
            "type": "yarn",
            "ext_factor": 1.0,
            "original_context": 4096,
            "beta_fast": 32.0,
            "beta_slow": 1.0,
        },
        linear_scale=1 / 32,
        attention_factor=1 + 0.1 * math.log(32),
    )
    return file.close()


def write_deepseek2(folder):
    file = File(
        folder, "deepseek2_yarn", "deepseek2", context=163840, layers=3, heads=16, key_heads=1
    )
    file.writer.add_embedding_length(2048)
    file.writer.add_key_length(576)
    file.writer.add_key_length_mla(192)
    file.writer.add_rope_dimension_count(64)
    file.writer.add_rope_freq_base(10000.0)
    file.writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    file.writer.add_rope_scaling_factor(40.0)
    file.writer.add_rope_scaling_orig_ctx_len(4096)
    file.writer.add_rope_scaling_yarn_log_mul(0.1 * 0.707)
    once = 1 + 0.1 * (f32(0.1 * 0.707) / 0.1) * math.log(40)
    file.layer(
        yarn(10000, 64, 40.0, 4096),
        192,
        64,
        10000,
        "interleaved",
        {
            "type": "yarn",
            "ext_factor": 1.0,
            "original_context": 4096,
            "beta_fast": 32.0,
            "beta_slow": 1.0,
        },
        linear_scale=1 / 40,
        softmax_multiplier=once * once,
    )
    return file.close()


def write_longrope(folder):
    file = File(folder, "phi3_longrope", "phi3", context=131072)
    file.writer.add_embedding_length(128)
    file.writer.add_rope_dimension_count(12)
    file.writer.add_rope_freq_base(10000.0)
    file.writer.add_rope_scaling_orig_ctx_len(4096)
    magnitude = math.sqrt(1 + math.log(131072 / 4096) / math.log(4096))
    file.writer.add_rope_scaling_attn_factors(magnitude)
    long = file.factors("rope_factors_long", [1.0, 1.1, 1.9, 5.3, 21.7, 64.1])
    short = file.factors("rope_factors_short", [1.0, 1.02, 1.1, 1.25, 1.9, 2.8])
    file.layer(
        [rate / divisor for rate, divisor in zip(powers(10000, 12), long)],
        16,
        12,
        10000,
        "split_half",
        {"type": "longrope", "long_factor": long, "short_factor": short, "original_context": 4096},
        attention_factor=f32(magnitude),
    )
    return file.close()


def write_mrope(folder):
    file = File(folder, "qwen2vl_sections", "qwen2vl")
    file.writer.add_embedding_length(128)
    file.writer.add_rope_dimension_count(16)
    file.writer.add_rope_freq_base(1000000.0)
    file.writer.add_rope_dimension_sections([2, 3, 3, 0])
    file.layer(
        powers(1000000, 16),
        16,
        16,
        1000000,
        "split_half",
        sections={"pattern": "contiguous", "lengths": [2, 3, 3, 0]},
    )
    return file.close()


def write_imrope(folder):
    file = File(folder, "qwen3vl_sections", "qwen3vl")
    file.writer.add_embedding_length(128)
    file.writer.add_rope_dimension_count(16)
    file.writer.add_rope_freq_base(5000000.0)
    file.writer.add_rope_dimension_sections([3, 3, 2, 0])
    file.layer(
        powers(5000000, 16),
        16,
        16,
        5000000,
        "split_half",
        sections={"pattern": "interleaved_ggml", "lengths": [3, 3, 2, 0]},
    )
    return file.close()


def write_gemma3(folder):
    file = File(folder, "gemma3_sliding", "gemma3", context=131072, layers=7)
    file.writer.add_embedding_length(640)
    file.writer.add_key_length(32)
    file.writer.add_sliding_window(1024)
    file.writer.add_rope_freq_base(1000000.0)
    file.writer.add_rope_dimension_count(32)
    file.writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
    file.writer.add_rope_scaling_factor(8.0)
    file.layer(
        [rate / 8 for rate in powers(1000000, 32)],
        32,
        32,
        1000000,
        "split_half",
        {"type": "linear", "factor": 8.0},
        layer_type="full_attention",
        layers=[5],
    )
    file.layer(
        powers(10000, 32),
        32,
        32,
        10000,
        "split_half",
        layer_type="sliding_attention",
        layers=[0, 1, 2, 3, 4, 6],
    )
    return file.close()


def write_gemma4(folder):
    file = File(
        folder, "gemma4_sliding", "gemma4", context=131072, layers=5, key_heads=[2, 2, 1, 2, 2]
    )
    file.writer.add_embedding_length(640)
    file.writer.add_key_length(32)
    file.writer.add_key_length_swa(16)
    file.writer.add_sliding_window(512)
    file.writer.add_sliding_window_pattern([True, True, False, True, True])
    file.writer.add_rope_freq_base(1000000.0)
    file.writer.add_rope_freq_base_swa(10000.0)
    file.writer.add_rope_dimension_count(32)
    file.writer.add_rope_dimension_count_swa(16)
    divisors = file.factors("rope_freqs", [1.0] * 4 + [1e30] * 12)
    file.expected["warnings"] = ["head_count_kv", "12 of the 16 divisors"]
    file.layer(
        [rate / divisor for rate, divisor in zip(powers(1000000, 32), divisors)],
        32,
        32,
        1000000,
        "split_half",
        layer_type="full_attention",
        layers=[2],
    )
    file.layer(
        powers(10000, 16),
        16,
        16,
        10000,
        "split_half",
        layer_type="sliding_attention",
        layers=[0, 1, 3, 4],
    )
    return file.close()


WRITERS = [
    write_powers,
    write_big_endian,
    write_llama3,
    write_llama3_half,
    write_linear,
    write_none,
    write_yarn,
    write_gpt_oss,
    write_deepseek2,
    write_longrope,
    write_mrope,
    write_imrope,
    write_gemma3,
    write_gemma4,
]


def write_all(folder):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    return [write(folder) for write in WRITERS]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for written in write_all(sys.argv[1]):
        print(written)
