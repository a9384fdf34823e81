# SPDX-License-Identifier: Apache-2.0
"""Writes the families' table, src/models/families_table.inc, from what hugging_face.py recorded.

    python3 scripts/record_models/hugging_face_table.py tests/data/models/recorded/hugging_face.json
        src/models/families_table.inc

Every column is derived from the answers of transformers' own classes;
tests/models/hugging_face_recorded_test.cpp reads each recorded configuration through the library
and compares, so that a column derived wrongly fails there.
"""

import json
import math
import sys

LATENT = "qk_rope_head_dim"
PAIRINGS = {
    "half": "split_half",
    "interleaved": "interleaved",
    "interleaved_to_half": "interleaved_to_split_half",
}
NEVER = {"linear_attention", "conv", "mamba", "recurrent"}


def number(value):
    return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))


class Rows:
    def __init__(self, recorded):
        self.types = recorded["types"]
        self.rates = recorded["rates"]

    def values(self, index):
        return self.rates[index]

    def count(self, index):
        found = self.rates[index]
        return found["n"] if isinstance(found, dict) else len(found)

    def row(self, name, record):
        config, default = record["config"], record.get("default_config", {})
        answers, layers = record.get("answers", {}), record.get("layers", {})

        def pairs(label):
            answer = answers.get(label)
            return self.count(answer[0][1]) if isinstance(answer, list) and answer else None

        def counts(label):
            answer = answers.get(label)
            return [self.count(a[1]) for a in answer] if isinstance(answer, list) else None

        fields = {}
        theta = record.get("default_theta")
        saved_rope = default.get("rope_parameters") or {}
        nested_keys = [k for k, v in saved_rope.items() if isinstance(v, dict)]
        base = theta if isinstance(theta, (int, float)) else None
        if isinstance(theta, dict):
            base = theta.get("global", theta.get("full_attention"))
        alone = answers.get("new_without_base")
        if isinstance(alone, list) and len(alone) == 1:
            base = next(
                (
                    b
                    for b in (theta, saved_rope.get("rope_theta"), 10000.0)
                    if isinstance(b, (int, float)) and self.is_plain(alone[0], b)
                ),
                base,
            )
        elif (
            not nested_keys
            and not answers
            and isinstance(saved_rope.get("rope_theta"), (int, float))
        ):
            base = saved_rope["rope_theta"]
        measured = record.get("measured_rates")
        if measured and len(measured) > 1:
            base = float(f"{measured[1] ** -len(measured):.3g}")
        fields["base"] = 0 if base is None else base
        fields["hidden"] = next(
            (
                default[k]
                for k in ("hidden_size", "n_embd", "d_model")
                if isinstance(default.get(k), int)
            ),
            0,
        )
        fields["heads"] = next(
            (
                default[k]
                for k in ("num_attention_heads", "n_head")
                if isinstance(default.get(k), int)
            ),
            0,
        )
        fields["context"] = next(
            (
                default[k]
                for k in ("max_position_embeddings", "n_positions")
                if isinstance(default.get(k), int)
            ),
            0,
        )
        latent = isinstance(config.get(LATENT), int) and config[LATENT] > 0
        fields["latent"] = latent
        partial = 1.0
        one = next((v for v in saved_rope.values() if isinstance(v, dict)), saved_rope)
        if (
            not latent
            and isinstance(one.get("partial_rotary_factor"), (int, float))
            and not nested_keys
        ):
            partial = one["partial_rotary_factor"]
        fields["partial"] = partial
        full = pairs("new_without_base")
        inside = pairs("partial_inside")
        head = config.get("head_dim") if isinstance(config.get("head_dim"), int) else 16
        whole = (config[LATENT] if latent else head) // 2
        fields["share"] = "honoured" if inside is not None and inside * 2 == whole else "ignored"
        if inside is None and full is not None and partial != 1 and full < whole:
            fields["share"] = "honoured"
        # A class with heads of its own width, or hidden over heads.
        if latent:
            fields["head_dims"] = default.get(LATENT, 0)
        elif counts("no_head_dim") == counts("saved") and not isinstance(
            default.get("head_dim"), int
        ):
            fields["head_dims"] = 0
        else:
            derived = counts("no_head_dim") == counts("saved")
            fields["head_dims"] = (
                0
                if derived or not isinstance(default.get("head_dim"), int)
                else default["head_dim"]
            )
            missing = pairs("no_head_dim")
            if (
                fields["hidden"]
                and isinstance(missing, int)
                and fields["hidden"] // config.get("num_attention_heads", 4) == 2 * missing
            ):
                fields["head_dims"] = 0
            elif (
                not derived
                and isinstance(pairs("no_head_dim"), int)
                and not isinstance(default.get("head_dim"), int)
            ):
                share = one.get("partial_rotary_factor", 1.0)
                fields["head_dims"] = round(2 * pairs("no_head_dim") / share)
                if (
                    fields["hidden"]
                    and fields["hidden"] // config.get("num_attention_heads", 4)
                    == fields["head_dims"]
                ):
                    fields["head_dims"] = 0
        nested = answers.get("nested")
        half = answers.get("nested_partial")
        if nested_keys and isinstance(nested, list) and isinstance(half, list):
            stated = [self.count(a[1]) for a in nested]
            halves = [self.count(a[1]) for a in half]
            if any(h < whole for h in halves) and not latent:
                fields["share"] = "honoured"
            if any(c < whole for c in stated) and not latent:
                fields["partial"] = 0
        # Forms: an answer that is that of a plain rotation of the class's base, or of the one that
        # is given.
        answer = answers.get("no_parameters")
        plain = (
            isinstance(answer, list)
            and len({tuple(a[1:]) for a in answer}) == 1
            and base
            and self.is_plain(answer[0], base)
        )
        old = answers.get("old_base")
        old_plain = (
            isinstance(old, list)
            and len({tuple(a[1:]) for a in old}) == 1
            and self.is_plain(old[0], 54321.0)
        )
        linear = answers.get("old_linear")
        pairs_of_forms = [
            (answers.get("old_" + t), answers.get("new_" + t))
            for t in ("linear", "dynamic", "yarn", "llama3", "longrope")
        ]
        read = [(o, n) for o, n in pairs_of_forms if isinstance(o, list)]
        old_read = bool(read) and all(o == n and len(o) == 1 for o, n in read)
        flat = answers.get("new_base")
        fields["nested"] = bool(nested_keys) and (
            not isinstance(flat, list) or flat == answers.get("no_parameters")
        )
        rule, pattern = self.rule(name, record)
        fields["rule"], fields["pattern"] = rule, pattern
        if rule in ("local_base", "local_unscaled", "global_local"):
            fields["forms"] = "any"
        elif name in ("gpt_neox", "gpt_neox_japanese") or rule == "global_head":
            fields["forms"] = (
                "any"  # the reader knows their names of base and share, or their defaults
            )
        elif old_read and plain and old_plain:
            fields["forms"] = "any"
        elif old_read:
            fields["forms"] = "with_parameters"
        elif plain and old == answer and linear == answer:
            fields["forms"] = "fixed"
        elif (
            plain
            and old_plain
            and linear == old
            and answers.get("new_base") == answer
            and not fields["nested"]
        ):
            fields["forms"] = "outside"
        else:
            fields["forms"] = "fixed" if not answers else "saved"
        if (
            isinstance(answers.get("new_base"), list)
            and len(answers["new_base"]) > 1
            and nested_keys
        ):
            fields["nested"] = True
        softmax = record.get("softmax")
        wanted = (1 + 0.0707 * math.log(40)) ** 2
        fields["softmax"] = (
            "mscale_all_dim"
            if isinstance(softmax, float) and abs(softmax / wanted - 1) < 1e-6
            else "none"
        )
        axes = record.get("section_axes")
        order = "none"
        if axes == "split":
            order = "split"
        elif axes:
            n = len(axes)
            third = 3 * n // 8
            contiguous = "t" * (n - 2 * third) + "h" * third + "w" * third
            woven = "".join(
                "h"
                if k % 3 == 1 and k < 3 * third
                else "w"
                if k % 3 == 2 and k < 3 * third
                else "t"
                for k in range(n)
            )
            order = (
                "contiguous" if axes == contiguous else "interleaved" if axes == woven else "other"
            )
        fields["mrope"] = order
        scaled, d = answers.get("dynamic_alpha"), 2 * record.get("pairs", 0)
        scales = isinstance(scaled, list) and self.is_plain(
            scaled[0], 54321.0 * 1000.0 ** (d / (d - 2))
        )
        fields["alpha"] = "scales_base" if scales else "none"
        fields["sections"] = record.get("default_sections") or [0, 0, 0]
        if len(fields["sections"]) != 3 or order in ("none", "split", "other"):
            fields["sections"] = [0, 0, 0]
        turning, resting = self.layer_types(record)
        fields["rotated"], fields["resting"] = " ".join(turning), " ".join(resting)
        fused = record.get("fused", "unknown")
        fields["fused"] = fused if fused in ("none", "grouped", "concatenated") else "unknown"
        fields["doubt"] = self.doubt(record, order, layers)
        return fields

    def is_plain(self, entry, base, factor=1.0):
        values = self.values(entry[1])
        n = self.count(entry[1])
        at = (
            {int(k): v for k, v in values["at"].items()}
            if isinstance(values, dict)
            else dict(enumerate(values))
        )
        return entry[2] == 1.0 and all(
            abs(v * factor / base ** (-k / n) - 1) < 1e-4 for k, v in at.items()
        )

    def rule(self, name, record):
        config, answers, layers = (
            record["config"],
            record.get("answers", {}),
            record.get("layers", {}),
        )
        types = self.types_of(config) or []
        pattern = self.pattern(types)
        if name == "gemma4_text":
            return "global_head", pattern
        kinds = lambda label: {a[0]: a[1:] for a in answers.get(label, []) if isinstance(a, list)}  # noqa: E731
        old, local, named = kinds("old_base"), kinds("old_local_base"), kinds("old_global_local")
        if len(old) == 2 and "sliding_attention" in old and "full_attention" in old:
            plain = kinds("no_parameters")
            if local.get("sliding_attention") != old["sliding_attention"]:
                return "local_base", pattern
            if named != plain:
                return "global_local", 3
            if old["full_attention"] != plain.get("full_attention") and old[
                "sliding_attention"
            ] == plain.get("sliding_attention"):
                return "local_unscaled", pattern
        lists = layers.get("no_rope_layers")
        if (
            lists
            and "-" in lists
            and lists == "".join("-" if i % 3 == 1 else "0" for i in range(len(lists)))
        ):
            return "listed", 0
        saved = layers.get("saved", "")
        if layers.get("cross_attention_layers") == "".join(
            "-" if i in (1, 4) else "0" for i in range(12)
        ):
            return "cross_listed", 0
        if layers.get("attn_layer_indices") == "".join(
            "0" if i in (1, 4) else "-" for i in range(12)
        ):
            return "attention_listed", 0
        blocks = config.get("block_types")
        if (
            isinstance(blocks, list)
            and blocks
            and saved
            == "".join(
                "0" if blocks[i % len(blocks)] == "attention" else "-" for i in range(len(saved))
            )
        ):
            return "blocks", 0
        bases = config.get("layer_rope_theta")
        if (
            isinstance(bases, list)
            and len(bases) == len(saved)
            and all((c == "-") == (b == 0) for b, c in zip(bases, saved))
        ):
            return "layer_bases", 0
        if (
            "-" in saved
            and types
            and pattern
            and set(types) == {"sliding_attention", "full_attention"}
        ):
            if all(
                (c == "-") == (t == "full_attention") for c, t in zip(saved, types)
            ) and self.flat(record):
                return "sliding_only", pattern
        if "-" in saved and pattern and set(types) == {"linear_attention", "full_attention"}:
            if all((c == "-") == (t == "linear_attention") for c, t in zip(saved, types)):
                return "linear_between", pattern
        return "alike", 0

    def types_of(self, config):
        """The list of layer types, under either name."""
        return next(
            (
                config[k]
                for k in ("layer_types", "layers_block_type")
                if isinstance(config.get(k), list)
            ),
            None,
        )

    def rule_alone(self, record):
        return self.rule(record["config"]["model_type"], record)[0]

    def flat(self, record):
        answer = record.get("answers", {}).get("saved")
        return isinstance(answer, list) and len(answer) == 1 and answer[0][0] == ""

    def pattern(self, types):
        """Every n-th layer differs from all before it."""
        for n in range(2, 9):
            if (
                len(types) > n
                and types[n - 1] == "full_attention"
                and all(
                    (i + 1) % n == 0 and t == types[n - 1] or (i + 1) % n != 0 and t == types[0]
                    for i, t in enumerate(types)
                )
            ):
                return n if types[0] != types[n - 1] else 0
        return 0

    def layer_types(self, record):
        """Types all of whose layers rotate in every recorded run, and those none of whose do."""
        seen = {}
        config = record["config"]
        for label, text in record.get("layers", {}).items():
            patch = record.get("patches", {}).get(label, {})
            types = patch.get("layer_types", self.types_of(config))
            if (
                not isinstance(types, list)
                or text.startswith("error")
                or len(text) != len(types)
                or label.startswith("nested_one")
            ):
                continue
            if any(k not in ("layer_types",) for k in patch) and not label.startswith("nested"):
                continue
            for kind, c in zip(types, text):
                seen.setdefault(kind, set()).add(c != "-")
        if self.rule_alone(record) in ("cross_listed", "attention_listed", "blocks", "layer_bases"):
            return [], []
        return sorted(k for k, v in seen.items() if v == {True}), sorted(
            k for k, v in seen.items() if v == {False}
        )

    def doubt(self, record, order, layers):
        if record.get("turns"):
            return "its pairs turn the other way"
        if order == "other":
            return "its position sections follow no rule of this library"
        if "config" not in record or "answers" not in record:
            return ""
        if record["window"][0] and not isinstance(record["config"].get(LATENT), int):
            return f"its window begins at element {record['window'][0]} of a small head"
        if any(
            c in "!?" for c in layers.get("saved", "") if not layers["saved"].startswith("error")
        ):
            return "some of its layers turn at rates that its rotary modules do not have"
        saved, answer = layers.get("saved", ""), record["answers"].get("saved")
        types = self.types_of(record["config"])
        if saved.startswith("error"):
            return "it cannot be run as saved"
        turning, resting = self.layer_types(record)
        rule, _ = self.rule(record["config"]["model_type"], record)
        if (
            "-" in saved
            and rule not in ("listed", "cross_listed", "attention_listed", "blocks", "layer_bases")
            and not (isinstance(types, list) and set(types) <= set(turning) | set(resting))
        ):
            return "which of its layers rotate follows no key that is read"
        if isinstance(answer, list) and len(answer) > 1 and isinstance(types, list):
            if any(
                c != "-"
                and answer[int(c, 16)][0] not in (t, "")
                and answer[int(c, 16)][1:] != next((a[1:] for a in answer if a[0] == t), None)
                for c, t in zip(saved, types)
            ):
                return "its layers are not turned by their layer types"
        return ""


def text(value):
    return json.dumps(value)


def write(recorded, path):
    rows = Rows(recorded)
    lines, silent = [], []
    for name, record in sorted(recorded["types"].items()):
        if record.get("rotates"):
            f = rows.row(name, record)
            sections = ", ".join(str(v) for v in f["sections"])
            lines.append(
                f"    {{{text(name)}, PairKind::{PAIRINGS[record['pairing']]}, {number(f['base'])}, {f['hidden']}, {f['heads']}, {f['head_dims']}, {f['context']}, "
                f"{number(f['partial'])}, Share::{f['share']}, LayerRule::{f['rule']}, {f['pattern']}, Forms::{f['forms']}, {str(f['nested']).lower()}, "
                f"{str(f['latent']).lower()}, SoftmaxRule::{f['softmax']}, MropeOrder::{f['mrope']}, AlphaRule::{f['alpha']}, {{{sections}}}, {text(f['rotated'])}, "
                f"{text(f['resting'])}, FusedQkv::{f['fused']}, {text(f['doubt'])}}},"
            )
        elif "text" in record:
            silent.append(
                f"    {{{text(name)}, Silent::composite, {text(record['text'][1])}, {text(record['text'][0])}}},"
            )
        elif record.get("rotates") is False:
            silent.append(f"    {{{text(name)}, Silent::not_rotated}},")
        elif record.get("input") and "rotates" not in record:
            silent.append(f"    {{{text(name)}, Silent::tower}},")
    head = f"""// SPDX-License-Identifier: Apache-2.0
//
// The rows of families.hpp, written by scripts/record_models/hugging_face_table.py from what transformers {recorded['transformers']} answered.
// A row holds names and numbers only; what the columns mean stands in families.hpp.

#include "models/families.hpp"

namespace eigen_rope::EIGEN_ROPE_ABI::models {{

// clang-format off
inline constexpr Family families[] = {{
"""
    body = (
        head
        + "\n".join(lines)
        + "\n};\n\ninline constexpr SilentFamily silent_families[] = {\n"
        + "\n".join(silent)
    )
    with open(path, "w", encoding="utf-8") as file:
        file.write(body + "\n};\n// clang-format on\n\n}  // namespace eigen_rope::EIGEN_ROPE_ABI::models\n")
    print(len(lines), "families,", len(silent), "others")


write(json.load(open(sys.argv[1], encoding="utf-8")), sys.argv[2])
