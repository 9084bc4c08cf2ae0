"""The measurement of the harness's two models: its requests, its counts, and the exit code."""

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer

from speed.harness import compare, complain, completions, missed, report, statements
from speed.networks import LoadedNetwork
from speed.work import ChoiceItem, Workload
from tests.tiny_models import build_gpt2

ITEMS = (
    ChoiceItem("[X] is located in [Y].", "chad", ("Africa", "Asia"), 0),
    ChoiceItem("[X] is located in [Y].", "Peru", ("Africa", "South America"), 1),
    ChoiceItem("[X] is located in [Y].", "Japan", ("Africa", "Asia"), 1),
)
WORK = Workload("starter", ("P30",), ITEMS)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedNetwork:
    folder = build_gpt2(tmp_path_factory.mktemp("gpt2"))
    network, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    return LoadedNetwork("tiny", "causal", network, tokenizer, {})


def test_statements_have_no_context() -> None:
    assert [request.args for request in statements(WORK)][:3] == [
        ("", "Chad is located in Africa."),
        ("", "Chad is located in Asia."),
        ("", "Peru is located in Africa."),
    ]


def test_completions_begin_at_the_blank_after_the_same_true_examples() -> None:
    requests = [request.args for request in completions(WORK)]
    examples = "Chad is located in Africa.\nPeru is located in South America.\nJapan is located in Asia.\n"
    assert requests[3] == (examples + "Peru is located in", " South America.")
    assert all(context.startswith(examples) for context, _ in requests)


def test_both_models_give_the_same_answers_and_positions_are_counted(loaded: LoadedNetwork) -> None:
    measured = compare(loaded, completions(WORK), rounds=2)
    assert measured["greedy_flags_that_differ"] == 0 and measured["largest_difference"] < 1e-4
    assert measured["positions"]["clozeboard"] < measured["positions"]["hf"] / 2
    assert len(measured["seconds"]["hf"]) == len(measured["ratios"]["processor"]) == 2
    assert "after examples: 6 requests, " in report({"after examples": measured})


def test_a_small_ratio_and_other_answers_are_missed(capsys: pytest.CaptureFixture[str]) -> None:
    task = {
        "requests": 9,
        "ratios": {"processor": [1.5, 1.9, 3.0]},
        "largest_difference": 1e-5,
        "greedy_flags_that_differ": 0,
    }
    assert missed({"a": task}, {"ratio": 1.9}) == []
    assert missed({"a": task}, {"ratio": 2.0}) == ["a: 1.90 times hf, must be 2."]
    assert complain(missed({"a": {**task, "largest_difference": 0.5}}, {})) == 1
    assert "Missed: a: answers differ by 5.0e-01, may by 0.001." in capsys.readouterr().err
    assert missed({"a": {**task, "greedy_flags_that_differ": 1}}, {}) == ["a: 1 of 9 greedy flags differ."]
    assert complain([]) == 0
