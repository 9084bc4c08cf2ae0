"""Tiny random networks with recurrent or convolutional layers, alone or beside attention."""

import transformers as hf

from tests.probing.scoring.networks import GROUPED, RECURRENT, Build, of

DELTA = {"linear_num_value_heads": 4, "linear_num_key_heads": 2, "linear_key_head_dim": 8, "linear_value_head_dim": 8}
MIXED = ["linear_attention", "full_attention"]
MAMBA = {
    "mamba_d_ssm": 64, "mamba_n_heads": 8, "mamba_d_head": 8, "mamba_n_groups": 1, "mamba_d_state": 8,
    "mamba_chunk_size": 16,
}  # fmt: skip

HYBRID: dict[str, Build] = {
    "qwen3.5": of(hf.Qwen3_5ForCausalLM, **GROUPED, **DELTA, head_dim=8, layer_types=MIXED),
    "qwen3-next": of(
        hf.Qwen3NextForCausalLM,
        **GROUPED,
        **DELTA,
        head_dim=8,
        layer_types=MIXED,
        num_experts=4,
        num_experts_per_tok=2,
        moe_intermediate_size=16,
        shared_expert_intermediate_size=16,
    ),
    "falcon-h1": of(hf.FalconH1ForCausalLM, **GROUPED, **MAMBA),
    "granite 4 hybrid": of(
        hf.GraniteMoeHybridForCausalLM,
        **GROUPED,
        layer_types=["mamba", "attention"],
        mamba_n_heads=8,
        mamba_d_head=8,
        mamba_n_groups=1,
        mamba_d_state=8,
        mamba_chunk_size=16,
        num_local_experts=0,
        shared_intermediate_size=64,
    ),
    "lfm2": of(hf.Lfm2ForCausalLM, **GROUPED, layer_types=["conv", "full_attention"]),
    "mamba": of(hf.MambaForCausalLM, **RECURRENT, pad_token_id=0),
    "mamba-2": of(
        hf.Mamba2ForCausalLM, **RECURRENT, pad_token_id=0, num_heads=8, head_dim=8, state_size=8, n_groups=1,
        chunk_size=16,
    ),
    "bamba": of(
        hf.BambaForCausalLM, **GROUPED, attn_layer_indices=[1], mamba_n_heads=8, mamba_d_head=8, mamba_n_groups=1,
        mamba_d_state=8, mamba_chunk_size=16,
    ),
    "olmo hybrid": of(
        hf.OlmoHybridForCausalLM, **GROUPED | {"pad_token_id": 0}, **DELTA, layer_types=MIXED
    ),
    "nemotron-h": of(
        hf.NemotronHForCausalLM,
        **{name: value for name, value in GROUPED.items() if name != "num_hidden_layers"},
        layers_block_type=["mamba", "attention", "mlp"],
        mamba_num_heads=8,
        mamba_head_dim=8,
        n_groups=1,
        ssm_state_size=8,
        chunk_size=16,
        head_dim=8,
    ),
}  # fmt: skip
