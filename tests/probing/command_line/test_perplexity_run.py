"""A whole run over a knowledge graph: each sentence scored once, stored by parts, resumed."""

from pathlib import Path

import pandas as pd
import pytest

from probing.probes.perplexity import Perplexity
from probing.results.result import Result
from probing.runner import run
from tests.fakes import FakeModel


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
    assert "5 repetitions of 100 true" in result.record["benchmark_notes"][1]


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
    known = list(guesses.items.loc[guesses.items["true"], "statement"])
    found = overall(run(FakeModel(knows=known), "graph", progress=False))
    assert found["superiority"] == 1.0
    assert found["discriminates"] == 1.0
    assert found["log10_p_median"] < -10
    assert 0.4 < overall(guesses)["superiority"] < 0.6


def test_a_run_records_that_each_token_is_masked_in_turn() -> None:
    assert run(FakeModel(), "graph", limit=2, progress=False).record["settings"]["pll"] == "original"
