"""Accuracy as tidy scores, from stored rows alone."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import sem

from probing.analysis.accuracy import SCORE_COLUMNS
from probing.analysis.details import without_details
from probing.benchmark import Benchmark
from probing.formats import bear
from probing.probes.choices import choice_row
from probing.probes.multiple_choice import MultipleChoice
from probing.settings import Settings
from probing.template import prompt
from tests.fakes import FakeModel
from tests.probing.analysis.figures import value

PROBE = MultipleChoice()


@pytest.fixture
def rows(benchmark: Benchmark, model: FakeModel) -> pd.DataFrame:
    parts = [(relation, template) for relation in benchmark.relations for template in range(3)]
    frames = [PROBE.frame(list(PROBE.rows(model, relation, template, Settings()))) for relation, template in parts]
    return pd.concat(frames, ignore_index=True)


def test_scores_are_tidy_with_chance_and_what_follows_from_ranks(rows: pd.DataFrame) -> None:
    scores = PROBE.scores(rows)
    assert list(scores.columns) == SCORE_COLUMNS
    assert not scores.duplicated(["metric", "dimension", "group"]).any()
    dimensions = set(without_details(scores)["dimension"])
    assert dimensions == {"overall", "template", "relation", "domain", "cardinality"}
    assert value(scores, "chance") == pytest.approx((4 / 3 + 2 / 2) / 6)
    assert value(scores, "chance", "relation", "P36") == pytest.approx(0.5)
    assert value(scores, "precision_at_5") == 1
    assert value(scores, "mean_reciprocal_rank") == pytest.approx((1 / rows["rank"]).mean())


def test_overall_accuracy_is_the_mean_over_templates(rows: pd.DataFrame) -> None:
    by_template = rows.groupby("template")["correct"].mean()
    scores = PROBE.scores(rows)
    assert value(scores, "accuracy") == pytest.approx(by_template.mean())
    assert value(scores, "accuracy_sem") == pytest.approx(sem(by_template))
    assert value(scores, "accuracy", "template", "1") == pytest.approx(by_template[1])
    assert set(scores[scores.dimension == "overall"]["n"]) == {6}


def test_items_with_fewer_templates_than_others_and_a_single_template_have_no_spread(rows: pd.DataFrame) -> None:
    some = rows[(rows.template == 0) | (rows.relation == "P30")]
    for part in (some, rows[rows.template == 0]):
        assert "accuracy_sem" not in set(PROBE.scores(part)["metric"])


def test_unknown_ranks_give_no_ranking(rows: pd.DataFrame) -> None:
    rows.loc[0, "rank"] = pd.NA
    assert {"precision_at_5", "mean_reciprocal_rank"}.isdisjoint(PROBE.scores(rows)["metric"])


def test_rows_read_back_from_parquet_give_the_same_scores(rows: pd.DataFrame) -> None:
    stored = BytesIO()
    rows.to_parquet(stored)
    pd.testing.assert_frame_equal(PROBE.scores(pd.read_parquet(stored)), PROBE.scores(rows))


def test_the_real_bear_has_the_papers_supports_and_chance(real_bear: Path) -> None:
    rows = [
        {"relation": relation.id, "template": 0}
        | choice_row(
            relation,
            prompt(relation.templates[0], item.subject),
            item,
            -np.arange(size, dtype=float),
            np.ones(size, dtype=bool),
        )
        for relation in bear.read(real_bear).relations
        for size in [len(relation.answer_space)]
        for item in relation.items
    ]
    scores = PROBE.scores(PROBE.frame(rows))
    domains = scores[(scores.metric == "accuracy") & (scores.dimension == "domain")].set_index("group")["n"]
    assert domains.to_dict() == {
        **{"Biographical": 2028.5, "Arts": 1368, "Geographic": 1226, "Movies": 975, "Economic": 770},
        **{"Sports": 455, "Historical": 393.5, "Scientific": 360, "Political": 155},
    }
    assert value(scores, "chance") == pytest.approx(0.046824, abs=5e-7)
    # Always the first option is right as often as chance where answers are balanced.
    assert value(scores, "accuracy") == pytest.approx(value(scores, "chance"))
