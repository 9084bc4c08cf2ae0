"""Who knows most: the best of a column, what is level with it, and which models are variants of one another."""

import pytest

from leaderboard.figures.leaders import folded, leader, ranked
from leaderboard.figures.overview import BenchmarkColumn, Measure, ModelKey, ModelRow, Overview, overview
from leaderboard.figures.scores import OVERALL_SLICE
from leaderboard.models import Benchmark
from tests.leaderboard import factories as make


def shown(*benchmarks: Benchmark) -> Overview:
    return overview([Measure(on.title, "Facts", [on], ("accuracy",), OVERALL_SLICE) for on in benchmarks])


def test_figures_that_are_no_shares_have_no_best(tiny: Benchmark) -> None:
    make.finished(tiny, 0.5)
    of = shown(tiny)
    (column,) = of.columns
    (row,) = of.rows
    figure = row.figures["tiny"]._replace(value=1.5)
    other = BenchmarkColumn(column.measure, column.metric, column.version, None, {row.key: figure})
    assert ranked([ModelRow(row.key, "causal", 7, {"tiny": figure})], other) == []


@pytest.mark.parametrize(
    ("names", "firsts"),
    [
        (["org/a-7b", "org/a-7b-Instruct", "org/a-7b-GGUF"], ["org/a-7b"]),
        (["org/a-Instruct-v0.1", "org/a-v0.1"], ["org/a-Instruct-v0.1"]),
        (["org/a-4bit", "org/a-Q4_K_M", "org/a-base"], ["org/a-4bit"]),
        (["org/a-7b", "other/a-7b-Instruct", "org/a-8b"], ["org/a-7b", "other/a-7b-Instruct", "org/a-8b"]),
        (["org/bert-base-cased", "org/bert-large-cased"], ["org/bert-base-cased", "org/bert-large-cased"]),
    ],
)
def test_variants_are_told_by_their_names(names: list[str], firsts: list[str]) -> None:
    rows = [ModelRow(ModelKey(name), "causal", None, {}) for name in names]
    assert [key.hub_id for key in folded(rows)] == firsts


def test_models_of_another_size_are_no_variants() -> None:
    rows = [
        ModelRow(ModelKey(name), "causal", size, {}) for name, size in (("org/a", 10**9), ("org/a-chat", 2 * 10**9))
    ]
    assert len(folded(rows)) == 2
    alike = [ModelRow(ModelKey("org/a"), "causal", 10**9, {}), ModelRow(ModelKey("org/a", "Q4_1"), "causal", 10**9, {})]
    assert folded(alike) == {alike[0].key: [alike[1]]}


def test_a_stated_standard_error_makes_published_models_level(tiny: Benchmark) -> None:
    for name, value in (("a", 0.66), ("b", 0.65), ("c", 0.5)):
        run = make.published(tiny, value)
        run.scores.update(low=None, high=None)
        make.score(run, 0.01, metric="accuracy_sem")
        run.model.hub_id = f"org/{name}"
        run.model.save()
    of = shown(tiny)
    (column,) = of.columns
    best = leader(ranked(of.rows, column))
    assert best is not None
    assert ([row.hub_id for row in best.level], best.next) == (["org/b"], None)
    bold = {key.hub_id for key, figure in column.figures.items() if column.is_among_the_best(figure)}
    assert bold == {"org/a", "org/b"}


def test_without_any_interval_none_is_bold_and_the_next_is_named(tiny: Benchmark) -> None:
    for value in (0.631, 0.629):
        make.published(tiny, value).scores.update(low=None, high=None)
    of = shown(tiny)
    (column,) = of.columns
    assert not any(column.is_among_the_best(figure) for figure in column.figures.values())
    best = leader(ranked(of.rows, column))
    assert best is not None and best.next is not None
    assert (best.level, best.next[0].value) == ([], 0.629)
