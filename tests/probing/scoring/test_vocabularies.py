"""Models without tokenizer.json, without a token for padding or for the start, and with tokens that were added."""

import json
from pathlib import Path

import pytest
import sentencepiece
import transformers as hf

from probing.errors import NoFastTokenizer
from probing.language_model import Request
from probing.scoring.load import load
from probing.template import prompt
from tests.probing.scoring.compare import REQUESTS, answers, assert_equal, expected_log_probs
from tests.probing.scoring.networks import GROUPED, of
from tests.probing.scoring.obvious import causal
from tests.probing.scoring.seq2seq import build
from tests.tiny_models import SENTENCES, build_bert, build_gpt2, byte_level_bpe, save

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
