# SPDX-License-Identifier: Apache-2.0
"""What a single rounding changes in bfloat16.

transformers rounds c x_a, s x_b and their difference, each to 8 bits. This library rounds the
result once. So its results are nearer to the exact ones, and a greedy choice between two tokens
that are almost alike can fall the other way.
"""

import torch
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

import eigen_rope_torch as er


def errors() -> tuple[float, float]:
    """The mean error of rotated bfloat16: transformers' formula, and this library."""
    torch.manual_seed(0)
    q = torch.randn(1, 8, 512, 128).bfloat16()
    rates = 10000.0 ** (-torch.arange(64, dtype=torch.float64) / 64)
    cos, sin = er.table(rates, torch.arange(512)[None])
    exact = er.rotate(q.double(), *(t.double()[:, None] for t in (cos, sin)))
    wide = [torch.cat((t, t), -1).bfloat16() for t in (cos, sin)]
    theirs, _ = apply_rotary_pos_emb(q, q, *wide)
    ours = er.rotate(q, cos[:, None], sin[:, None])
    return tuple((y.double() - exact).abs().mean().item() for y in (theirs, ours))


def generations(prompts: int) -> int:
    """How many of so many prompts a small model in bfloat16 continues with another token."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=1000,
        hidden_size=256,
        intermediate_size=512,
        num_hidden_layers=4,
        num_attention_heads=8,
        num_key_value_heads=4,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    model = LlamaForCausalLM(config).bfloat16().eval()
    ids = torch.randint(3, 1000, (prompts, 16))

    def greedy() -> torch.Tensor:
        return model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=24, do_sample=False
        )

    before = greedy()
    with er.patch_transformers(model, "exact"):
        after = greedy()
    return int((before[:, 16:40] != after[:, 16:40]).any(-1).sum())


if __name__ == "__main__":
    theirs, ours = errors()
    print(f"mean error of a rotated element: transformers {theirs:.1e}, this library {ours:.1e}")
    print(f"of 16 prompts, {generations(16)} are continued with other tokens")
