"""Networks in memory: with their tokenizer or without, wrapped, with adapters, or unfit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from peft import LoraConfig, PromptTuningConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer, GPT2Config, GPT2LMHeadModel

import probing
from probing.analysis.accuracy import MOST_TIE
from probing.benchmark import Benchmark
from probing.errors import BadInput, NoFastTokenizer, NoHead, ProbingError, UnsupportedModel
from tests.tiny_models import build_bert, build_gpt2, byte_level_bpe, word_piece


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_gpt2(tmp_path_factory.mktemp("model") / "gpt2")


@pytest.fixture
def network(folder: Path) -> Any:
    return AutoModelForCausalLM.from_pretrained(folder)


@pytest.fixture
def expected(folder: Path, benchmark: Benchmark) -> pd.DataFrame:
    return probing.run(folder, benchmark, progress=False).items


def rows(network: Any, benchmark: Benchmark, tokenizer: Any = None) -> pd.DataFrame:
    return probing.run(network, benchmark, tokenizer=tokenizer, progress=False).items


def test_a_network_gives_the_same_rows_as_its_folder_whose_tokenizer_it_takes_if_none_is_given(
    network: Any, folder: Path, benchmark: Benchmark, expected: pd.DataFrame
) -> None:
    pd.testing.assert_frame_equal(rows(network, benchmark, AutoTokenizer.from_pretrained(folder)), expected)
    pd.testing.assert_frame_equal(rows(network, benchmark), expected)


def test_a_tokenizer_that_skips_merges_at_random_makes_all_of_them_here_and_still_skips_them_elsewhere(
    network: Any, folder: Path, benchmark: Benchmark, expected: pd.DataFrame
) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.backend_tokenizer.model.dropout = 0.9
    pd.testing.assert_frame_equal(rows(network, benchmark, tokenizer), expected)
    assert tokenizer.backend_tokenizer.model.dropout == pytest.approx(0.9)


WRAPPERS = {
    "data parallel": torch.nn.DataParallel,
    "compiled and data parallel": lambda network: torch.compile(torch.nn.DataParallel(network)),
    "own class": lambda network: _extended(network),
}


class Extended(GPT2LMHeadModel):
    """A user's own class."""


def _extended(network: GPT2LMHeadModel) -> GPT2LMHeadModel:
    network.__class__ = Extended
    return network


@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated")  # by what torch.compile imports
@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_wrappers_are_unwrapped(network: Any, benchmark: Benchmark, expected: pd.DataFrame, wrapper: str) -> None:
    pd.testing.assert_frame_equal(rows(WRAPPERS[wrapper](network), benchmark), expected)


def test_adapters_are_scored_with_their_network_and_named(
    network: Any, folder: Path, benchmark: Benchmark, expected: pd.DataFrame, tmp_path: Path
) -> None:
    adapted = get_peft_model(network, LoraConfig(r=4, init_lora_weights=False, fan_in_fan_out=True))
    result = probing.run(adapted, benchmark, progress=False)
    card = result.record["model"]
    assert (card["id"], card["adapter"]) == (f"{folder}+default", "default (LORA)")
    assert result.notes == [f"Active adapters of peft: default (LORA); the base model is {folder}."]
    assert (result.items["scores"].map(list) != expected["scores"].map(list)).all()
    adapted.merge_and_unload().save_pretrained(tmp_path / "merged")
    AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path / "merged")
    merged = probing.run(tmp_path / "merged", benchmark, progress=False).items
    for ours, theirs in zip(result.items["scores"], merged["scores"], strict=True):
        assert list(ours) == pytest.approx(list(theirs), abs=1e-3)


def test_adapters_that_are_switched_off_are_not_named(
    network: Any, benchmark: Benchmark, expected: pd.DataFrame
) -> None:
    adapted = get_peft_model(network, LoraConfig(r=4, init_lora_weights=False, fan_in_fan_out=True))
    with adapted.disable_adapter():
        result = probing.run(adapted, benchmark, progress=False)
    assert (result.record["model"]["adapter"], result.notes) == ("", [])
    assert [list(scores) for scores in result.items["scores"]] == [list(scores) for scores in expected["scores"]]


def test_the_record_names_the_network(network: Any, folder: Path, benchmark: Benchmark) -> None:
    model = probing.wrap(network, name="my model")
    card = probing.run(model, benchmark, progress=False).record["model"]
    assert (card["id"], card["kind"], card["source"]) == ("my model", "causal", "object")
    assert card["architecture"] == "GPT2LMHeadModel" and card["parameters"] == network.num_parameters()


def test_weights_that_change_change_the_scores(network: Any, benchmark: Benchmark, expected: pd.DataFrame) -> None:
    model = probing.wrap(network)
    pd.testing.assert_frame_equal(rows(model, benchmark), expected)
    with torch.no_grad():
        network.transformer.wte.weight.mul_(1.5)
    assert (rows(model, benchmark)["scores"].map(list) != expected["scores"].map(list)).any()


def python_tokenizer() -> Any:
    """Return a tokenizer that says it is written in Python, as slow ones do."""
    tokenizer = byte_level_bpe()
    tokenizer.__class__ = type("SlowTokenizer", (type(tokenizer),), {"is_fast": property(lambda tokenizer: False)})
    return tokenizer


def without_origin() -> Any:
    return GPT2LMHeadModel(GPT2Config(vocab_size=400, n_embd=8, n_layer=1, n_head=1, n_positions=64))


def with_more_tokens(network: Any) -> Any:
    network.resize_token_embeddings(500)
    return network


def spread(network: Any) -> Any:
    next(network.parameters()).ds_id = 0  # as DeepSpeed marks weights of which a process has only a part
    return network


def with_learned_prompts(network: Any) -> Any:
    return get_peft_model(network, PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=2))


Make = Callable[[Any], Any]
UNFIT: dict[str, tuple[Make, Make, type[ProbingError], str]] = {
    "no origin": (lambda _: without_origin(), lambda _: None, BadInput, "does not say where its tokenizer is"),
    "more tokens": (with_more_tokens, lambda _: None, BadInput, "has another vocabulary now"),
    "no head": (lambda network: network.transformer, lambda _: None, NoHead, "GPT2Model has no language"),
    "plain torch": (lambda _: torch.nn.Linear(2, 2), lambda _: None, BadInput, "Linear is no network of transformers"),
    "wrapped torch": (
        lambda _: torch.nn.DataParallel(torch.nn.Linear(2, 2)),
        lambda _: None,
        BadInput,
        "Linear is no network of transformers",
    ),
    "no tokenizer": (lambda network: network, lambda _: "gpt2", BadInput, "'gpt2' is no tokenizer"),
    "Python": (lambda network: network, lambda _: python_tokenizer(), NoFastTokenizer, "SlowTokenizer is not a fast"),
    "no mask": (lambda _: None, lambda _: byte_level_bpe(), UnsupportedModel, "has no mask token"),
    "too many tokens": (
        lambda network: network,
        lambda _: byte_level_bpe(vocabulary=800),
        ProbingError,
        "gives token|does not know",
    ),
    "spread": (spread, lambda _: None, UnsupportedModel, "spread over several processes"),
    "learned prompts": (with_learned_prompts, lambda _: None, UnsupportedModel, "learned prompts"),
}


@pytest.mark.parametrize("case", UNFIT)
def test_what_cannot_be_probed_is_refused(network: Any, benchmark: Benchmark, tmp_path: Path, case: str) -> None:
    make, make_tokenizer, error, sentence = UNFIT[case]
    unfit = make(network) or AutoModelForMaskedLM.from_pretrained(build_bert(tmp_path / "bert"))
    with pytest.raises(error, match=sentence) as raised:
        probing.run(unfit, benchmark, tokenizer=make_tokenizer(network), progress=False)
    assert raised.value.next_step


def test_a_network_without_its_folder_asks_for_a_tokenizer(network: Any, benchmark: Benchmark, tmp_path: Path) -> None:
    network.name_or_path = str(tmp_path / "gone")
    with pytest.raises(BadInput, match=r"where no tokenizer can be loaded.*Give the one that it was trained with"):
        probing.run(network, benchmark, progress=False)


def test_a_causal_network_is_never_taken_for_a_masked_one(network: Any, benchmark: Benchmark) -> None:
    assert probing.wrap(network, word_piece()).kind == "causal"


def test_a_result_says_that_the_tokenizer_knows_no_word(benchmark: Benchmark, tmp_path: Path) -> None:
    network = AutoModelForMaskedLM.from_pretrained(build_bert(tmp_path / "bert"))
    result = probing.run(network, benchmark, tokenizer=word_piece([""]), progress=False)
    options, subjects, ties = result.notes
    assert " options (100.00%)" in options and " subjects (100.00%)" in subjects and ties == MOST_TIE


def test_a_tokenizer_that_knows_the_words_needs_no_note(network: Any, benchmark: Benchmark) -> None:
    assert probing.run(network, benchmark, progress=False).notes == []
