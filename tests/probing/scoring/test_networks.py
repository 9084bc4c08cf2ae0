"""Networks and tokenizers as they are loaded from files, and as networks of GGUF files are kept."""

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import sentencepiece
import torch
import transformers as hf
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    GPTJConfig,
    GPTNeoConfig,
)

from probing.errors import BadConfig, BadWeights, NoFastTokenizer, TooLarge, UnsupportedModel
from probing.files.gguf_cache import GIGABYTES, GgufCache
from probing.language_model import Request
from probing.results.run_json import peak_memory
from probing.scoring import networks
from probing.scoring.load import load
from probing.scoring.networks import keep_network
from probing.template import prompt
from tests.probing.scoring.compare import REQUESTS, answers, assert_equal, expected_log_probs
from tests.probing.scoring.networks import GROUPED, HEAD_APART, REFERENCE_CAUSAL, REFERENCE_MASKED, SHARING, SIZES, of
from tests.probing.scoring.obvious import causal
from tests.probing.scoring.seq2seq import build
from tests.tiny_models import SENTENCES, build_bert, build_gpt2, build_llama, byte_level_bpe, save, set_keys, word_piece


def test_a_base_model_saved_without_its_head_is_unsupported(tmp_path: Path) -> None:
    tokenizer = word_piece()
    tokenizer.save_pretrained(tmp_path)
    network = BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), pad_token_id=0, **SIZES))
    network.bert.save_pretrained(tmp_path)
    set_keys(tmp_path, "config.json", architectures=["BertForMaskedLM"])
    with pytest.raises(BadWeights, match="lacks cls"):
        load(str(tmp_path), device="cpu")


def test_a_network_that_does_not_fit_on_the_device_is_told_as_such(gpt2: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", full)
    with pytest.raises(TooLarge, match=r"does not fit on the device\. Use a larger device or --dtype"):
        load(str(gpt2), device="cpu")


def test_unknown_keys_of_the_config_never_reach_transformers(gpt2: Path) -> None:
    set_keys(gpt2, "config.json", surprise=1, num_labels=10**9, per_layer_config={"0": {"n_embd": 10**9}})
    model = load(str(gpt2), device="cpu")
    assert not hasattr(model.network.config, "surprise")
    assert model.usage.notes == ["Keys of config.json that transformers does not know are ignored: surprise."]


def test_positions_that_are_computed_not_stored_have_a_limit(model_folders: dict[str, Path], tmp_path: Path) -> None:
    """GPT-NeoX-like buffers of masks grow with the square of a number that no weight has to match."""
    folder = copytree(model_folders["gpt2"], tmp_path / "neo")
    tokenizer = byte_level_bpe()
    network = AutoModelForCausalLM.from_config(
        GPTNeoConfig(
            vocab_size=len(tokenizer), hidden_size=32, num_layers=2, num_heads=2, attention_types=[[["global"], 2]]
        )
    )
    network.save_pretrained(folder)
    set_keys(folder, "config.json", max_position_embeddings=100_000)
    with pytest.raises(BadConfig, match="describes another model than the weights"):
        load(str(folder), device="cpu")


def test_positions_that_no_weight_has_to_match_are_not_built(model_folders: dict[str, Path], tmp_path: Path) -> None:
    """Those of GPT-J, in each layer or (since transformers 5.24) once, grow with a number of the config."""
    folder = copytree(model_folders["gpt2"], tmp_path / "j")
    config = GPTJConfig(vocab_size=len(byte_level_bpe()), n_embd=32, n_layer=2, n_head=1, rotary_dim=32)
    AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    set_keys(folder, "config.json", n_positions=10_000_000)
    before = peak_memory("cpu")["process"]
    with pytest.raises(BadConfig, match=r"asks for (1\.3|2\.6) GB beside the weights, for positions and masks"):
        load(str(folder), device="cpu")
    assert peak_memory("cpu")["process"] - before < 10**9


CAUSAL, MASKED = SHARING | REFERENCE_CAUSAL, HEAD_APART | REFERENCE_MASKED


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CAUSAL, *MASKED])
def test_every_architecture_is_loaded_with_its_config_unchanged(name: str, tmp_path: Path) -> None:
    """The network that `load` builds computes what the saved one computes."""
    tokenizer = byte_level_bpe() if name in CAUSAL else word_piece()
    network = (CAUSAL | MASKED)[name](len(tokenizer))
    network.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model = load(str(tmp_path), device="cpu")
    ids = torch.tensor([[5, 6, 7, 8]])
    with torch.inference_mode():
        assert torch.allclose(model.network(input_ids=ids).logits, network(input_ids=ids).logits, atol=1e-5)
    assert not [note for note in model.usage.notes if "config.json" in note]


def test_a_masked_model_without_a_mask_token_is_unsupported(bert: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (bert / name).unlink()
    byte_level_bpe().save_pretrained(bert)
    with pytest.raises(UnsupportedModel, match="no mask token"):
        load(str(bert), device="cpu")


TEXT = "The capital of Norway is Oslo; Élysée and Čapek."


def without_tokenizer(folder: Path, tokenizer_class: str) -> Path:
    """Remove what a fast tokenizer is read from, and leave the name of its class."""
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": tokenizer_class}))
    return folder


def test_a_vocabulary_and_its_merges_make_the_tokenizer_that_they_were_saved_from(tmp_path: Path) -> None:
    folder = build_gpt2(tmp_path)
    model = json.loads((folder / "tokenizer.json").read_text())["model"]
    expected = load(str(folder), device="cpu").tokenizer(TEXT).input_ids
    without_tokenizer(folder, "GPT2Tokenizer")
    (folder / "vocab.json").write_text(json.dumps(model["vocab"]))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(" ".join(pair) for pair in model["merges"]))
    loaded = load(str(folder), device="cpu")
    assert loaded.tokenizer(TEXT).input_ids == expected
    assert {"vocab.json", "merges.txt"} <= set(loaded.card.files)


def test_a_list_of_pieces_makes_the_tokenizer_that_it_was_saved_from(tmp_path: Path) -> None:
    folder = build_bert(tmp_path)
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    expected = load(str(folder), device="cpu").tokenizer(TEXT).input_ids
    without_tokenizer(folder, "BertTokenizer")
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "BertTokenizer", "do_lower_case": False})
    )
    (folder / "vocab.txt").write_text("\n".join(sorted(vocabulary, key=vocabulary.__getitem__)))
    assert load(str(folder), device="cpu").tokenizer(TEXT).input_ids == expected


def test_a_sentencepiece_model_makes_a_tokenizer_that_cuts_as_sentencepiece_does(tmp_path: Path) -> None:
    folder = build(tmp_path / "model", "t5")
    (tmp_path / "text.txt").write_text("\n".join(SENTENCES))
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "text.txt"), model_prefix=str(folder / "spiece"), vocab_size=100, pad_id=0, eos_id=1,
        unk_id=2, bos_id=-1, minloglevel=2,
    )  # fmt: skip
    without_tokenizer(folder, "T5Tokenizer")
    loaded = load(str(folder), device="cpu")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spiece.model"))
    text = "The capital of Norway is Oslo."
    assert loaded.tokenizer(text, add_special_tokens=False).input_ids == pieces.encode(text)
    assert len(answers(loaded, REQUESTS)) == len(REQUESTS)


def test_a_vocabulary_beside_a_tokenizer_is_not_read(tmp_path: Path) -> None:
    folder = build_gpt2(tmp_path)
    (folder / "vocab.txt").write_text("unread")
    assert "vocab.txt" not in load(str(folder), device="cpu").card.files


def test_a_tokenizer_that_is_only_written_in_python_is_refused_in_one_sentence(tmp_path: Path) -> None:
    folder = without_tokenizer(build(tmp_path, "t5"), "ByT5Tokenizer")
    (folder / "vocab.txt").write_text("a\nb")
    with pytest.raises(NoFastTokenizer, match="is not a fast one"):
        load(str(folder), device="cpu")


def test_a_model_without_start_and_padding_and_with_an_added_token_scores_as_the_obvious_code(tmp_path: Path) -> None:
    """The network has rows for the added token, and for others that the tokenizer does not use."""
    trained = byte_level_bpe()
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_object=trained.backend_tokenizer, model_max_length=128)
    tokenizer.add_tokens(["Oceania"])
    make = of(hf.LlamaForCausalLM, **{**GROUPED, "bos_token_id": None, "eos_token_id": None})
    folder = save(tmp_path, lambda: make(len(tokenizer) + 7), tokenizer, 0)
    model = load(str(folder), device="cpu")
    assert (model.tokenizer.bos_token, model.tokenizer.eos_token, model.tokenizer.pad_token) == (None, None, None)
    requests: list[Request] = [*REQUESTS[:3], (prompt("Palau is in [Y].", ""), ["Oceania", "Asia"])]
    assert_equal(answers(model, requests), expected_log_probs(requests, causal(model.network, model.tokenizer)))
    assert model.tokenizer("Oceania").input_ids == [len(trained)]
    assert len(list(model.generate(["Palau is in", "Oceania"], 3))) == 2


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GgufCache:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(GIGABYTES, "1")
    return GgufCache.of_user()


@pytest.mark.parametrize("build", [build_gpt2, build_llama], ids=["gpt2", "llama"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def test_a_network_is_kept_with_every_weight(
    tmp_path: Path, cache: GgufCache, build: Callable[[Path], Path], dtype: torch.dtype
) -> None:
    folder = build(tmp_path / "model")
    network = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype)
    keep_network("key", network, AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM)
    kept = cache.find("key")
    assert kept
    weights = AutoModelForCausalLM.from_pretrained(kept, dtype=dtype).state_dict()
    assert all(torch.equal(weight, weights[name]) for name, weight in network.state_dict().items())


def test_a_kept_network_of_a_file_that_names_no_class_is_a_model_in_a_folder(tmp_path: Path, cache: GgufCache) -> None:
    folder = build_llama(tmp_path / "model")
    network = AutoModelForCausalLM.from_pretrained(folder)
    network.config.architectures = None  # as GGUF files are read
    keep_network("key", network, AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM)
    assert load(str(cache.find("key"))).card.architecture == "LlamaForCausalLM"


def test_what_is_read_again_as_another_one_or_needs_too_much_memory_twice_is_not_kept(
    tmp_path: Path, cache: GgufCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, other = build_gpt2(tmp_path / "model"), AutoTokenizer.from_pretrained(build_llama(tmp_path / "other"))
    network, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    changed = AutoModelForCausalLM.from_pretrained(folder)
    changed.register_buffer("more", torch.ones(3))
    keep_network("network", changed, tokenizer, AutoModelForCausalLM)
    another = AutoTokenizer.from_pretrained(folder)
    another.save_pretrained = other.save_pretrained
    keep_network("tokenizer", network, another, AutoModelForCausalLM)
    monkeypatch.setattr(networks, "MEMORY_SHARE", 0)
    keep_network("memory", network, tokenizer, AutoModelForCausalLM)
    assert [cache.find(key) for key in ("network", "tokenizer", "memory")] == [None] * 3
