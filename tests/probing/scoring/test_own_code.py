"""Falcon and MPT, whose repositories name code of their own, are loaded by transformers; their code is left alone."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf

from probing.scoring.load import load
from tests.hub.local_hub import Hub
from tests.probing.scoring.networks import FALCON, of
from tests.tiny_models import byte_level_bpe, save

# What the repositories' config.json have beside the sizes of the network (tiiuae/falcon-7b, mosaicml/mpt-7b).
FALCON_KEYS: dict[str, Any] = {
    "architectures": ["FalconForCausalLM"],
    "auto_map": {
        "AutoConfig": "configuration_falcon.FalconConfig",
        "AutoModelForCausalLM": "modeling_falcon.FalconForCausalLM",
    },
    "apply_residual_connection_post_layernorm": False,
}
MPT_KEYS: dict[str, Any] = {
    "architectures": ["MPTForCausalLM"],
    "auto_map": {"AutoConfig": "configuration_mpt.MPTConfig", "AutoModelForCausalLM": "modeling_mpt.MPTForCausalLM"},
    "init_config": {"name": "kaiming_normal_", "verbose": 0},
    "init_device": "cpu",
    "norm_type": "low_precision_layernorm",
    "tokenizer_name": "EleutherAI/gpt-neox-20b",
}
REPOSITORIES = {
    "falcon": (of(hf.FalconForCausalLM, **FALCON, alibi=False, multi_query=True), FALCON_KEYS),
    "mpt": (of(hf.MptForCausalLM, d_model=32, n_layers=2, n_heads=4, max_seq_len=128, initializer_range=0.4), MPT_KEYS),
}


@pytest.mark.parametrize("family", list(REPOSITORIES))
@pytest.mark.parametrize("source", ["hub", "folder"])
def test_their_code_is_neither_fetched_nor_run_as_is_said(family: str, source: str, hub: Hub, tmp_path: Path) -> None:
    make, keys = REPOSITORIES[family]
    tokenizer = byte_level_bpe()
    network = make(len(tokenizer))
    folder = save(tmp_path / family, lambda: network, tokenizer, 0)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | keys))
    for name in {value.split(".")[0] for value in keys["auto_map"].values()}:
        (folder / f"{name}.py").write_text("raise SystemExit('it was run')")
    hub.add("org/model", folder)
    model = load("org/model" if source == "hub" else str(folder), device="cpu")
    assert f"config.json names code of its own (auto_map); it is ignored, as transformers knows {family}." in (
        model.usage.notes
    )
    assert not any(".py" in request for request in hub.requests)
    assert model.card.kind == "causal"
    ids = torch.tensor([[5, 6, 7, 8]])
    with torch.inference_mode():
        expected = network(input_ids=ids).logits
        torch.testing.assert_close(model.sample_logits((5, 6, 7, 8)), expected[0], atol=1e-5, rtol=0)
