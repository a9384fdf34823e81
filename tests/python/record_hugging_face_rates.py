# SPDX-License-Identifier: Apache-2.0
"""Records what transformers itself makes of the configurations in tests/data/models/hugging_face.

    python -m venv env && env/bin/pip install torch transformers
    env/bin/python tests/python/record_hugging_face_rates.py

For each fixture the rotary embedding of its family is built from the configuration, and its buffers
are written down: float32, at the original length (the short list of longrope, the unchanged base of
dynamic). Families transformers has no such class for are left out.
"""

import importlib
import inspect
import json
import pathlib
import sys

import torch
import transformers
from transformers import CONFIG_MAPPING

FOLDER = pathlib.Path(__file__).parent.parent / "data" / "models"


def embedding(content):
    content = dict(content)
    family = content.pop("model_type")
    scaling = content.get("rope_scaling") or {}
    if scaling.get("type") == "su":  # 5.23.0 refuses its own older name
        content["rope_scaling"] = {**scaling, "type": "longrope"}
    config = CONFIG_MAPPING[family].from_dict(content)
    config = getattr(config, "text_config", config)
    module = importlib.import_module(type(config).__module__.replace("configuration_", "modeling_"))
    classes = [
        value
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and name.endswith("RotaryEmbedding")
        and "Vision" not in name
        and "Audio" not in name
    ]
    return classes[0](config=config)


def record(content):
    made = embedding(content)
    result = {}
    for name, buffer in made.named_buffers():
        if not name.endswith("inv_freq") or name.endswith("original_inv_freq"):
            continue
        layer_type = name[: -len("inv_freq")]
        assert buffer.dtype == torch.float32
        result[layer_type.rstrip("_")] = {
            "attention_factor": float(getattr(made, layer_type + "attention_scaling")),
            "inv_freq": [float(f"{value:.9g}") for value in buffer.tolist()],
        }
    return result


def main():
    recorded = {"transformers": transformers.__version__, "fixtures": {}}
    for path in sorted((FOLDER / "hugging_face").glob("*.json")):
        try:
            recorded["fixtures"][path.stem] = record(json.loads(path.read_text()))
        except (KeyError, IndexError) as error:
            print(f"{path.stem} left out: {error}", file=sys.stderr)
    text = json.dumps(recorded, indent=0, separators=(",", ":"))
    (FOLDER / "transformers_rates.json").write_text(text.replace(",\n", ",") + "\n")


main()
