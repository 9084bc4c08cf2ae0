"""Perplexity: formulas by hand, against the library's own loss, and what a row holds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadInput, NonFiniteScores
from probing.language_model import OptionScores, Request, Scoring
from probing.probes.perplexity import Perplexity
from probing.probes.probe import changed_options, declared_options, make, parse
from probing.results.result import Result
from probing.runner import run
from probing.scoring.load import load
from probing.settings import Settings
from tests.fakes import FAKE_CARD, FakeModel
from tests.tiny_models import build_bert, build_gpt2, build_llama

SENTENCES = ["Chad is located in Africa", "the river Danube flows through Serbia", "Marie Curie was born in Oslo."]
TOKENS = (-1.0, -2.0, -3.0, -6.0)


@dataclass
class Says(FakeModel):
    """Gives every statement these tokens; the first has no log-probability without a start token."""

    tokens: tuple[float, ...] = TOKENS

    def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores]:
        for _ in requests:
            whole = scoring.start or self.card.kind == "masked"
            tokens = np.array(self.tokens if whole else self.tokens[1:])
            yield OptionScores((tokens,), (slice(0, 1),), np.ones(1, dtype=bool))


MASKED = replace(FAKE_CARD, kind="masked")


def measure(model: FakeModel, text: str = "Oslo is fine", **options: object) -> dict[str, Any]:
    return next(make(Perplexity, options).measure(model, [text]))  # type: ignore[attr-defined]


def relation(*items: Item) -> Relation:
    return Relation("capital", ("[Y]",), (), items)


def item(index: int, text: str, truth: str) -> Item:
    tags = {"truth": truth, "repetitions": ("1", "1", "3")}
    return Item(index, text, (0,), f"h{index} capital t{index}", tags, options=(text,))


def test_perplexity_by_hand() -> None:
    """The mean of 1, 2, 3 and 6 is 3."""
    assert measure(Says()) == {
        **{"statement": "Oslo is fine", "log_prob": -12.0, "tokens": 4, "words": 3},
        "perplexity": pytest.approx(exp(3)),
    }


def test_by_word_it_divides_by_what_stands_between_spaces() -> None:
    assert measure(Says(), by="word")["perplexity"] == pytest.approx(exp(12 / 3))


def test_the_public_code_of_causal_models_by_hand() -> None:
    """No start token and no last token: the mean of 2 and 3, times 3/4."""
    assert measure(Says(), public_code=True)["perplexity"] == pytest.approx(exp(2.5 * 3 / 4))


def test_the_public_code_leaves_no_choice_of_a_start_token() -> None:
    rows = Perplexity(public_code=True).rows(
        FakeModel(), relation(item(0, "Oslo is fine", "true")), 0, Settings(start="eos")
    )
    with pytest.raises(BadInput, match="without a start token"):
        next(rows)


def test_the_public_code_of_masked_models_counts_the_special_tokens() -> None:
    assert measure(Says(MASKED), public_code=True)["perplexity"] == pytest.approx(exp(12 / 6))


def test_the_public_code_needs_three_tokens() -> None:
    with pytest.raises(BadInput, match="three tokens or more"):
        measure(Says(tokens=(-1.0, -2.0)), public_code=True)


def test_a_perplexity_that_is_not_a_number_is_an_error() -> None:
    with pytest.raises(NonFiniteScores, match="fake/hash gave a perplexity that is not a number for 'Oslo is fine'"):
        measure(Says(tokens=(-np.inf,)))


@pytest.mark.parametrize("options_", [{"by": "letter"}, {"by": "word", "public_code": True}])
def test_options_that_make_no_sense_are_refused(options_: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        make(Perplexity, options_)


def test_its_options_are_read_from_the_command_line() -> None:
    assert changed_options(make(Perplexity, parse(declared_options(Perplexity), ["by=word"], "perplexity"))) == {
        "by": "word"
    }


def test_a_row_has_the_sentence_its_truth_and_its_repetitions(model: FakeModel) -> None:
    statements = relation(item(0, "Oslo is fine", "true"), item(1, "Rome is fine", "false"))
    first, second = Perplexity().rows(model, statements, 0, Settings())
    assert first.keys() == Perplexity.columns - {"prompt"}  # a model without tokens does not say it
    assert (first["statement"], first["true"], first["repetitions"]) == ("Oslo is fine", True, [1, 1, 3])
    assert (second["index"], second["true"], second["words"], second["tokens"]) == (1, False, 3, 3)
    assert first["scores"] == [first["log_prob"]]
    assert first["perplexity"] == pytest.approx(exp(-first["log_prob"] / 3))


def test_a_benchmark_without_true_and_false_statements_is_refused(benchmark: Benchmark, model: FakeModel) -> None:
    with pytest.raises(BadInput, match="does not say which of its statements are true"):
        run(model, benchmark, probe="perplexity")


def test_a_statement_stays_as_it_is(model: FakeModel) -> None:
    sure = FakeModel(knows=["oslo is fine"])
    assert next(Perplexity().measure(sure, ["oslo is fine"]))["perplexity"] == pytest.approx(1.0, abs=1e-5)
    assert next(Perplexity().measure(model, ["Oslo is fine"])) != next(Perplexity().measure(model, ["oslo is fine"]))


@pytest.mark.parametrize("build", [build_gpt2, build_llama])
def test_causal_perplexity_is_the_librarys_loss(build: object, tmp_path: Path) -> None:
    model = load(str(build(tmp_path)), device="cpu")  # type: ignore[operator]
    for measured in Perplexity().measure(model, SENTENCES):
        ids = [
            model.tokenizer.bos_token_id,
            *model.tokenizer(measured["statement"], add_special_tokens=False).input_ids,
        ]
        tensor = torch.tensor([ids])
        loss = model.network(input_ids=tensor, labels=tensor).loss.item()
        assert measured["perplexity"] == pytest.approx(exp(loss), rel=1e-4)
        assert measured["tokens"] == len(ids) - 1


def test_pseudo_perplexity_is_the_librarys_loss_token_by_token(tmp_path: Path) -> None:
    model = load(str(build_bert(tmp_path)), device="cpu")
    for measured in Perplexity().measure(model, SENTENCES):
        ids = torch.tensor([model.tokenizer(measured["statement"]).input_ids])
        losses = []
        for position in range(1, ids.shape[1] - 1):
            hidden, labels = ids.clone(), torch.full_like(ids, -100)
            hidden[0, position], labels[0, position] = model.tokenizer.mask_token_id, ids[0, position]
            losses.append(model.network(input_ids=hidden, labels=labels).loss.item())
        assert measured["perplexity"] == pytest.approx(exp(np.mean(losses)), rel=1e-4)
        assert measured["tokens"] == len(losses)


def test_the_public_code_is_the_librarys_loss_without_the_last_token(tmp_path: Path) -> None:
    model = load(str(build_gpt2(tmp_path)), device="cpu")
    for measured in Perplexity(public_code=True).measure(model, SENTENCES):
        ids = torch.tensor([model.tokenizer(measured["statement"]).input_ids])
        loss = model.network(input_ids=ids[:, :-1], labels=ids[:, :-1]).loss.item()
        assert measured["perplexity"] == pytest.approx(exp(loss * (ids.shape[1] - 1) / ids.shape[1]), rel=1e-4)


def overall(result: Result) -> dict[str, float]:
    rows = result.scores[result.scores["dimension"] == "overall"]
    return dict(zip(rows["metric"], rows["value"], strict=True))


def test_every_distinct_sentence_is_scored_once(tmp_path: Path) -> None:
    model = FakeModel()
    result = run(model, "graph", out=tmp_path / "out", progress=False)
    assert model.usage.statements == len(result.items) == 915
    assert sum(map(len, result.items["repetitions"])) == 1000
    assert not result.items.duplicated(["statement", "true"]).any()
    assert result.record["probe"] == "perplexity"
    assert "5 repetitions, each of 100 true" in result.record["benchmark_notes"][1]


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(FakeModel(fails_after=500), "graph", out=tmp_path / "out", progress=False)
    done = sum(len(pd.read_parquet(path)) for path in (tmp_path / "out.partial").glob("*.parquet"))
    assert 300 < done <= 500
    model = FakeModel()
    resumed = run(model, "graph", out=tmp_path / "out", progress=False)
    assert model.usage.statements == 915 - done
    whole = run(FakeModel(), "graph", progress=False)
    pd.testing.assert_frame_equal(resumed.scores, whole.scores)
    pd.testing.assert_frame_equal(resumed.items, whole.items)


def test_a_stored_result_gives_the_same_scores_again(tmp_path: Path) -> None:
    result = run(FakeModel(), "graph", out=tmp_path / "out", progress=False)
    stored = Result.load(tmp_path / "out")
    pd.testing.assert_frame_equal(Perplexity().scores(stored.items), result.scores)


def test_a_model_that_knows_the_facts_finds_them_less_perplexing() -> None:
    guesses = run(FakeModel(), "graph", progress=False)
    true_statements = list(guesses.items.loc[guesses.items["true"], "statement"])
    scores = overall(run(FakeModel(knows=true_statements), "graph", progress=False))
    assert scores["superiority"] == 1.0
    assert scores["discriminates"] == 1.0
    assert scores["log10_p_median"] < -10
    assert 0.4 < overall(guesses)["superiority"] < 0.6


def test_a_run_records_that_each_token_is_masked_in_turn() -> None:
    assert run(FakeModel(), "graph", limit=2, progress=False).record["settings"]["pll"] == "original"
