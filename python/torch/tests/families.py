# SPDX-License-Identifier: Apache-2.0
"""Tiny models of transformers with random weights, one of each family, made without a network."""

import torch
from transformers import AutoConfig, AutoModelForCausalLM

_SMALL = {
    "vocab_size": 99,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_HEAD = {"head_dim": 16}
_EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
_LATENT = {
    "kv_lora_rank": 16,
    "q_lora_rank": None,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 16,
    "v_head_dim": 16,
    "n_routed_experts": 4,
    "n_group": 2,
    "topk_group": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
    "first_k_dense_replace": 1,
    "num_key_value_heads": 4,
}
_OLD = {
    "vocab_size": 99,
    "n_embd": 64,
    "n_layer": 2,
    "n_head": 4,
    "rotary_dim": 8,
    "n_positions": 64,
}

# Split halves over whole rows, partial rotation, neighbours, latent attention, experts, tables for
# each layer type, half-width tables, rotation of one tensor at a time.
KNOWN = {
    "llama": {},
    "mistral": {},
    "qwen2": {},
    "qwen3": _HEAD,
    "gemma2": _HEAD,
    "gemma3_text": _HEAD,
    "gemma4_text": _HEAD,
    "phi": {"num_key_value_heads": 4},
    "phi3": {},
    "gpt_neox": {},
    "stablelm": {},
    "olmo2": {},
    "cohere": {},
    "glm": _HEAD,
    "falcon": {},
    "granite": {},
    "deepseek_v3": _LATENT,
    "mixtral": _EXPERTS,
    "gpt_oss": _HEAD | _EXPERTS,
    "ernie4_5": {},
}
# Kinds of attention that transformers has for them: caps and sinks of logits keep SDPA out.
_EAGER_ALONE = ("gemma2", "gpt_oss")
CASES = [
    (family, attention)
    for family in KNOWN
    for attention in ("eager", "sdpa")
    if attention == "eager" or family not in _EAGER_ALONE
]
# Complex numbers, and a table whose sine comes first.
REFUSED = {"gptj": _OLD, "codegen": _OLD, "llama4_text": {}, "deepseek_v2": _LATENT}


def config(family, **changes):
    options = KNOWN.get(family, REFUSED.get(family))
    return AutoConfig.for_model(family, **({} if options is _OLD else _SMALL) | options | changes)


def model(family, attention="eager", dtype=torch.float32, **changes):
    """A model in evaluation, whose weights depend on the family alone."""
    torch.manual_seed(7)
    made = AutoModelForCausalLM.from_config(
        config(family, **changes), attn_implementation=attention
    )
    return made.to(dtype).eval()


def tokens(batch=2, count=17):
    return torch.randint(3, 99, (batch, count), generator=torch.Generator().manual_seed(5))
