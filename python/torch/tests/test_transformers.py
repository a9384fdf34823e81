# SPDX-License-Identifier: Apache-2.0
"""Models of transformers before and after patching: logits, gradients, generation, and refusals."""

import copy

import mpmath
import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import eigen_rope_torch as er
import families


class Rotations(TorchDispatchMode):
    """Counts the calls of our operator."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += func is torch.ops.eigen_rope.rotate.default
        return func(*args, **(kwargs or {}))


def logits_and_gradients(model, ids):
    model.zero_grad()
    logits = model(ids).logits
    logits.square().mean().backward()
    return [logits.detach(), *(p.grad.clone() for p in model.parameters() if p.grad is not None)]


@pytest.mark.parametrize(("family", "attention"), families.CASES)
def test_parity_of_logits_and_all_gradients(family, attention):
    model, ids = families.model(family, attention), families.tokens()
    before = logits_and_gradients(model, ids)
    with er.patch_transformers(model, "parity") as patch:
        assert patch.modules == 2  # one for each layer
        with Rotations() as rotations:
            after = logits_and_gradients(model, ids)
        # q and k of two layers, forward and backward.
        assert rotations.count == 8
    undone = logits_and_gradients(model, ids)
    for ours, theirs, again in zip(after, before, undone, strict=True):
        assert (ours - theirs).abs().max() <= 1e-6
        assert torch.equal(theirs, again)


@pytest.mark.parametrize(("family", "attention"), families.CASES)
def test_generation_with_a_cache(family, attention):
    model, ids = families.model(family, attention), families.tokens(count=5)

    def generate(**options):
        return model.generate(
            ids,
            max_new_tokens=12,
            do_sample=False,
            output_scores=True,
            return_dict_in_generate=True,
            **options,
        )

    before = generate()
    with er.patch_transformers(model, "parity"):
        with Rotations() as rotations:
            after = generate()
        assert rotations.count >= 12 * 4
    assert torch.equal(before.sequences, after.sequences)
    for ours, theirs in zip(after.scores, before.scores, strict=True):
        assert (ours - theirs).abs().max() <= 1e-6


@pytest.mark.parametrize("family", families.REFUSED)
def test_what_is_not_known_is_refused_by_name(family):
    model = families.model(family)
    before = {name: dict(vars(module)) for name, module in model.named_modules()}
    with pytest.raises(
        ValueError,
        match=r"\[rope\] model must rotate in a way that is known, got "
        r"apply_\w+ of transformers.models.\w+",
    ):
        er.patch_transformers(model)
    for name, module in model.named_modules():
        assert vars(module).keys() == before[name].keys()


def test_a_model_that_does_not_rotate_is_refused():
    with pytest.raises(ValueError, match=r"must have modules that rotate .*got Linear"):
        er.patch_transformers(torch.nn.Linear(2, 2))
    with pytest.raises(ValueError, match="tables must be parity or exact, got nearly"):
        er.patch_transformers(families.model("llama"), "nearly")


def test_a_second_patch_is_refused_and_undo_may_be_repeated():
    model = families.model("llama")
    patch = er.patch_transformers(model)
    with pytest.raises(ValueError, match="must not be patched already"):
        er.patch_transformers(model)
    patch.undo()
    patch.undo()
    with er.patch_transformers(model):
        pass
    assert "forward" not in vars(model.model.layers[0].self_attn)


def test_other_models_of_the_class_keep_their_methods():
    one, other = families.model("llama"), families.model("llama")
    with er.patch_transformers(one), Rotations() as rotations:
        other(families.tokens())
        assert rotations.count == 0


def test_a_copy_of_a_patched_model_rotates_its_own_weights():
    model = families.model("llama")
    with er.patch_transformers(model):
        twin = copy.deepcopy(model)
        with torch.no_grad():
            for weight in twin.parameters():
                weight.zero_()
        assert twin(families.tokens()).logits.abs().max() == 0


def test_checkpointed_training():
    model, ids = families.model("llama"), families.tokens()
    model.train()
    before = logits_and_gradients(model, ids)
    model.gradient_checkpointing_enable()
    with er.patch_transformers(model):
        after = logits_and_gradients(model, ids)
    for ours, theirs in zip(after, before, strict=True):
        assert (ours - theirs).abs().max() <= 1e-6


def test_compile_of_a_patched_model():
    model, ids = families.model("llama"), families.tokens()
    expected = model(ids).logits
    rotations = []

    def backend(graph, _):
        rotations.extend(n for n in graph.graph.nodes if n.target is torch.ops.eigen_rope.rotate)
        rotations.extend(
            n for n in graph.graph.nodes if n.target is torch.ops.eigen_rope.rotate.default
        )
        return graph.forward

    with er.patch_transformers(model), torch.no_grad():
        compiled = torch.compile(
            lambda ids: model(ids, use_cache=False).logits, fullgraph=True, backend=backend
        )
        ours = compiled(ids)
    assert len(rotations) == 4
    assert (ours - expected).abs().max() <= 1e-6


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_16_bits_stay_near_float(dtype):
    ids = families.tokens()
    exact = families.model("llama")(ids).logits
    model = families.model("llama", dtype=dtype)
    theirs = (model(ids).logits - exact).abs().mean()
    with er.patch_transformers(model):
        ours = (model(ids).logits - exact).abs().mean()
    assert ours <= 1.1 * theirs


@pytest.mark.parametrize(
    "family",
    [
        "llama",
        "mistral",
        "gemma3_text",
        "glm",
        "gpt_oss",
        "deepseek_v3",
        "gpt_neox",
        "cohere",
        "phi3",
    ],
)
def test_exact_tables_are_near_the_models_own(family):
    model, ids = families.model(family), families.tokens()
    before = logits_and_gradients(model, ids)
    with er.patch_transformers(model, "exact"):
        after = logits_and_gradients(model, ids)
    # The cosines of positions below 17 differ by a few units in the last place of float.
    for ours, theirs in zip(after, before, strict=True):
        assert (ours - theirs).abs().max() <= 1e-4 * max(1.0, theirs.abs().max().item())


SCALINGS = {
    "default": {"rope_type": "default", "rope_theta": 500000.0},
    "linear": {"rope_type": "linear", "factor": 4.0, "rope_theta": 10000.0},
    "llama3": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "rope_theta": 5e5,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
    "yarn": {
        "rope_type": "yarn",
        "factor": 4.0,
        "rope_theta": 10000.0,
        "original_max_position_embeddings": 64,
    },
}


@pytest.mark.parametrize("scaling", SCALINGS)
def test_exact_tables_are_exact_far_away(scaling):
    model = families.model("llama", rope_parameters=SCALINGS[scaling])
    rotary, probe = model.model.rotary_emb, torch.zeros(1)
    # By the rates of transformers, which are off by a few units in the last place of float, and
    # angles in double.
    positions = torch.tensor([[0, 1, 1000, 127_000]])
    rates = rotary.inv_freq.double()
    angle = positions[..., None].double() * rates
    wide = torch.cat((angle, angle), -1)
    expected = [f(wide) * rotary.attention_scaling for f in (torch.cos, torch.sin)]
    allowed = 2.0**-21 * wide.abs() + 2.0**-23
    with er.patch_transformers(model, "exact"):
        made = rotary(probe, positions)
    for ours, theirs in zip(made, expected, strict=True):
        assert ((ours.double() - theirs).abs() <= allowed).all()


def test_exact_tables_are_rounded_once():
    model = families.model("llama", rope_parameters=SCALINGS["linear"])
    positions = [3, 127_000, 1_048_575]
    with er.patch_transformers(model, "exact"):
        cos, sin = model.model.rotary_emb(torch.zeros(1), torch.tensor([positions]))
    with mpmath.workdps(40):
        for i, position in enumerate(positions):
            for k in range(8):
                angle = position * mpmath.power(10000, mpmath.mpf(-k) / 8) / 4
                assert cos[0, i, k].item() == float(np.float32(mpmath.cos(angle)))
                assert sin[0, i, k + 8].item() == float(np.float32(mpmath.sin(angle)))


def test_exact_tables_refuse_what_depends_on_the_length():
    model = families.model(
        "llama",
        rope_parameters={
            "rope_type": "dynamic",
            "factor": 2.0,
            "rope_theta": 10000.0,
            "original_max_position_embeddings": 64,
        },
    )
    with pytest.raises(ValueError, match=r"must not depend on the length .* got DynamicNtkScaling"):
        er.patch_transformers(model, "exact")
    assert "forward" not in vars(model.model.layers[0].self_attn)


def test_exact_tables_refuse_a_model_that_differs_from_its_configuration():
    model = families.model("llama")
    model.model.rotary_emb.inv_freq.mul_(1.5)
    with pytest.raises(
        ValueError, match=r"model.rotary_emb .* must be those of the model's config"
    ):
        er.patch_transformers(model, "exact")


def test_exact_tables_stay_float_in_16_bits():
    model = families.model("llama", dtype=torch.bfloat16)
    with er.patch_transformers(model, "exact"):
        cos, _ = model.model.rotary_emb(torch.zeros(1, dtype=torch.bfloat16), torch.arange(9)[None])
        assert cos.dtype is torch.float32
        assert model(families.tokens()).logits.dtype is torch.bfloat16
