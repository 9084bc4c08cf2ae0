"""Tiny random networks of every supported architecture, with weights so large that a wrong mask changes the scores.

`causal_model` and `masked_model` make models of them.
"""

from collections.abc import Callable
from typing import Any

import torch
import transformers as hf

from probing.scoring.causal import CausalModel
from probing.scoring.masked import MaskedModel
from tests.tiny_models import byte_level_bpe, word_piece

Build = Callable[[int], hf.PreTrainedModel]

SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 128,
    "initializer_range": 0.4,
    "bos_token_id": 0,
    "eos_token_id": 0,
}
GROUPED = SIZES | {"num_key_value_heads": 2}
PADDED = SIZES | {"pad_token_id": 0}
GPT = {
    "initializer_range": 0.4,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "n_positions": 128,
}
FALCON = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "initializer_range": 0.4,
    "bos_token_id": 0,
    "eos_token_id": 0,
}
RECURRENT = {"hidden_size": 32, "num_hidden_layers": 2, "initializer_range": 0.4, "bos_token_id": 0, "eos_token_id": 0}


def of(kind: type[hf.PreTrainedModel], **settings: Any) -> Build:
    """Return a function from the size of the vocabulary to a network of the class, with the same weights every time."""

    def build(vocabulary: int) -> hf.PreTrainedModel:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return kind(kind.config_class(vocab_size=vocabulary, **settings)).eval()

    return build


# Networks that are scored with shared prefixes.
SHARING: dict[str, Build] = {
    "llama": of(hf.LlamaForCausalLM, **GROUPED),
    "gpt2": of(hf.GPT2LMHeadModel, **GPT),
    "gpt-neox": of(hf.GPTNeoXForCausalLM, **SIZES),
    "gpt-j": of(hf.GPTJForCausalLM, **GPT | {"n_positions": 2048}, rotary_dim=4),
    "opt": of(
        hf.OPTForCausalLM,
        **{name: value for name, value in PADDED.items() if name != "intermediate_size"},
        ffn_dim=64,
        init_std=0.4,
        word_embed_proj_dim=32,
    ),
    "qwen2": of(hf.Qwen2ForCausalLM, **GROUPED),
    "qwen3": of(hf.Qwen3ForCausalLM, **GROUPED, head_dim=8),
    "mistral, window wider than the statements": of(hf.MistralForCausalLM, **GROUPED, sliding_window=64),
    "gemma": of(hf.GemmaForCausalLM, **GROUPED | {"pad_token_id": 0}, head_dim=8),
    "gemma2, soft-capped": of(
        hf.Gemma2ForCausalLM,
        **GROUPED | {"pad_token_id": 0},
        head_dim=8,
        sliding_window=64,
        attn_logit_softcapping=2.0,
        final_logit_softcapping=5.0,
    ),
    "gemma3": of(
        hf.Gemma3ForCausalLM,
        **GROUPED | {"pad_token_id": 0},
        head_dim=8,
        sliding_window=64,
        layer_types=["sliding_attention", "full_attention"],
    ),
    "phi3": of(hf.Phi3ForCausalLM, **GROUPED | {"pad_token_id": 0}, sliding_window=64),
    "falcon, multi-query": of(hf.FalconForCausalLM, **FALCON, alibi=False, multi_query=True),
}

# Networks that ignore a tree mask: the self-check detects them, and they are scored by continuing their caches.
REFERENCE_CAUSAL: dict[str, Build] = {
    "mistral, window narrower than the statements": of(hf.MistralForCausalLM, **GROUPED, sliding_window=5),
    "gemma2, window narrower than the statements": of(
        hf.Gemma2ForCausalLM, **GROUPED | {"pad_token_id": 0}, head_dim=8, sliding_window=5
    ),
    "falcon, alibi": of(hf.FalconForCausalLM, **FALCON, alibi=True, multi_query=False),
    "bloom": of(
        hf.BloomForCausalLM,
        hidden_size=32,
        n_layer=2,
        n_head=4,
        initializer_range=0.4,
        bos_token_id=0,
        eos_token_id=0,
        pad_token_id=0,
    ),
    "gpt-neo, a window by place in the row": of(
        hf.GPTNeoForCausalLM,
        hidden_size=32,
        num_layers=2,
        num_heads=4,
        attention_types=[[["global", "local"], 1]],
        window_size=256,
        max_position_embeddings=1024,
        intermediate_size=64,
        initializer_range=0.4,
        bos_token_id=0,
        eos_token_id=0,
    ),
    "mpt, alibi": of(hf.MptForCausalLM, d_model=32, n_layers=2, n_heads=4, max_seq_len=128, initializer_range=0.4),
    "mamba, recurrent": of(hf.MambaForCausalLM, **RECURRENT, pad_token_id=0),
}

# Networks that are scored with padding, and with the head at few positions.
HEAD_APART: dict[str, Build] = {
    "bert": of(hf.BertForMaskedLM, **PADDED),
    "roberta": of(hf.RobertaForMaskedLM, **PADDED | {"pad_token_id": 1}),
    "xlm-r": of(hf.XLMRobertaForMaskedLM, **PADDED | {"pad_token_id": 1}),
    "distilbert": of(
        hf.DistilBertForMaskedLM,
        dim=32,
        hidden_dim=64,
        n_layers=2,
        n_heads=4,
        max_position_embeddings=128,
        initializer_range=0.4,
    ),
    "albert": of(hf.AlbertForMaskedLM, **PADDED, embedding_size=16),
    "deberta": of(
        hf.DebertaForMaskedLM,
        **PADDED,
        relative_attention=True,
        pos_att_type=["c2p", "p2c"],
        position_biased_input=False,
    ),
    "deberta-v2": of(
        hf.DebertaV2ForMaskedLM,
        **PADDED,
        relative_attention=True,
        pos_att_type=["c2p", "p2c"],
        position_biased_input=False,
        position_buckets=16,
        share_att_key=True,
        norm_rel_ebd="layer_norm",
    ),
    "electra generator": of(hf.ElectraForMaskedLM, **PADDED, embedding_size=16),
    "modernbert": of(
        hf.ModernBertForMaskedLM,
        **PADDED,
        local_attention=8,
        global_attn_every_n_layers=2,
        cls_token_id=2,
        sep_token_id=3,
        initializer_cutoff_factor=10.0,
    ),
}

# Networks whose outputs depend on padding: they are scored with the reference implementation.
REFERENCE_MASKED: dict[str, Build] = {
    "fnet": of(hf.FNetForMaskedLM, **{name: value for name, value in PADDED.items() if name != "num_attention_heads"}),
    "funnel": of(
        hf.FunnelForMaskedLM, block_sizes=[1, 1], d_model=32, n_head=4, d_head=8, d_inner=64, initializer_std=0.4
    ),
}


def causal_model(
    build: Build,
    dtype: torch.dtype = torch.float32,
    *,
    tokenizer: hf.PreTrainedTokenizerFast | None = None,
    **options: Any,
) -> CausalModel:
    """Return a model of the network, by default with a tokenizer of bytes that adds a start token."""
    tokenizer = byte_level_bpe(start="<s>") if tokenizer is None else tokenizer
    return CausalModel(build(len(tokenizer)).to(dtype), tokenizer, **options)


def masked_model(
    build: Build,
    dtype: torch.dtype = torch.float32,
    *,
    tokenizer: hf.PreTrainedTokenizerFast | None = None,
    **options: Any,
) -> MaskedModel:
    """Return a model of the network, by default with a tokenizer of pieces of words."""
    tokenizer = word_piece() if tokenizer is None else tokenizer
    return MaskedModel(build(len(tokenizer)).to(dtype), tokenizer, **options)
