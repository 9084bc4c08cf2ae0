"""What the pages know of a probe: its metrics, titles, slices and switches."""

import pytest
from django.http import QueryDict

from leaderboard.models import Benchmark
from leaderboard.probes import PAGES, pages_of
from leaderboard.probes.probe_pages import ProbePages, relation_slice
from leaderboard.ui.sections import Switch
from probing.benchmark import Relation

CLOZE = ProbePages(secondary_metrics=("in_top_1",), published_metrics={"trex": "relative_accuracy"})


def benchmark(slug: str, path: str = "") -> Benchmark:
    return Benchmark(slug=slug, probe="cloze", path=path)


def test_every_probe_that_has_no_pages_of_its_own_has_the_default_ones() -> None:
    assert pages_of(Benchmark(probe="not_yet_known")) == ProbePages()


@pytest.mark.parametrize(
    ("slug", "path", "metric", "beside"),
    [
        ("trex", "", "relative_accuracy", ["in_top_1"]),
        ("trex", "benchmarks/trex", "accuracy", ["in_top_1"]),
        ("geography", "", "accuracy", ["in_top_1"]),
        ("geography", "benchmarks/geography", "accuracy", ["in_top_1"]),
    ],
)
def test_published_figures_rank_models_only_where_the_files_are_not_here(
    slug: str, path: str, metric: str, beside: list[str]
) -> None:
    assert CLOZE.main_metric(benchmark(slug, path)) == metric
    assert CLOZE.metrics_beside(benchmark(slug, path)) == beside


def test_the_main_metric_is_that_of_the_probe(subtests: pytest.Subtests) -> None:
    for probe, pages in PAGES.items():
        with subtests.test(probe):
            measured = Benchmark(slug="mine", probe=probe, path="benchmarks/mine")
            assert pages.main_metric(measured) == measured.main_metric
            assert measured.main_metric not in pages.metrics_beside(measured)


def test_a_metric_has_the_title_of_its_probe_or_else_a_readable_name() -> None:
    pages = ProbePages(metric_labels={"p_at_1": "P@1"})
    assert [pages.metric_label(name) for name in ("p_at_1", "accuracy_sem", "head_size")] == [
        "P@1",
        "Standard error over wordings",
        "Head size",
    ]


def test_the_scores_of_a_relation_are_found_by_its_label_or_by_the_name_in_the_address() -> None:
    relation = Relation("P30.en", ("[X] is in [Y].",), ("Asia",), (), tags={"predicate": "P30"})
    assert relation_slice(relation, "P30.en") == ("relation", "P30")
    assert relation_slice(None, "P36") == ("relation", "P36")


def test_switches_are_read_in_their_order() -> None:
    pages = ProbePages(switches=[Switch("types", "major", "All", "Major"), Switch("leaks", "none", "All", "None")])
    assert pages.switched_on(QueryDict("leaks=none&types=minor")) == [False, True]
