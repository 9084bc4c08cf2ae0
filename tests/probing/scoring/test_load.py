"""Loading from the hub, a folder or a GGUF file: the card, what is downloaded, and the checks at the end."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf
from transformers import BertConfig, BertLMHeadModel

from probing.errors import BrokenTokenizer, Gated, ModelNotFound, SourceUnavailable, UnsupportedModel
from probing.language_model import OptionScores, Scoring
from probing.scoring.causal import CausalModel
from probing.scoring.load import load
from probing.scoring.masked import MaskedModel
from probing.template import prompt
from tests.hub.local_hub import Hub
from tests.probing.scoring.compare import answers
from tests.probing.scoring.hybrid_networks import HYBRID
from tests.probing.scoring.networks import FALCON, SIZES, of
from tests.tiny_models import byte_level_bpe, save, set_keys, word_piece


@pytest.mark.parametrize(("name", "kind"), [("gpt2", CausalModel), ("llama", CausalModel), ("bert", MaskedModel)])
def test_a_folder_becomes_a_model_with_a_card(model_folders: dict[str, Path], name: str, kind: type) -> None:
    model = load(str(model_folders[name]), device="cpu")
    assert isinstance(model, kind)
    assert (model.card.kind, model.card.source) == ("masked" if name == "bert" else "causal", "folder")
    assert model.card.parameters == model.network.num_parameters()
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= set(model.card.files)
    (scores,) = answers(model, [(prompt("[X] is in [Y].", "Chad"), ["Africa", "Asia"])])
    assert (scores.reduce() < 0).all()


def test_a_hub_id_is_downloaded_at_its_newest_or_at_a_given_commit(hub: Hub, model_folders: dict[str, Path]) -> None:
    model = load("org/gpt2", device="cpu")
    assert (model.card.source, model.card.commit) == ("hub", hub.repositories["org/gpt2"].commit)
    assert torch.equal(
        model.network.get_input_embeddings().weight,
        load(str(model_folders["gpt2"]), device="cpu").network.get_input_embeddings().weight,
    )
    commit = hub.repositories["org/gpt2"].commit
    assert load("org/gpt2", commit=commit, device="cpu").card.commit == commit
    with pytest.raises(ModelNotFound):
        load("org/gpt2", commit="0" * 40, device="cpu")


def test_a_revisions_name_is_kept_beside_its_commit(hub: Hub, model_folders: dict[str, Path], tmp_path: Path) -> None:
    step = hub.repositories["org/gpt2"].add_revision(
        "step1000", Path(shutil.copytree(model_folders["gpt2"], tmp_path / "gpt2"))
    )
    card = load("org/gpt2", commit="step1000", device="cpu").card
    assert (card.commit, card.revision) == (step.commit, "step1000")
    assert load("org/gpt2", commit=step.commit, device="cpu").card.revision == ""


def test_a_checkpoint_of_a_training_is_named_by_its_folder(model_folders: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(model_folders["gpt2"], tmp_path / "checkpoint-20")
    assert load(str(tmp_path / "checkpoint-20"), device="cpu").card.revision == "checkpoint-20"
    assert load(str(model_folders["gpt2"]), device="cpu").card.revision == ""


def test_only_what_loading_needs_is_downloaded(hub: Hub, gpt2: Path) -> None:
    for name in ("pytorch_model.bin", "modeling_own.py", "README.md", "vocab.txt", "flax_model.msgpack"):
        (gpt2 / name).write_text("x")
    hub.add("org/more", gpt2)
    load("org/more", device="cpu")
    assert hub.downloaded("model.safetensors")
    assert not any(map(hub.downloaded, ["pytorch_model.bin", "modeling_own.py", "README.md", "flax_model.msgpack"]))


@pytest.mark.parametrize("name", ["org/none", "none", "not an id", "a/b/c", "../x", "org/"])
def test_a_name_without_a_model_is_not_found(hub: Hub, name: str) -> None:
    with pytest.raises(ModelNotFound) as caught:
        load(name, device="cpu")
    assert "spelling" in caught.value.next_step


def test_a_gated_model_is_unsupported_and_a_failing_hub_no_permanent_error(
    hub: Hub, model_folders: dict[str, Path]
) -> None:
    hub.add("org/gated", model_folders["gpt2"], gated="manual")
    with pytest.raises(Gated, match="gated"):
        load("org/gated", device="cpu")
    hub.broken = 500
    with pytest.raises(SourceUnavailable) as caught:
        load("org/gpt2", device="cpu")
    assert not caught.value.permanent


def test_a_causal_head_that_sees_later_tokens_is_unsupported(tmp_path: Path) -> None:
    """BERT with a causal head but without `is_decoder`: its log-probabilities would know the answer."""
    tokenizer = word_piece()
    tokenizer.save_pretrained(tmp_path)
    BertLMHeadModel(BertConfig(vocab_size=len(tokenizer), pad_token_id=0, **SIZES)).save_pretrained(tmp_path)
    with pytest.raises(UnsupportedModel, match="sees the tokens"):
        load(str(tmp_path), device="cpu")


def test_a_masked_head_that_does_not_see_later_tokens_is_unsupported(
    model_folders: dict[str, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(model_folders["bert"], tmp_path / "model"))
    set_keys(folder, "config.json", is_decoder=True)
    with pytest.raises(UnsupportedModel, match="without the tokens after it") as raised:
        load(str(folder), device="cpu")
    assert "is_decoder" in raised.value.next_step


def test_a_failed_self_check_is_noted_when_the_model_is_loaded(tmp_path: Path) -> None:
    tokenizer = byte_level_bpe(vocabulary=400)
    HYBRID["nemotron-h"](len(tokenizer)).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    (note,) = load(str(tmp_path), device="cpu").usage.notes
    assert note.startswith("scored with the reference implementation")


def test_each_phase_of_loading_is_announced(gpt2: Path) -> None:
    phases: list[str] = []
    load(str(gpt2), device="cpu", on_phase=phases.append)
    assert phases == ["tokenizer", "weights", "trial"]


def test_a_chat_model_of_the_hub_is_asked_through_its_template(hub: Hub, gpt2: Path) -> None:
    (gpt2 / "chat_template.jinja").write_text("{% for m in messages %}Q: {{ m.content }} A:{% endfor %}")
    hub.add("org/chat", gpt2)
    model = load("org/chat", device="cpu")
    assert model.tokenizer.chat_template.startswith("{% for m in messages %}Q:")
    assert len(list(model.generate(["Where is Chad?"], 1, chat=True))) == 1
    assert "chat_template.jinja" in model.card.files


def test_code_of_a_known_tokenizer_is_neither_fetched_nor_run(hub: Hub, gpt2: Path) -> None:
    (gpt2 / "tokenization_own.py").write_text("raise SystemExit('it was run')")
    set_keys(gpt2, "tokenizer_config.json", auto_map={"AutoTokenizer": ["tokenization_own.T", None]})
    hub.add("org/own", gpt2)
    (note,) = load("org/own", device="cpu").usage.notes
    assert note == "tokenizer_config.json names code of its own (auto_map); it is ignored, as transformers knows gpt2."
    assert not any(".py" in request for request in hub.requests)


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
    set_keys(folder, "config.json", **keys)
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


def test_weights_that_the_network_does_not_have_by_its_config_are_named(gpt2: Path) -> None:
    set_keys(gpt2, "config.json", n_layer=1)
    (note,) = load(str(gpt2), device="cpu").usage.notes
    start = "Weights of layers that GPT2LMHeadModel does not have by the config are ignored: transformer.h.1.attn"
    assert note.startswith(start)
    assert re.search(r" and \d more\.$", note)


@pytest.mark.parametrize(("make", "token"), [("gpt2", "bos_token"), ("bert", "mask_token")])
def test_a_token_beside_texts_that_the_network_does_not_have_is_the_tokenizers_fault(
    model_folders: dict[str, Path], tmp_path: Path, make: str, token: str
) -> None:
    folder = Path(shutil.copytree(model_folders[make], tmp_path / "model"))
    set_keys(folder, "tokenizer_config.json", **{token: "<new>"})
    with pytest.raises(BrokenTokenizer, match=r"gives token \d+, but the model has"):
        load(str(folder), device="cpu")


def test_a_text_may_be_as_long_as_the_network_takes_whatever_its_tokenizer_states(gpt2: Path) -> None:
    set_keys(gpt2, "tokenizer_config.json", model_max_length=6)
    (scores,) = load(str(gpt2), device="cpu").score(
        [(prompt("[Y]", ""), ["Oslo is the capital of Norway."])], Scoring()
    )
    assert isinstance(scores, OptionScores)
