# SPDX-License-Identifier: Apache-2.0
"""The tiny models that are given to llama.cpp: keys of each architecture, and the variants of them.

A model begins with START. Where llama.cpp refuses it for a key that is missing, the key is added
from VALUES; so a model has no key that nobody asks for. OWN has what must be known before: sizes
that fit together, and keys whose absence ends the process.
"""

LAYERS = 12
HEAD = 32


def every_other(first, second):
    """A value for each layer, in turn; a function of the number of layers."""
    return lambda layers: [first if i % 2 == 0 else second for i in range(layers)]


START = {
    "context_length": 256,
    "embedding_length": 4 * HEAD,
    "block_count": LAYERS,
    "feed_forward_length": 192,
    "attention.head_count": 4,
    "rope.dimension_count": HEAD,
    "rope.freq_base": 30000.0,
}

EXPERTS = {
    "expert_count": 4,
    "expert_used_count": 2,
    "expert_shared_count": 1,
    "expert_feed_forward_length": 96,
    "expert_shared_feed_forward_length": 48,
    "expert_gating_func": 2,
}

VALUES = {
    **EXPERTS,
    "vocab_size": 128,
    "features_length": 128,
    "leading_dense_block_count": 1,
    "use_parallel_residual": False,
    "logit_scale": 1.0,
    "residual_scale": 1.0,
    "time_mix_extra_dim": 32,
    "time_decay_extra_dim": 32,
    "token_shift_count": 2,
    "wkv.head_size": HEAD,
    "embedding_length_per_layer_input": HEAD,
    "attention.head_count_kv": 4,
    "attention.clamp_kqv": 1.0,
    "attention.layer_norm_epsilon": 1e-5,
    "attention.layer_norm_rms_epsilon": 1e-5,
    "attention.group_norm_epsilon": 1e-5,
    "attention.group_norm_groups": 8,
    "attention.q_lora_rank": 64,
    "attention.kv_lora_rank": 32,
    "attention.decay_lora_rank": 16,
    "attention.iclr_lora_rank": 16,
    "attention.value_residual_mix_lora_rank": 16,
    "attention.gate_lora_rank": 16,
    "attention.relative_buckets_count": 8,
    "attention.sliding_window": 64,
    "attention.sliding_window_pattern": every_other(True, False),
    "attention.key_length_swa": HEAD,
    "attention.value_length_swa": HEAD,
    "attention.shared_kv_layers": 0,
    "attention.key_length_mla_swa": 48,
    "attention.value_length_mla_swa": HEAD,
    "attention.kv_lora_rank_swa": 32,
    "attention.indexer.head_count": 4,
    "attention.indexer.key_length": 64,
    "attention.indexer.top_k": 16,
    "attention.indexer.types": every_other(1, 0),
    "attention.indexer.block_size": 4,
    "attention.indexer.local_blocks": 1,
    "attention.indexer.kpool": 4,
    "attention.indexer.kpool_select_tail": True,
    "attention.output_group_count": 4,
    "attention.output_lora_rank": 32,
    "attention.compress_rope_freq_base": 160000.0,
    "rope.dimension_sections": [4, 4, 4, 4],
    "rope.freq_base_swa": 20000.0,
    "hyper_connection.count": 4,
    "hyper_connection.sinkhorn_iterations": 2,
    "hyper_connection.epsilon": 1e-6,
    "hyper_connection.magnitude": 2.0,
    "hyper_connection.low_rank": 8,
    "hash_layer_count": 0,
    "swiglu_clamp_exp": 7.0,
    "swiglu_clamp_shexp": 7.0,
    "expert_weights_scale": 1.0,
    "expert_weights_norm": True,
    "expert_latent_length": 64,
    "expert_group_scale": 1.0,
    "experts_per_group": 1,
    "interleave_moe_layer_step": 2,
    "moe_every_n_layers": 2,
    "moe_latent_size": 64,
    "hrm.layers_per_stack": 2,
    "hrm.h_cycles": 2,
    "hrm.l_cycles": 2,
    "posnet.embedding_length": 128,
    "posnet.block_count": 6,
    "convnext.embedding_length": 128,
    "convnext.block_count": 6,
    "ssm.inner_size": 256,
    "ssm.conv_kernel": 4,
    "ssm.state_size": 64,
    "ssm.time_step_rank": 4,
    "ssm.group_count": 2,
    "kda.head_dim": HEAD,
    "kda.safe_gate": True,
    "kda.gate_lower_bound": -5.0,
    "shortconv.l_cache": 3,
    "attn_res.block_size": 6,
    "activation.situ_beta": 4.0,
    "activation.situ_linear_beta": 25.0,
    "adapters.count": 1,
    "adapters.lora_rank": 4,
    "adapters.token_ids_activate": [1],
    "adapters.token_ids_substitute": [2],
}

# Keys without the architecture's name, for every model.
PLAIN = {
    "tokenizer.ggml.token_type_count": 2,
    "xielu.alpha_n": 1.0,
    "xielu.alpha_p": 1.0,
    "xielu.beta": 1.0,
    "xielu.eps": 1e-7,
}

# Heads of 24 elements at rest and 16 that rotate; in the cache, 32 latent ones and the 16.
LATENT = {
    "rope.dimension_count": 16,
    "attention.key_length": 48,
    "attention.value_length": 32,
    "attention.key_length_mla": 40,
    "attention.value_length_mla": 32,
    "attention.head_count_kv": 1,
}
# Layers without keys are recurrent.
HYBRID = {"attention.head_count_kv": every_other(0, 4)}
LATENT_HYBRID = {**LATENT, "attention.head_count_kv": every_other(0, 1)}
# The same as one row: the 16 that rotate are its last.
WHOLE_ROWS = {"rope.dimension_count": 16, "attention.key_length": 48, "attention.value_length": 32}

OWN = {
    "afmoe": {"attention.sliding_window": 64},
    "bailingmoe3": LATENT_HYBRID,
    "cohere2moe": {"attention.layer_norm_epsilon": 1e-5},
    "deepseek2": LATENT,
    "deepseek2-ocr": {"rope.freq_base": 10000.0},
    "deepseek32": LATENT,
    "deepseek4": {
        "expert_gating_func": 4,
        "rope.dimension_count": 16,
        "attention.head_count_kv": 1,
        "attention.key_length": HEAD,
        "attention.compress_ratios": lambda layers: [(0, 0, 4, 128)[i % 4] for i in range(layers)],
    },
    "dflash": {"target_layers": [0, 1, 2]},
    "dots3note": {
        **LATENT,
        "attention.key_length_swa": 48,
        "attention.value_length_swa": 32,
        "attention.indexer.types": every_other(0, 1),
    },
    "eagle3": {
        "target_layers": [0, 1, 2],
        "target_hidden_size": 128,
        "vocab_size": 128,
        "block_count": 1,
    },
    "gemma4-assistant": {
        "embedding_length_out": 64,
        "nextn_predict_layers": 6,
        "attention.key_length_swa": HEAD,
        "attention.value_length_swa": HEAD,
    },
    "glm-dsa": LATENT,
    "glm5-next": {**LATENT_HYBRID, "rope.dimension_count": 0, "attention.key_length": 32},
    "granitehybrid": HYBRID,
    "hrm_text": {},
    "hy_v4": LATENT,
    "jamba": HYBRID,
    "kimi-k3": LATENT_HYBRID,
    "kimi-linear": LATENT_HYBRID,
    "lfm2": HYBRID,
    "lfm2moe": HYBRID,
    "minicpm3": WHOLE_ROWS,
    "mistral4": LATENT,
    "nemotron_h": {**HYBRID, "feed_forward_length": lambda layers: [0] * layers},
    "nemotron_h_moe": {
        **HYBRID,
        "feed_forward_length": lambda layers: [0] * (layers - 2) + [96, 96],
    },
    "paddleocr": {"rope.dimension_sections": [4, 4, 4, 4]},
    "plamo2": {**HYBRID, "ssm.group_count": 0},
    "plm": WHOLE_ROWS,
    "qwen4exp": {
        "ple.layers": [0],
        "ple.ngram_size": 3,
        "ple.heads_per_ngram": 2,
        "ple.conv_kernel": 4,
        "ple.eos_token_id": 0,
        "ple.layer_multipliers": {"uint64": [1, 3, 5]},
        "ple.head_offsets": {"uint64": [0, 128, 256, 384]},
        "ple.head_vocab_sizes": {"uint64": [128, 128, 128, 128]},
        "embedding_length_per_layer_input": HEAD,
        "attention.compress_ratios": lambda layers: [4] * layers,
    },
    "rwkv7": {
        "attention.decay_lora_rank": 16,
        "attention.iclr_lora_rank": 16,
        "attention.value_residual_mix_lora_rank": 16,
        "attention.gate_lora_rank": 16,
    },
}

# Vocabularies that the graph fixes, and how many layers a model must have.
TOKENS = {"chameleon": 10240, "qwen3tts": 3072}
# Drafts: decoded beside a model that they assist, and the width of what it hands over with a token.
ASSIST = {"eagle3": ("llama", 128), "dflash": ("llama", 0), "gemma4-assistant": ("gemma4", 64)}
ASSISTED = {
    "llama": {},
    "gemma4": {
        "embedding_length": 64,
        "attention.key_length": HEAD,
        "attention.value_length": HEAD,
        "attention.key_length_swa": HEAD,
        "attention.value_length_swa": HEAD,
    },
}

YARN = {
    "rope.scaling.type": "yarn",
    "rope.scaling.factor": 4.0,
    "rope.scaling.original_context_length": 64,
}
LINEAR = {"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}
LONGROPE = {"rope.scaling.type": "longrope", "rope.scaling.attn_factor": 1.5}
WINDOW = {"attention.sliding_window": 64}
NARROW = {"attention.key_length_swa": 16, "attention.value_length_swa": 16}
FLAGS = {"attention.sliding_window_pattern": lambda layers: [i % 3 != 1 for i in range(layers)]}


def partial(keys):
    """Half of the dims; a latent cache is the narrower by as much."""
    half = max(keys["rope.dimension_count"] // 2, 0)
    changed = {"rope.dimension_count": half}
    if "attention.key_length_mla" in keys:
        changed["attention.key_length"] = 32 + half
        if "attention.key_length_swa" in keys:
            changed["attention.key_length_swa"] = 32 + half
    return changed


def wide(keys):
    """Rows of another width than the embedding's over the heads."""
    if "attention.key_length" in keys:
        return None
    return {"attention.key_length": 64, "attention.value_length": 64, "rope.dimension_count": 64}


def whole_rows(keys):
    """Latent attention as older files have it, without the width of a head before the cache."""
    if "attention.key_length_mla" not in keys or isinstance(keys["attention.head_count_kv"], list):
        return None
    return {
        "attention.key_length_mla": None,
        "attention.value_length_mla": None,
        "attention.head_count_kv": 4,
    }


# What is changed in each variant, None for a key that is taken away; or a function of the keys,
# None where it does not apply.
VARIANTS = {
    "base": {},
    "missing": {"rope.freq_base": None, "rope.dimension_count": None},
    "partial": partial,
    "wide": wide,
    "whole_rows": whole_rows,
    "none": {"rope.scaling.type": "none", "rope.scaling.factor": 4.0},
    "linear": LINEAR,
    "linear_older": {"rope.scale_linear": 4.0},
    "linear_untyped": {"rope.scaling.factor": 4.0},
    "attn_factor": {"rope.scaling.attn_factor": 1.5},
    "yarn": YARN,
    "yarn_betas": {**YARN, "rope.scaling.yarn_beta_fast": 16.0, "rope.scaling.yarn_beta_slow": 2.0},
    "yarn_ext_factor": {**YARN, "rope.scaling.yarn_ext_factor": 0.5},
    "yarn_attn_factor": {**YARN, "rope.scaling.yarn_attn_factor": 1.25},
    "yarn_log": {**YARN, "rope.scaling.yarn_log_multiplier": 0.07},
    "yarn_log_scaled": {
        **YARN,
        "rope.scaling.yarn_log_multiplier": 0.07,
        "rope.scaling.attn_factor": 1.5,
    },
    "yarn_scaled": {**YARN, "rope.scaling.attn_factor": 1.5},
    "linear_ext_factor": {
        **LINEAR,
        "rope.scaling.yarn_ext_factor": 0.5,
        "rope.scaling.original_context_length": 64,
    },
    "linear_log": {**LINEAR, "rope.scaling.yarn_log_multiplier": 0.07},
    "linear_scaled": {**LINEAR, "rope.scaling.attn_factor": 1.5},
    "yarn_no_context": {**YARN, "rope.scaling.original_context_length": None},
    "linear_attn_factor": {**LINEAR, "rope.scaling.yarn_attn_factor": 1.25},
    "longrope_long": {**LONGROPE, "rope.scaling.original_context_length": 64},
    "longrope_short": {**LONGROPE, "rope.scaling.original_context_length": 512},
    "window": WINDOW,
    "window_0": {"attention.sliding_window": 0},
    "window_period": {**WINDOW, "attention.sliding_window_pattern": 3},
    "window_flags": {**WINDOW, **FLAGS},
    "flags": FLAGS,
    "window_linear": {**WINDOW, **LINEAR},
    "window_yarn": {**WINDOW, **YARN},
    "window_base": {**WINDOW, "rope.freq_base_swa": 50000.0},
    "window_flags_base": {**WINDOW, **FLAGS, "rope.freq_base_swa": 50000.0},
    "window_flags_yarn": {**WINDOW, **FLAGS, **YARN},
    "window_yarn_log": {**WINDOW, **YARN, "rope.scaling.yarn_log_multiplier": 0.07},
    "window_attn_factor": {**WINDOW, "rope.scaling.attn_factor": 1.5},
    "window_flags_attn_factor": {**WINDOW, **FLAGS, "rope.scaling.attn_factor": 1.5},
    "window_flags_rows": {**WINDOW, **FLAGS, **NARROW, "rope.dimension_count_swa": 8},
    "swa_base": {"rope.freq_base_swa": 50000.0},
    "window_dims": {**WINDOW, "rope.dimension_count_swa": 8},
    "swa_dims": {"rope.dimension_count_swa": 8},
    "window_flags_dims": {**WINDOW, **FLAGS, "rope.dimension_count_swa": 8},
    "finetuned": {"rope.scaling.finetuned": True},
    "not_finetuned": {"rope.scaling.finetuned": False},
    "interval": {"full_attention_interval": 3},
    "recurrent": {"attention.recurrent_layers": lambda layers: [i % 3 == 0 for i in range(layers)]},
    "nextn": {"nextn_predict_layers": 1},
    "window_nextn": {**WINDOW, "nextn_predict_layers": 1},
    "sections": {"rope.dimension_sections": [4, 2, 2, 0]},
    "sections_first": {"rope.dimension_sections": [8, 0, 0, 0]},
    "no_sections": {"rope.dimension_sections": None},
    "alpha": {"rope.scaling.alpha": 1000.0},
    "rope_pattern": {
        "attention.rope_pattern": lambda layers: [1 if i % 4 else 0 for i in range(layers)]
    },
    "rope_pattern_flags": {
        "attention.rope_pattern": lambda layers: [i % 4 != 0 for i in range(layers)]
    },
    "compress_base": {"attention.compress_rope_freq_base": 70000.0},
    "leading": {"leading_dense_block_count": 3},
    "window_leading": {**WINDOW, "leading_dense_block_count": 3},
    "key_heads": {
        "attention.head_count_kv": lambda layers: [0 if i % 3 == 0 else 4 for i in range(layers)]
    },
}

# Depths of published models: the base of each is built with all of them, and those that rotate
# otherwise are kept.
DEPTHS = (16, 24, 26, 28, 30, 32, 36, 40, 42, 48, 60, 61, 62, 64, 80)
