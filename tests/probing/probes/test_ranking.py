"""Ranking: what is asked, what a row holds, two rules kept apart."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from probing.baselines import UniformModel
from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadInput, UnsupportedModel
from probing.language_model import OptionScores
from probing.probes import probe_of
from probing.probes.ranking import Ranking, candidate_scores
from probing.runner import run
from probing.settings import Settings
from tests.fakes import FAKE_CARD, FakeModel


def test_a_run_has_rows_and_scores_under_the_predicates_name(pairs: Benchmark, model: FakeModel) -> None:
    result = run(model, pairs, relations="P37", progress=False)
    assert set(result.items["relation"]) == {"P37"}
    assert len(result.items) == 20
    columns = ["culture_pair", "culture", "language", "relation", "subject_id", "answers", "prediction", "correct"]
    assert set(columns) <= set(result.items.columns)
    metrics = set(zip(result.scores["metric"], result.scores["dimension"], strict=True))
    assert {(metric, dimension) for metric in ("p_at_1", "p_at_1_statement") for dimension in (
        "overall", "culture_pair", "culture", "relation", "language"
    )} <= metrics  # fmt: skip


def test_what_the_rules_leave_no_choice_of_is_on_record(pairs: Benchmark, model: FakeModel) -> None:
    record = run(model, pairs, probe="ranking", progress=False).record["settings"]
    assert (record["pll"], record["reduction"]) == ("whole_answer", "mean")
    with pytest.raises(BadInput, match="leaves no choice of pll"):
        run(model, pairs, probe="ranking", pll="original", progress=False)


def test_a_stored_result_is_the_same_after_reading(pairs: Benchmark, model: FakeModel, tmp_path: Path) -> None:
    result = run(model, pairs, out=tmp_path / "out", progress=False)
    stored = pd.read_parquet(tmp_path / "out" / "items.parquet")
    again = probe_of(Settings.from_json(result.record["settings"])).scores(stored)
    pd.testing.assert_frame_equal(again, result.scores)


def test_a_prediction_carries_the_cultures_in_which_it_is_right(pairs: Benchmark, model: FakeModel) -> None:
    rows = list(Ranking().rows(model, pairs.relations[0], 0, Settings()))
    space = pairs.relations[0]
    for row in rows:
        assert tuple(row["prediction_cultures"]) == space.answer_tags[row["prediction"]]["culture"]


def test_scores_of_thousands_of_candidates_take_four_bytes_each(pairs: Benchmark, model: FakeModel) -> None:
    row = next(Ranking().rows(model, pairs.relations[0], 0, Settings()))
    assert (row["scores"].dtype, row["exact"].dtype) == (np.float32, np.bool_)


def test_masked_models_and_deciding_have_the_primary_rule_only(pairs: Benchmark) -> None:
    masked = FakeModel(card=replace(FAKE_CARD, kind="masked"))
    for model, settings in ((masked, Settings()), (FakeModel(), Settings(decide=True))):
        assert "prediction_statement" not in next(Ranking().rows(model, pairs.relations[0], 0, settings))


def test_a_candidate_without_tokens_is_refused() -> None:
    nothing = OptionScores((np.array([-1.0]),), (slice(0, 0),), np.array([True]))
    with pytest.raises(UnsupportedModel, match="leaves nothing"):
        candidate_scores(nothing)


def test_equal_candidates_are_won_by_the_first_label() -> None:
    relation = Relation("P1", ("[X] is [Y].",), ("ab", "b", "ba"), (Item(0, "it", (1,)),))
    row = next(Ranking().rows(UniformModel(), relation, 0, Settings()))
    assert (row["prediction_label"], row["rank"]) == ("ab", 2)
