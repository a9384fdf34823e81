# SPDX-License-Identifier: Apache-2.0
"""Records how transformers rotates, asked of every model type's own classes.

    python -m venv env && env/bin/pip install transformers==5.23.0 torch
    env/bin/python scripts/record_models/hugging_face.py --out
        tests/data/models/recorded/hugging_face.json

For each model type a small random model is built from its configuration class and run on a few
tokens. Whatever applies a rotation is wrapped, so that q and k are seen before and after it, layer
by layer; the angles between them say which elements pair, where they are written, how wide the
window is, which way it turns, and which layers are not rotated. Rates and magnitude are those of
the type's own rotary modules, for the configuration as the class saves it and for the variants
below. A type that cannot be built is recorded with the reason. The file has one line per type and
one per list of rates, so that another version of transformers is a readable difference.

A type's record: "config" is the small config.json all variants change (the keys of a variant
replace those of "config", null removes one), "answers" gives for each variant a list of [layer
type, index of the rates, magnitude] or the error; "layers" gives for a variant one character per
layer, the index into that variant's answer, or "-" where nothing rotates.
"""

import argparse
import collections
import contextlib
import copy
import datetime
import importlib
import inspect
import json
import logging as python_logging
import math
import multiprocessing
import multiprocessing.connection
import os
import pkgutil
import re
import resource
import signal
import time
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import torch  # noqa: E402
import transformers  # noqa: E402
from transformers.configuration_utils import PreTrainedConfig  # noqa: E402
from transformers.models.auto import modeling_auto  # noqa: E402

transformers.logging.set_verbosity_error()
python_logging.disable(python_logging.CRITICAL)
torch.set_num_threads(1)

LAYERS = 12
TOKENS = 7
HEAD = 16
# Fewer rotated pairs than this do not tell how sections lie; then a wider head is measured.
SECTION_PAIRS = 6
SECONDS = 400
# Sizes of the small models; whatever of these a class has is set.
SIZES = {
    "vocab_size": 96, "hidden_size": 64, "n_embd": 64, "d_model": 64, "intermediate_size": 48, "moe_intermediate_size": 32, "ffn_dim": 48,
    "n_inner": 48, "shared_expert_intermediate_size": 32, "moe_shared_expert_intermediate_size": 32, "shared_intermediate_size": 32,
    "num_hidden_layers": LAYERS, "n_layer": LAYERS, "n_layers": LAYERS, "num_layers": LAYERS, "num_decoder_layers": LAYERS,
    "num_attention_heads": 4, "n_head": 4, "num_heads": 4, "head_dim": HEAD, "attention_head_dim": HEAD, "d_head": HEAD,
    "num_experts": 4, "num_local_experts": 4, "n_routed_experts": 4, "moe_num_experts": 4, "num_experts_per_tok": 2, "num_experts_per_token": 2, "moe_topk": 2,
    "moe_k": 2, "top_k_experts": 2, "n_shared_experts": 1, "n_group": 1, "topk_group": 1, "num_expert_group": 1, "first_k_dense_replace": 1,
    "q_lora_rank": 24, "kv_lora_rank": 24, "o_lora_rank": 16, "o_groups": 2, "qk_rope_head_dim": HEAD, "qk_nope_head_dim": 8, "v_head_dim": HEAD,
    "index_head_dim": 32, "index_n_heads": 2, "index_topk": 4, "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 16,
    "linear_value_head_dim": 16, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "vocab_size_per_layer_input": 96,
    "hidden_size_per_layer_input": 16, "laurel_rank": 8, "mamba_d_state": 16, "mamba_d_head": 16, "mamba_n_heads": 8, "mamba_expand": 2,
    "mamba_n_groups": 1, "n_mamba_heads": 2, "mamba_d_ssm": 128, "dense_intermediate_size": 48, "ffn_hidden_size": 48, "word_embed_proj_dim": 64,
    "embedding_size": 64, "embed_dim": 64, "dim": 64, "hidden_dim": 64, "type_vocab_size": 2, "expert_ffn_hidden_size": 32,
    "zero_expert_num": 1, "rotary_dim": 8, "num_shared_experts": 1, "block_ff_dim": 48, "lru_width": 64, "attention_window_size": 64,
}  # fmt: skip
# What single types need besides: their classes have no default, or one that does not suit a small
# model.
OWN = {
    "ernie4_5_vl_moe_text": {"rope_parameters": {"rope_type": "default", "rope_theta": 500000.0, "mrope_section": [3, 3, 2]}},
    "glm5_next_text": {"qk_rope_head_dim": 0, "num_key_value_heads": 4, "index_kpool": 2},
    "hunyuan_vl_text": {"head_dim": HEAD, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 2, 2, 2]}},
    "phi4_multimodal": {
        "audio_config": {"hidden_size": 16, "intermediate_size": 16, "num_blocks": 1, "num_attention_heads": 1, "ext_pw_out_channel": 16, "nemo_conv_channels": 16},
        "vision_config": {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 1, "image_size": 28, "patch_size": 14},
    },
    "qwen3_omni_moe_talker_text": {"shared_expert_intermediate_size": 32},
    "qwen4_exp_text": {
        "indexer_n_heads": 2, "indexer_kv_heads": 1, "indexer_head_dim": 32, "indexer_budget": 8, "indexer_compress_ratio": 2, "hc_lowrank": 8,
    },
    "step3p5": {"sliding_window": 4},
    "t5gemma2_text": {"dropout_rate": 0.0},
    "zamba2": {"use_mem_rope": True, "layers_block_type": ["linear_attention", "linear_attention", "hybrid"] * (LAYERS // 3), "adapter_rank": 8},
    "zaya": {"num_experts_per_tok": 1, "router_hidden_size": 16},
}  # fmt: skip
# What single types' models must be called with, of shape [1, 1, hidden_size].
OWN_INPUTS = {"voxtral_realtime_text": ["t_cond"]}
# What some classes leave empty and their models need.
FILLED = (
    "head_dim",
    "num_experts",
    "n_routed_experts",
    "num_local_experts",
    "moe_intermediate_size",
    "num_experts_per_tok",
    "top_k_experts",
    "n_shared_experts",
    "n_group",
    "topk_group",
)
# What of a configuration can concern the rotation; the rest is left out of the record where that
# changes no answer.
KEPT = re.compile(
    r"rope|rotary|theta|nope|head|hidden_size|n_embd|n_layer|d_model|dim$|layer|position|pattern|interval|window|kv_|interleav|alibi|"
    r"original|context|model_type|block_types|scal"
)
DROPPED = re.compile(
    r"drop|norm|id2label|initializer|scale_|_scale$|_eps|layerdrop|embedding_multiplier|token|^vocab|loss|_heads_"
)


def configuration_classes():
    """Every class of transformers' models that is a configuration with a model_type."""
    for found in pkgutil.iter_modules(transformers.models.__path__):
        package = importlib.import_module("transformers.models." + found.name)
        for part in pkgutil.iter_modules(package.__path__):
            if part.name.startswith("configuration_"):
                importlib.import_module(f"transformers.models.{found.name}.{part.name}")
    classes = {}

    def walk(parent):
        for child in parent.__subclasses__():
            name = getattr(child, "model_type", "")
            if name and child.__module__.startswith("transformers.models."):
                classes.setdefault(name, child)
            walk(child)

    walk(PreTrainedConfig)
    return dict(sorted(classes.items()))


def text_class(config):
    """The class of the model that a configuration's text is for: the type's base model."""
    name = modeling_auto.MODEL_MAPPING_NAMES.get(config.model_type)
    names = [name] if isinstance(name, str) else list(name or ())
    try:
        module = importlib.import_module(
            type(config).__module__.replace(".configuration_", ".modeling_")
        )
    except ModuleNotFoundError:
        return (
            getattr(transformers, names[0]) if names else None
        )  # a type that another's model serves
    for candidate in names:
        if hasattr(module, candidate):
            return getattr(module, candidate)
    own = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, transformers.PreTrainedModel) and getattr(value, "config_class", None) is type(config)
        and value.__module__ == module.__name__ and not value.__name__.endswith("PreTrainedModel")
    ]  # fmt: skip
    if not own:
        raise LookupError("no model class takes this configuration")
    return min(own, key=lambda value: (not value.__name__.endswith("Model"), len(value.__name__)))


def small_kwargs(cls):
    """The sizes of SIZES that the class has, with as many heads for keys as it has of them."""
    default = cls()
    kwargs = {}
    have = default.to_dict()
    for key, value in SIZES.items():
        if have.get(key) is not None and not isinstance(have[key], (list, dict)):
            kwargs[key] = value
    for key in ("num_experts_per_tok", "topk_group", "n_group"):
        if key in have:
            kwargs[key] = SIZES[key]
    if "vocab_size" in have:
        kwargs["vocab_size"] = SIZES["vocab_size"]
    wide, narrow = have.get("head_dim"), have.get("qk_rope_head_dim")
    if (
        "head_dim" in kwargs
        and isinstance(narrow, int)
        and narrow > 0
        and wide > narrow
        and wide % narrow == 0
    ):
        nope = have.get("qk_nope_head_dim") or 0
        kwargs["head_dim"] = (
            SIZES["qk_nope_head_dim"] + HEAD if wide == nope + narrow else HEAD * (wide // narrow)
        )
    parts = [v for v in (have.get("rope_parameters") or {}).values() if isinstance(v, dict)] or [
        have.get("rope_parameters") or {}
    ]
    shares = [part["partial_rotary_factor"] for part in parts if part.get("partial_rotary_factor")]
    if kwargs.get("head_dim") == HEAD and any(
        int(HEAD * share) % 2 or int(HEAD * share) < 2 for share in shares
    ):
        kwargs["head_dim"] = 3 * HEAD
    for key in ("num_key_value_heads", "num_kv_heads"):
        if have.get(key) is not None:
            heads = have.get("num_attention_heads") or have.get("n_head") or 1
            kwargs[key] = 4 if have[key] == heads else 2
    for key, value in have.items():
        if re.search(r"intermediate_size|ffn_dim", key) and isinstance(value, int) and value:
            kwargs[key] = 48
    return kwargs


def patched(content, patch):
    result = copy.deepcopy(content)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = copy.deepcopy(value)
    return result


def plain(content):
    """As a JSON file holds it, without entries in which there are infinities, which are no JSON."""
    texts = {key: json.dumps(value, default=str) for key, value in content.items()}
    return {
        key: json.loads(text)
        for key, text in texts.items()
        if "Infinity" not in text and "NaN" not in text
    }


class Watch:
    """Records what goes into and comes out of everything that applies a rotation in some
    modules."""

    def __init__(self):
        self.stack = []
        self.calls = []
        self.linears = []
        self.undo = []
        self.depth = 0

    def wrapped(self, name, function):
        def call(*args, **kwargs):
            self.depth += 1
            try:
                before = [
                    (value, value.detach().clone())
                    for value in list(args) + list(kwargs.values())
                    if isinstance(value, torch.Tensor)
                ]
                result = function(*args, **kwargs)
            finally:
                self.depth -= 1
            if self.depth == 0:
                outputs = [
                    value
                    for value in (result if isinstance(result, (tuple, list)) else [result])
                    if isinstance(value, torch.Tensor)
                ]
                inputs = [
                    pair for pair in before if pair[1].is_floating_point() and pair[1].dim() >= 3
                ]
                while (
                    inputs and outputs and inputs[0][1].numel() != outputs[0].numel()
                ):  # cos and sin stand first in a few
                    inputs.pop(0)
                for index, output in enumerate(outputs):
                    if (
                        index < len(inputs)
                        and inputs[index][1].numel() == output.numel()
                        and inputs[index][1].shape[-1] == output.shape[-1]
                    ):
                        self.calls.append(
                            (
                                list(self.stack),
                                name,
                                inputs[index][0],
                                inputs[index][1],
                                output.detach().clone(),
                            )
                        )
            return result

        return call

    def linear(self, path, result):
        """Keeps what a projection gave, for fused_order."""
        if isinstance(result, torch.Tensor):
            self.linears.append((path, result.detach().clone()))

    def enter(self, model, modules):
        pattern = re.compile(
            r"^_?(apply|.*_apply)_.*(rotary|rope)|^rotate_queries_or_keys$|^apply_multidimensional_rope$"
        )
        seen = {}
        for module in modules:
            for name, value in list(vars(module).items()):
                if inspect.isfunction(value) and pattern.search(name):
                    seen.setdefault(value, self.wrapped(name, value))
                    self.undo.append((module, name, value))
                    setattr(module, name, seen[value])
                if inspect.isclass(value) and value.__module__ == module.__name__:
                    for method, raw in list(vars(value).items()):
                        inner = raw.__func__ if isinstance(raw, staticmethod) else raw
                        if inspect.isfunction(inner) and pattern.search(method):
                            made = self.wrapped(method, inner)
                            self.undo.append((value, method, raw))
                            setattr(
                                value,
                                method,
                                staticmethod(made) if isinstance(raw, staticmethod) else made,
                            )
        for path, part in model.named_modules():
            part.register_forward_pre_hook(
                lambda m, a, k, path=path: self.stack.append((path, m)), with_kwargs=True
            )
            part.register_forward_hook(
                lambda m, a, k, r: (self.stack.pop(), None)[1], with_kwargs=True, always_call=True
            )
            if isinstance(part, torch.nn.Linear):
                part.register_forward_hook(
                    lambda m, a, k, r, path=path: self.linear(path, r),
                    with_kwargs=True,
                )
            if "rotary" in type(part).__name__.lower():

                def seen_module(m, args, kwargs, result):
                    if isinstance(result, tuple) and len(args) >= 2 and all(
                        isinstance(a, torch.Tensor) and isinstance(r, torch.Tensor) and a.shape == r.shape and a.is_floating_point()
                        for a, r in zip(args[:2], result[:2])
                    ):  # fmt: skip
                        for a, r in zip(args[:2], result[:2]):
                            self.calls.append(
                                (
                                    list(self.stack),
                                    type(m).__name__,
                                    a,
                                    a.detach().clone(),
                                    r.detach().clone(),
                                )
                            )

                part.register_forward_hook(seen_module, with_kwargs=True)

    def leave(self):
        for owner, name, value in reversed(self.undo):
            setattr(owner, name, value)


def layer_of(stack):
    """The layer a call was made in: the first number in the path of the innermost module."""
    for path, _ in reversed(stack):
        numbers = re.findall(r"(?:^|\.)(\d+)(?=\.|$)", path)
        if numbers:
            return int(numbers[0])
    return None


def slots(kind, k, dims):
    pairs = dims // 2
    if kind == "half":
        return k, k + pairs, k, k + pairs
    if kind == "interleaved":
        return 2 * k, 2 * k + 1, 2 * k, 2 * k + 1
    return 2 * k, 2 * k + 1, k, k + pairs


def fit(view, before, after):
    """Which rule turns `before` into `after`: the kind, the window and the angles of all tokens,
    alike in all heads."""
    if before.dim() == 3:
        before, after = before.unsqueeze(1), after.reshape(before.shape).unsqueeze(1)
    after = after.reshape(before.shape) if after.shape != before.shape else after
    axes = [axis for axis in range(before.dim() - 1) if before.shape[axis] == TOKENS]
    if not axes:
        return None
    axis = axes[-1]
    x = before.movedim(axis, 0).reshape(TOKENS, -1, before.shape[-1]).double()
    y = after.movedim(axis, 0).reshape(TOKENS, -1, before.shape[-1]).double()
    width = x.shape[-1]
    moved = ((x - y).abs() > 1e-9 * x.abs().amax()).any(0).any(0).nonzero().flatten().tolist()
    if not moved:
        return {"kind": "none"}
    best = None
    for kind in ("half", "interleaved", "interleaved_to_half"):
        first, last = moved[0], moved[-1] + 1
        windows = {(0, width)}
        if kind == "interleaved":
            windows.add((first - first % 2, last + last % 2))
        windows.add((first, last))
        for start, end in sorted(windows, key=lambda w: w[0] - w[1]):
            dims = end - start
            if dims % 2 or dims <= 0:
                continue
            angles, error = [], 0.0
            for k in range(dims // 2):
                a, b, p, q = (start + s for s in slots(kind, k, dims))
                turn = torch.complex(y[..., p], y[..., q]) * torch.complex(x[..., a], -x[..., b])
                size = torch.complex(x[..., a], x[..., b]).abs() ** 2
                mean = turn.sum(1) / size.sum(1)
                error = max(error, float((turn - mean[:, None] * size).abs().max() / size.max()))
                angles.append(mean)
            if error < 1e-4 and (
                best is None
                or error < best["error"] * 0.01
                or dims < best["dims"]
                and error < best["error"] * 10
            ):
                best = {
                    "kind": kind,
                    "start": start,
                    "dims": dims,
                    "error": error,
                    "mean": torch.stack(angles, 1),
                }
    if best is None:
        return {"kind": "unknown"}
    best["magnitude"] = float(best["mean"].abs().mean())
    angle = torch.angle(best.pop("mean"))
    best["angles"] = angle
    row = view.stride()[-2] if view.dim() >= 2 else width
    strides = sorted(s for s, n in zip(view.stride()[:-1], view.shape[:-1]) if n > 1)
    row = strides[0] if strides else width
    best["row"] = row if row >= width and row < 8 * width + 64 else width
    best["offset"] = (
        view.storage_offset() % row + best["start"]
        if view._is_view() and best["row"] == row
        else best["start"]
    )
    if best["offset"] and best["offset"] + best["dims"] != best["row"]:
        best["offset"], best["row"] = best["start"], width
    return best


def fused_order(calls, linears):
    """Where the rows of q and k lie in the output of one projection: grouped by head, concatenated,
    or not in one."""
    first = layer_of(calls[0][0]) if calls else None
    rows = []
    for stack, _, _, before, _ in calls:
        if layer_of(stack) != first:
            break
        axes = [axis for axis in range(before.dim() - 1) if before.shape[axis] == TOKENS]
        if axes:
            heads = before.movedim(axes[-1], 0)[1]
            rows.append(heads.reshape(-1, heads.shape[-1]))
    if len(rows) < 2:
        return "none"
    for path, result in linears:
        if result.shape[-1] <= rows[0].numel() or TOKENS not in result.shape[:-1]:
            continue
        line = result.reshape(-1, result.shape[-1])[1]

        def place(row):
            found = (line == row[0]).nonzero().flatten().tolist()
            return next(
                (f for f in found if f + 1 < len(line) and bool(torch.isin(row[1], line))), None
            )

        queries, keys = [place(row) for row in rows[0]], [place(row) for row in rows[1]]
        if None in queries or None in keys:
            continue
        if len(queries) < 2:
            return "unknown"
        step, group = queries[1] - queries[0], len(queries) // len(keys)
        if keys[0] - queries[0] == len(queries) * step and max(queries) < min(keys):
            return "concatenated"
        if (
            group == 1
            and step == 3 * (keys[0] - queries[0])
            or group > 1
            and keys[0] - queries[0] == group * step
        ):
            return "grouped"
        return "unknown"
    alone = any(
        row[0] in result.reshape(-1, result.shape[-1])[1]
        for row in rows[0][:1]
        for _, result in linears
        if TOKENS in result.shape[:-1]
    )
    return "none" if alone else "unknown"


def text_modules(model):
    found = []
    for _, part in model.named_modules():
        buffers = [
            name
            for name, _ in part.named_buffers(recurse=False)
            if name.endswith("inv_freq") and not name.endswith("original_inv_freq")
        ]
        if (
            buffers
            and "config" in inspect.signature(type(part).__init__).parameters
            and not any(type(part) is type(f) for f in found)
        ):
            found.append(part)
    return found


def rates_of(module):
    """[layer type, rates, magnitude] of everything a rotary module would turn."""
    result = []
    for name, buffer in module.named_buffers(recurse=False):
        if not name.endswith("inv_freq") or name.endswith("original_inv_freq"):
            continue
        prefix = name[: -len("inv_freq")]
        magnitude = getattr(
            module, prefix + "attention_scaling", getattr(module, "attention_scaling", 1.0)
        )
        result.append(
            [
                prefix.rstrip("_"),
                [float(f"{v:.8g}") for v in buffer.flatten().tolist()],
                float(magnitude),
            ]
        )
    return result


def first_line(error):
    text = f"{type(error).__name__}: {error}".replace("\n", " ")
    return re.sub(r"/[^ ]*/", "", text)[:160]


class Type:
    def __init__(self, name, cls):
        self.name = name
        self.cls = cls
        self.record = {}

    def config(self, content):
        content = copy.deepcopy(content)
        content.pop("model_type", None)
        made = self.cls.from_dict(content)
        return made[0] if isinstance(made, tuple) else made

    def modeling(self):
        return importlib.import_module(self.cls.__module__.replace(".configuration_", ".modeling_"))

    def build(self, config):
        cls = text_class(config)
        self.model_class = cls
        torch.manual_seed(0)
        with contextlib.suppress(Exception):
            config._attn_implementation = "eager"
        return cls(config).eval()

    def run(self, model, sections=False):
        """The calls of one forward pass over a few tokens."""
        watch = Watch()
        names = {
            type(part).__module__
            for part in model.modules()
            if type(part).__module__.startswith("transformers.models.")
        }
        modules = [importlib.import_module(name) for name in sorted(names)]
        watch.enter(model, modules)
        ids = torch.arange(3, 3 + TOKENS)[None]
        tried = []
        position = torch.arange(TOKENS)[None]
        attempts = [{"input_ids": ids}, {"input_ids": ids, "position_ids": position}]
        width = getattr(model.config, "hidden_size", None)
        if isinstance(width, int):
            attempts.append({"inputs_embeds": torch.randn(1, TOKENS, width)})
            attempts.append(
                {"inputs_embeds": torch.randn(1, TOKENS, width), "position_ids": position}
            )
        attempts.append({"input_ids": ids, "decoder_input_ids": ids})
        own = {key: torch.randn(1, 1, width) for key in OWN_INPUTS.get(self.name, [])}
        if sections:
            spread = torch.stack([position, position * 0 + 3, position * 0 + 5])
            attempts = [
                {"input_ids": ids, "position_ids": spread},
                {"inputs_embeds": torch.randn(1, TOKENS, width or 64), "position_ids": spread},
            ]
        try:
            for attempt in attempts:
                watch.calls.clear()
                watch.linears.clear()
                watch.stack.clear()
                watch.depth = 0
                try:
                    with torch.no_grad():
                        model(
                            **attempt,
                            **own,
                            **(
                                {"use_cache": False}
                                if "use_cache" in inspect.signature(model.forward).parameters
                                else {}
                            ),
                        )
                    self.linears = watch.linears
                    return watch.calls
                except Exception as error:  # noqa: BLE001
                    tried.append(first_line(error))
        finally:
            watch.leave()
        raise RuntimeError(tried[0])

    def measured(self, config, sections=False):
        """Per layer what the attention's calls do: the widest call of each layer, for q."""
        model = self.build(config)
        calls = self.run(model, sections)
        self.fused = fused_order(calls, self.linears)
        layers = {}
        fits = []
        for stack, name, view, before, after in calls:
            layer = layer_of(stack)
            holder = next(
                (part for path, part in reversed(stack) if "ttention" in type(part).__name__),
                stack[-1][1] if stack else None,
            )
            made = fit(view, before, after)
            if made is None:
                continue
            made["function"], made["holder"] = name, type(holder).__name__
            fits.append((layer, made))
            if layer is None or (layer in layers and layers[layer]["kind"] != "none"):
                continue
            layers[layer] = made
        return model, layers, fits


def sample(values):
    """Long lists at some places: their length, and rates by index."""
    if isinstance(values, dict) or len(values) <= 16:
        return values
    n = len(values)
    at = sorted(
        {
            0,
            1,
            2,
            3,
            n // 8,
            n // 4,
            3 * n // 8,
            n // 2 - 1,
            n // 2,
            5 * n // 8,
            3 * n // 4,
            7 * n // 8,
            n - 2,
            n - 1,
        }
    )
    return {"n": n, "at": {str(i): values[i] for i in at}}


def variants(n, has_types):
    """What is changed in a configuration, for models of n pairs."""
    old = {"rope_parameters": None, "rope_theta": 54321.0}
    yarn = {"factor": 4.0, "original_max_position_embeddings": 1024}
    llama3 = {
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 1024,
    }
    longrope = {
        "factor": 4.0, "original_max_position_embeddings": 1024,
        "short_factor": [1 + k / 8 for k in range(n)], "long_factor": [2 + k / 4 for k in range(n)],
    }  # fmt: skip
    mla = {"mscale": 0.707, "mscale_all_dim": 0.707}
    context = {"max_position_embeddings": 4096}
    scaled = {
        "linear": {"factor": 4.0}, "dynamic": {"factor": 4.0}, "yarn": yarn, "llama3": llama3, "longrope": longrope,
    }  # fmt: skip
    result = {"saved": {}, "no_parameters": {"rope_parameters": None}, "old_base": old}
    for name, values in scaled.items():
        result["old_" + name] = {**old, **context, "rope_scaling": {"type": name, **values}}
        result["new_" + name] = {
            **context,
            "rope_parameters": {"rope_type": name, "rope_theta": 54321.0, **values},
        }
    result["new_base"] = {"rope_parameters": {"rope_type": "default", "rope_theta": 54321.0}}
    result["new_without_base"] = {"rope_parameters": {"rope_type": "default"}}
    result["old_rope_type_linear"] = {
        **old,
        **context,
        "rope_scaling": {"rope_type": "linear", "factor": 4.0},
    }
    result["old_linear_without_base"] = {
        "rope_parameters": None,
        **context,
        "rope_scaling": {"type": "linear", "factor": 4.0},
    }
    result["old_yarn_exact"] = {
        **old,
        **context,
        "rope_scaling": {"type": "yarn", **yarn, "truncate": False},
    }
    result["old_yarn_mscale"] = {
        **old,
        "max_position_embeddings": 40960,
        "rope_scaling": {"type": "yarn", **yarn, **mla, "factor": 40.0},
    }
    result["new_yarn_mscale"] = {
        "max_position_embeddings": 40960, "rope_parameters": {"rope_type": "yarn", "rope_theta": 54321.0, **yarn, **mla, "factor": 40.0},
    }  # fmt: skip
    result["old_yarn_attention_factor"] = {
        **old,
        **context,
        "rope_scaling": {"type": "yarn", **yarn, "attention_factor": 1.5},
    }
    result["new_proportional"] = {
        "rope_parameters": {
            "rope_type": "proportional",
            "rope_theta": 54321.0,
            "partial_rotary_factor": 0.5,
        }
    }
    result["old_original_outside"] = {
        **old, **context, "original_max_position_embeddings": 1024, "rope_scaling": {"type": "yarn", "factor": 4.0},
    }  # fmt: skip
    result["partial_outside"] = {**old, "partial_rotary_factor": 0.5}
    result["partial_inside"] = {
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 54321.0,
            "partial_rotary_factor": 0.5,
        }
    }
    result["partial_outside_linear"] = {
        **old, **context, "partial_rotary_factor": 0.5, "rope_scaling": {"type": "linear", "factor": 4.0},
    }  # fmt: skip
    result["no_head_dim"] = {"head_dim": None}
    result["rotary_pct"] = {**old, "rotary_pct": 0.5}
    result["rotary_emb_base"] = {"rope_parameters": None, "rotary_emb_base": 54321.0}
    result["mrope"] = {
        **old,
        "rope_scaling": {
            "type": "mrope",
            "mrope_section": [n - 2 * (3 * n // 8), 3 * n // 8, 3 * n // 8],
        },
    }
    if has_types:
        nested = lambda **more: {
            t: {"rope_type": "default", "rope_theta": 54321.0 + i, **more}
            for i, t in enumerate(has_types)
        }  # noqa: E731
        result["nested"] = {"rope_parameters": nested()}
        result["nested_linear"] = {
            **context,
            "rope_parameters": nested(rope_type="linear", factor=4.0),
        }
        result["nested_yarn"] = {**context, "rope_parameters": nested(rope_type="yarn", **yarn)}
        result["nested_partial"] = {"rope_parameters": nested(partial_rotary_factor=0.5)}
        result["nested_one_null"] = {
            "rope_parameters": {
                t: v if i == 0 else None for i, (t, v) in enumerate(nested().items())
            }
        }
        result["nested_and_base"] = {"rope_parameters": nested(), "rope_theta": 99.0}
        result["old_local_base"] = {**old, "rope_local_base_freq": 777.0}
        result["old_global_local"] = {
            "rope_parameters": None,
            "global_rope_theta": 54321.0,
            "local_rope_theta": 777.0,
        }
        result["old_swa_base"] = {**old, "swa_rope_theta": 777.0}
    return result


def layer_variants(content):
    """Changes of what decides which layers rotate, where the class has such keys."""
    result = {}
    count = content.get("num_hidden_layers")
    types = content.get("layer_types")
    if isinstance(types, list) and len(set(types)) > 1:
        result["types_turned"] = {"layer_types": types[::-1]}
        result["types_missing"] = {"layer_types": None}
        for t in sorted(set(types)):
            result["types_all_" + t] = {"layer_types": [t] * len(types)}
    elif isinstance(types, list):
        result["types_missing"] = {"layer_types": None}
    for key in ("no_rope_layers", "no_rope_layer_list", "nope_layers"):
        if isinstance(content.get(key), list) and isinstance(count, int):
            result[key] = {key: [int(i % 3 != 1) for i in range(count)]}
            result[key + "_missing"] = {key: None}
    for key in content:
        if (
            re.search(r"(pattern|interval|_every_n|_period|_offset|freq)$", key)
            and isinstance(content[key], int)
            and key != "rope_theta"
        ):
            changed = {key: 3}
            if "layer_types" in content:
                result[key] = {**changed, "layer_types": None}
            result[key + "_beside"] = changed
    if "no_rope_layers" in content:
        result["no_rope_layer_interval"] = {"no_rope_layers": None, "no_rope_layer_interval": 3}
    for key in content:
        if isinstance(content[key], bool) and re.search(r"rope|nope|rotary|sliding|alibi", key):
            result[key + "_turned"] = {key: not content[key]}
        if (
            isinstance(content[key], list)
            and re.search(r"attn_layer|cross_attention_layers|rope_theta", key)
            and isinstance(count, int)
        ):
            numbers = all(isinstance(v, (int, float)) for v in content[key])
            if numbers and len(content[key]) != count:
                result[key] = {key: [1, 4]}
    if "hunyuan" in content["model_type"]:  # the one kind of family that reads alpha
        alpha = {
            "type": "dynamic",
            "alpha": 1000.0,
            "factor": 1.0,
            "beta_fast": 32,
            "beta_slow": 1,
            "mscale": 1.0,
            "mscale_all_dim": 1.0,
        }
        result["dynamic_alpha"] = {
            "rope_parameters": None,
            "rope_theta": 54321.0,
            "rope_scaling": alpha,
        }
    if content.get("sliding_window"):
        result["no_window"] = {"sliding_window": None}
    for value in ("absolute", "rope", "rotary", "rope_gptj", "relative_key", "nope"):
        if "position_embedding_type" in content:
            result["position_" + value] = {"position_embedding_type": value}
    return result


class Recorder:
    def __init__(self, name, cls):
        self.type = Type(name, cls)
        self.name = name
        self.cls = cls

    def text_part(self):
        config = self.cls()
        part = config.get_text_config(decoder=True)
        if part is config:
            return None
        key = next((k for k, v in vars(config).items() if v is part), "?")
        return key, part.model_type

    def small(self):
        """The small configuration as a file holds it."""
        kwargs = small_kwargs(self.cls)
        last = None
        drops = [
            (),
            ("head_dim",),
            ("num_key_value_heads",),
            ("first_k_dense_replace",),
            ("hidden_size",),
            tuple(SIZES),
        ]
        for dropped in drops:
            try:
                config = self.cls(
                    **{
                        **{k: v for k, v in kwargs.items() if k not in dropped},
                        **OWN.get(self.name, {}),
                    }
                )
                content = {**plain(config.to_dict()), **OWN.get(self.name, {})}
                rope = content.get("rope_parameters")
                return {
                    k: v
                    for k, v in content.items()
                    if v is not None and k not in ("transformers_version", "architectures")
                }, rope
            except Exception as error:  # noqa: BLE001
                last = error
        raise last

    def ask(self, content, part=None):
        """The answers of the type's own rotary modules to a file, from the classes found in the
        small model."""
        config = self.type.config(content)
        result = []
        for cls in self.rotary:
            made = cls(config=config)
            for kind, rates, magnitude in rates_of(made):
                result.append([kind, rates, magnitude])
        return result

    def per_layer(self, content, answer):
        """One character per layer: which entry of the answer turns it."""
        config = self.type.config(content)
        model, layers, _ = self.type.measured(config)
        # Where a class counts two attentions a layer, the file counts layers; where it counts each
        # pass of a stack, the stack's layers repeat.
        count = (
            content.get("num_layers", config.num_hidden_layers)
            if "num_hidden_layers" not in content
            else config.num_hidden_layers
        )
        count = content.get("num_layers_per_stack", count)
        self.pairing_seen = next(
            (
                made["kind"]
                for _, made in sorted(layers.items())
                if made["kind"] not in ("none", "unknown")
            ),
            None,
        )
        types = getattr(config, "layer_types", None)
        text = ""
        for index in range(count):
            made = layers.get(index)
            if made is None or made["kind"] == "none":
                text += "-"
                continue
            if made["kind"] == "unknown":
                text += "?"
                continue
            angles = made["angles"][1].abs()
            scores = []
            for place, (kind, rates, _) in enumerate(answer):
                wanted = torch.tensor(rates, dtype=torch.float64)
                if len(rates) != made["dims"] // 2:
                    continue
                error = float(
                    (torch.remainder(wanted.abs() + math.pi, 2 * math.pi) - math.pi)
                    .abs()
                    .sub(angles)
                    .abs()
                    .max()
                )
                if error < 1e-4:
                    named = types is not None and index < len(types) and types[index] == kind
                    scores.append((not named, error, place))
            text += format(min(scores)[2], "x") if scores else "!"
        return text

    def record(self):
        name = self.name
        try:
            part = self.text_part()
        except Exception as error:  # noqa: BLE001
            return {"not_recorded": "its configuration has no default: " + first_line(error)}
        if part is not None:
            return {"text": list(part)}
        try:
            content, _ = self.small()
            config = self.type.config(content)
        except Exception as error:  # noqa: BLE001
            return {"not_recorded": "its configuration cannot be made small: " + first_line(error)}
        result = {}
        try:
            tower = getattr(text_class(config), "main_input_name", "input_ids")
            if tower not in ("input_ids", "inputs_embeds"):
                return {"input": tower}
        except Exception as error:  # noqa: BLE001
            return {"not_recorded": first_line(error)}
        try:
            content, (model, layers, fits) = self.first_that_runs(content)
            config = self.type.config(content)
            for switched in (
                {"position_embedding_type": "rotary"},
                {"position_embedding_type": "rope"},
                {"attn_layer_indices": [2, 5]},
            ):
                if fits or not hasattr(config, next(iter(switched))):
                    continue
                made = {**content, **switched}
                types = [
                    "full_attention" if kind == "attention" else kind
                    for kind in made.get("layer_types") or []
                ]
                if (
                    "position_embedding_type" in switched
                    and types
                    and not {"full_attention", "attention"} & set(types)
                ):
                    made["layer_types"] = (["mamba", "attention"] * len(types))[: len(types)]
                with contextlib.suppress(RuntimeError):
                    found = self.type.measured(self.type.config(made))
                    if found[2]:
                        content, config, (model, layers, fits) = made, self.type.config(made), found
                        result["only_with"] = {
                            k: v for k, v in made.items() if k in switched or k == "layer_types"
                        }
        except Exception as error:  # noqa: BLE001
            reason = first_line(error)
            entry = {"not_recorded": reason}
            cls = getattr(self.type, "model_class", None)
            if cls is not None and getattr(cls, "main_input_name", "input_ids") != "input_ids":
                entry["input"] = cls.main_input_name
            return entry
        result["input"] = getattr(type(model), "main_input_name", "input_ids")
        if result["input"] == "input_ids":
            del result["input"]
        if config.is_encoder_decoder:
            result["encoder_decoder"] = True
        turned = [made for _, made in fits if made["kind"] not in ("none", "unknown")]
        if not fits:
            modules = text_modules(model)
            if modules:
                return {
                    **result,
                    "not_recorded": "it has a rotary module, and nothing that applies it was seen",
                }
            return {**result, "rotates": False}
        if not turned:
            return (
                {**result, "rotates": False}
                if all(m["kind"] == "none" for _, m in fits)
                else {**result, "not_recorded": "no known rule turns its rows"}
            )
        result["rotates"] = True
        main = next(
            (layers[i] for i in sorted(layers) if layers[i]["kind"] not in ("none", "unknown")),
            turned[0],
        )
        result["pairing"] = self.kind_for_axes = main["kind"]
        result["window"] = [main["offset"], main["dims"]]
        signs = torch.sign(main["angles"][1][main["angles"][1].abs() > 1e-6])
        if len(signs) and float(signs.mean()) < 0:
            result["turns"] = "backwards"
        others = sorted(
            {(m["holder"], m["kind"]) for _, m in fits if m["kind"] not in ("none", main["kind"])}
        )
        if others:
            result["others"] = [list(o) for o in others]
        result["fused"] = self.fused_of(content)
        modules = text_modules(model)
        self.rotary = [type(m) for m in modules]
        result["rotary"] = [cls.__name__ for cls in self.rotary]
        kept = {k: v for k, v in content.items() if KEPT.search(k) and not DROPPED.search(k)}
        kept["model_type"] = name
        try:
            if self.ask(kept) != self.ask(content):
                kept = {**content, "model_type": name}
        except Exception:  # noqa: BLE001
            kept = {**content, "model_type": name}
        kept = {k: v for k, v in kept.items() if k not in ("id2label", "label2id")}
        result["config"] = kept
        default_file = {
            k: v
            for k, v in plain(self.cls().to_dict()).items()
            if v is not None and KEPT.search(k) and not DROPPED.search(k)
        }
        default_file["model_type"] = name
        result["default_theta"] = getattr(self.cls, "default_theta", None)
        result["default_config"] = default_file
        if not self.rotary:
            angles = main["angles"][1].abs().tolist()
            result["measured_rates"] = [float(f"{v:.4g}") for v in angles]
            result["layers"] = {
                "saved": "".join(
                    "-" if layers.get(i, {"kind": "none"})["kind"] == "none" else "0"
                    for i in range(getattr(config, "num_hidden_layers", 0))
                )
            }
            return result
        pairs = main["dims"] // 2
        result["pairs"] = pairs
        types = content.get("layer_types")
        types = sorted(set(types), key=types.index) if isinstance(types, list) else []
        labels = list(getattr(self.cls, "_rope_type_labels", None) or ())
        saved = content.get("rope_parameters") or {}
        nested = [k for k, v in saved.items() if isinstance(v, dict)]
        answers, per_layer = {}, {}
        self.pairings = {}
        todo = variants(pairs, labels or nested or types)
        for label, patch in todo.items():
            if label.startswith("nested"):
                result.setdefault("patches", {})[label] = patch
            self.answer(
                label,
                kept,
                content,
                patch,
                answers,
                per_layer,
                run=label
                in ("saved", "no_parameters", "old_base", "new_base", "nested", "nested_one_null"),
            )
        for label, patch in layer_variants(kept).items():
            result.setdefault("patches", {})[label] = patch
            self.answer(label, kept, content, patch, answers, per_layer, run=True)
        self.answer("default", default_file, default_file, {}, answers, {}, run=False)
        self.answer("empty", {"model_type": name}, {}, {}, answers, {}, run=False)
        result["answers"] = answers
        result["layers"] = per_layer
        if self.pairings:
            result["pairings"] = self.pairings
        result["softmax"] = self.softmax(content, pairs)
        self.sections(result, content, pairs)
        if "section_axes" not in result and self.reads_sections():
            print(f"{name}: its rotary class reads mrope_section, and no sections were seen")
        return result

    def first_that_runs(self, content):
        """The small configuration, with what its class leaves empty or what does not suit a small
        head filled in until a model runs."""
        default = self.cls()
        filled = {
            key: SIZES[key] for key in FILLED if content.get(key) is None and hasattr(default, key)
        }
        if content.get("num_key_value_heads") is None and hasattr(default, "num_key_value_heads"):
            filled["num_key_value_heads"] = 4
        count = content.get("num_hidden_layers", LAYERS)
        lists = (
            {"mlp_layer_types": ["dense"] * count}
            if hasattr(default, "mlp_layer_types") and not content.get("mlp_layer_types")
            else {}
        )
        shared = {"num_kv_shared_layers": 0} if content.get("num_kv_shared_layers") else {}
        rope = {k: v for k, v in (content.get("rope_parameters") or {}).items()}
        types = content.get("layer_types") or []
        nested = (
            {"rope_parameters": {t: {"rope_type": "default", "rope_theta": 10000.0} for t in types}}
            if types
            else {}
        )
        patches = [{}, {**lists, **shared}, {**filled, **lists, **shared}]
        patches += [
            {"rope_parameters": {**rope, "mrope_section": s}} for s in ([2, 3, 3], [1, 1, 2])
        ]
        if hasattr(default, "layer_types") and not types:
            kinds = ["full_attention"]
            patches.append({**filled, **lists, **shared, "layer_types": kinds * count})
        patches += [nested, {**filled, **lists, **shared, **nested}]
        first = None
        for index, patch in enumerate(patches):
            if index and not patch:
                continue
            made = {**content, **patch}
            try:
                return made, self.type.measured(self.type.config(made))
            except Late:
                raise
            except Exception as error:  # noqa: BLE001
                first = first or error
        raise first

    def fused_of(self, content):
        """The order of fused weights, "varies" where a switch of the configuration changes it."""
        orders = set()
        patches = [{}] + [
            {k: not v}
            for k, v in content.items()
            if isinstance(v, bool) and re.search(r"multi_query|decoder_arch|kv_head", k)
        ]
        for patch in patches:
            try:
                self.type.measured(self.type.config(patched(content, patch)))
            except Exception:  # noqa: BLE001
                continue
            orders.add(self.type.fused)
        return orders.pop() if len(orders) == 1 else "varies"

    def answer(self, label, kept, content, patch, answers, per_layer, run):
        """`kept` is what the record holds, `content` the same with the sizes a small model
        needs."""
        try:
            answers[label] = self.ask(patched(kept, patch))
        except Exception as error:  # noqa: BLE001
            answers[label] = first_line(error)
            return
        if run:
            try:
                per_layer[label] = self.per_layer(patched(content, patch), answers[label])
                if self.pairing_seen not in (None, self.kind_for_axes):
                    self.pairings[label] = self.pairing_seen
            except Exception as error:  # noqa: BLE001
                per_layer[label] = "error " + first_line(error)

    def softmax(self, content, pairs):
        """What mscale_all_dim multiplies the logits by: the ratio of the attentions' scale with and
        without it."""
        plain_yarn = {
            "rope_type": "yarn",
            "rope_theta": 54321.0,
            "factor": 40.0,
            "original_max_position_embeddings": 1024,
        }
        with_all = {**plain_yarn, "mscale": 0.707, "mscale_all_dim": 0.707}
        scales = []
        for parameters in (plain_yarn, with_all):
            try:
                made = self.type.build(
                    self.type.config(
                        patched(
                            content,
                            {"rope_parameters": parameters, "max_position_embeddings": 40960},
                        )
                    )
                )
            except Exception as error:  # noqa: BLE001
                return first_line(error)
            scales.append(
                {
                    f"{path}.{key}": value
                    for path, part in made.named_modules()
                    if "ttention" in type(part).__name__
                    for key, value in vars(part).items()
                    if isinstance(value, float) and value
                }  # fmt: skip
            )
        ratios = {
            round(scales[1][key] / value, 9)
            for key, value in scales[0].items()
            if key in scales[1] and scales[1][key] != value
        }
        return sorted(ratios)[-1] if ratios else 1.0

    def reads_sections(self):
        return any('"mrope_section"' in inspect.getsource(cls) for cls in self.rotary)

    def sections(self, result, content, pairs):
        """Which axis of three turns each pair, where the type takes positions of three axes."""
        try:
            if pairs < SECTION_PAIRS:
                content, pairs = self.widened(content, pairs)
            rope = dict(content.get("rope_parameters") or {})
            if not any(isinstance(v, dict) for v in rope.values()):
                third = 3 * pairs // 8
                rope["mrope_section"] = [pairs - 2 * third, third, third]
                content = patched(content, {"rope_parameters": rope})
            config = self.type.config(content)
            model, layers, _ = self.type.measured(config, sections=True)
        except Exception:  # noqa: BLE001
            return
        made = next(
            (layers[i] for i in sorted(layers) if layers[i]["kind"] not in ("none", "unknown")),
            None,
        )
        if made is None:
            if layers and all(layers[i]["kind"] == "unknown" for i in layers):
                result["section_axes"] = (
                    "split"  # a pair's two elements have different axes: no rotation
                )
            return
        angles = made["angles"]
        axes = ""
        for k in range(angles.shape[1]):
            moving = float((angles[1:, k] - angles[:-1, k]).abs().max()) > 1e-7
            if moving:
                axes += "t"
                continue
            rate = None
            base = float(angles[0, k])
            axes += "x" if rate is None and base else "0"
        if "x" not in axes:
            return
        # A second run tells height from width: only height has another position.
        heights = self.axis_of(config, 1)
        widths = self.axis_of(config, 2)
        axes = "".join("h" if heights[k] else "w" if widths[k] else "t" for k in range(len(axes)))
        result["section_axes"] = axes
        default = None
        for module in text_modules(model):
            default = getattr(module, "mrope_section", default)
        fresh = self.cls()
        for cls in self.rotary:
            with contextlib.suppress(Exception):
                made = cls(
                    config=self.type.config(
                        {k: v for k, v in plain(fresh.to_dict()).items() if k != "rope_parameters"}
                    )
                )
                found = getattr(made, "mrope_section", None)
                if found is not None:
                    result["default_sections"] = list(found)

    def widened(self, content, pairs):
        """The same model with as many pairs as HEAD has: its heads are wider, which are those of
        the hidden size where the class has no width of its own."""
        times = -(-HEAD // (2 * pairs))
        key = "head_dim" if isinstance(content.get("head_dim"), int) else "hidden_size"
        return patched(content, {key: times * content[key]}), times * pairs

    def axis_of(self, config, axis):
        """Which pairs move when one axis alone counts."""
        model = self.type.build(config)
        position = torch.zeros(3, 1, TOKENS, dtype=torch.long)
        position[axis, 0] = torch.arange(TOKENS)
        watch = Watch()
        names = {
            type(part).__module__
            for part in model.modules()
            if type(part).__module__.startswith("transformers.models.")
        }
        watch.enter(model, [importlib.import_module(n) for n in sorted(names)])
        width = getattr(config, "hidden_size", 64)
        try:
            for attempt in (
                {"input_ids": torch.arange(3, 3 + TOKENS)[None]},
                {"inputs_embeds": torch.randn(1, TOKENS, width)},
            ):
                watch.calls.clear()
                watch.stack.clear()
                try:
                    with torch.no_grad():
                        model(**attempt, position_ids=position)
                    break
                except Exception:  # noqa: BLE001
                    continue
        finally:
            watch.leave()
        for stack, _, view, before, after in watch.calls:
            if layer_of(stack) is None:
                continue
            made = fit_pairs(before, after, self.kind_for_axes)
            return made
        return []


def fit_pairs(before, after, kind):
    """Which pairs of a row move at all from token to token."""
    axes = [axis for axis in range(before.dim() - 1) if before.shape[axis] == TOKENS]
    x = before.movedim(axes[-1], 0).reshape(TOKENS, -1, before.shape[-1]).double()
    y = (
        after.reshape(before.shape)
        .movedim(axes[-1], 0)
        .reshape(TOKENS, -1, before.shape[-1])
        .double()
    )
    dims = x.shape[-1]
    result = []
    for k in range(dims // 2):
        a, b, p, q = slots(kind, k, dims)
        turn = torch.complex(y[..., p], y[..., q]) * torch.complex(x[..., a], -x[..., b])
        angle = torch.angle(turn.sum(1))
        result.append(bool((angle[1:] - angle[0]).abs().max() > 1e-7))
    return result


class Late(Exception):
    pass


def alarm(*_):
    raise Late(f"it took more than {SECONDS} seconds")


def record_one(name):
    cls = CLASSES[name]
    signal.signal(signal.SIGALRM, alarm)
    signal.alarm(SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
    try:
        recorder = Recorder(name, cls)
        recorder.type.record = {}
        return name, recorder.record()
    except Late as late:
        return name, {"not_recorded": str(late)}
    except Exception as error:  # noqa: BLE001
        return name, {"not_recorded": first_line(error)}
    finally:
        signal.alarm(0)


def apart(names, workers):
    """Each type's record, made in a process of its own, which may crash or hang without harm."""
    context = multiprocessing.get_context("fork")
    waiting, running, records = list(reversed(names)), {}, {}
    while waiting or running:
        while waiting and len(running) < workers:
            name = waiting.pop()
            reader, writer = context.Pipe(duplex=False)
            process = context.Process(target=lambda w=writer, n=name: w.send(record_one(n)[1]))
            process.start()
            writer.close()
            running[name] = (process, reader, time.monotonic())
        multiprocessing.connection.wait([reader for _, reader, _ in running.values()], timeout=1)
        for name, (process, reader, started) in list(running.items()):
            late = time.monotonic() - started > SECONDS + 10
            if not reader.poll() and not late:
                continue
            try:
                records[name] = (
                    {"not_recorded": f"it took more than {SECONDS} seconds"}
                    if late
                    else reader.recv()
                )
            except EOFError:
                records[name] = {"not_recorded": "the process that built it ended"}
            if late:
                process.kill()
            process.join()
            del running[name]
            if "TIMES" in os.environ:
                print(
                    name,
                    f"{time.monotonic() - started:.1f}",
                    records[name].get("not_recorded", list(records[name])[:2]),
                    flush=True,
                )
    return records


CLASSES = {}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--keep", help="a recording whose other types are taken over, with --only")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    CLASSES.update(configuration_classes())
    names = [name for name in options.only or CLASSES if name in CLASSES]
    for common in (
        "llama",
        "bert",
        "qwen2_vl",
        "mixtral",
        "gemma3",
        "clip",
    ):  # what most modules import is shared by all processes
        importlib.import_module(f"transformers.models.{common}.modeling_{common}")
    records = kept_records(options.keep, names) if options.keep else {}
    records.update(apart(names, options.workers))
    write(options.out, {name: records[name] for name in sorted(records)})


def kept_records(path, names):
    """The records of a file but for those of `names`, with the lists of rates in their places."""
    with open(path, encoding="utf-8") as file:
        recorded = json.load(file)
    kept = {name: record for name, record in recorded["types"].items() if name not in names}
    for record in kept.values():
        for label, answer in record.get("answers", {}).items():
            if isinstance(answer, list):
                record["answers"][label] = [
                    [kind, recorded["rates"][place], magnitude] for kind, place, magnitude in answer
                ]
    return kept


def write(path, records):
    """Lists of rates are numbered and shared, variants are those of a number of pairs."""
    rates, place = [], {}

    def number(values):
        text = json.dumps(sample(values), separators=(",", ":"))
        if text not in place:
            place[text] = len(rates)
            rates.append(text)
        return place[text]

    counts = sorted({r["pairs"] for r in records.values() if "pairs" in r})
    lines = []
    for name, record in records.items():
        for label, answer in record.get("answers", {}).items():
            if isinstance(answer, list):
                record["answers"][label] = [
                    [kind, number(values), magnitude] for kind, values, magnitude in answer
                ]
        lines.append(json.dumps(name) + ":" + json.dumps(record, separators=(",", ":")))
    head = {
        "transformers": transformers.__version__, "torch": torch.__version__.split("+")[0],
        "date": datetime.date.today().isoformat(),
    }  # fmt: skip
    shared = ",\n".join(
        f'"{n}":' + json.dumps(variants(n, []), separators=(",", ":")) for n in counts
    )
    text = (
        "{\n"
        + json.dumps(head)[1:-1]
        + ',\n"variants":{\n'
        + shared
        + '\n},\n"rates":[\n'
        + ",\n".join(rates)
    )
    text += '\n],\n"types":{\n' + ",\n".join(lines) + "\n}\n}\n"
    json.loads(text)
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    summary = collections.Counter(
        "not recorded"
        if "not_recorded" in r
        else "composite"
        if "text" in r
        else "tower"
        if len(r) == 1 and "input" in r
        else "rotates"
        if r.get("rotates")
        else "does not rotate"
        for r in records.values()
    )
    print(dict(summary), len(text), "bytes")


if __name__ == "__main__":
    main()
