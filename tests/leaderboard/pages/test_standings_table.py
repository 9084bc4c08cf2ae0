"""The columns that a leaderboard offers, and the filter that a query string asks for."""

from django.http import QueryDict
from django.test import Client

from leaderboard.figures.runs import ANY_VERSION
from leaderboard.figures.scores import Slice
from leaderboard.pages.standings_table import offered_slices, read_filter
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows


def test_a_query_string_chooses_columns_and_facets(db: None) -> None:
    culture = make.benchmark(probe="ranking")
    offered = [Slice("culture_pair", "arab-west"), Slice("culture_pair_culture", "arab-west Arab")]
    filters = read_filter(QueryDict("kind=causal&search= x "), culture, offered)
    assert (filters.metric, filters.chosen, filters.search) == ("p_at_1", {"kind": "causal"}, "x")
    assert list(filters.slices) == [offered[0]]


def test_measured_runs_on_imported_trex_files_share_no_table_with_published_relative_accuracies(
    client: Client, db: None
) -> None:
    trex = make.benchmark("trex", probe="cloze", path="benchmarks/trex")
    make.printed(
        make.benchmark("trex", version=ANY_VERSION, probe="cloze", current=False),
        [{"metric": "relative_accuracy_lm_pub_quiz", "value": 0.7}],
        make.model("org/printed", source=make.Model.Source.PUBLISHED),
        settings={"options": {"experience": 1}},
    )
    make.finished(trex, 0.4, make.model("org/measured"))
    (measured,) = csv_rows(client, "/benchmarks/trex/")
    assert (measured["model"], measured["rank"], measured["accuracy"]) == ("org/measured", "≈ 1", "0.4")
    assert "relative_accuracy_lm_pub_quiz" not in measured
    (paper,) = csv_rows(client, "/benchmarks/trex/", "published")
    assert (paper["model"], paper["relative_accuracy_lm_pub_quiz"]) == ("org/printed", "0.7")


def test_columns_are_offered_for_groups_but_not_for_fine_dimensions(db: None) -> None:
    benchmark = make.benchmark(probe="ranking")
    run = make.run(make.model(), benchmark, make.Run.State.FINISHED)
    for dimension, group in (("culture_pair", "arab-west"), ("culture_pair_language_relation", "arab-west en P37")):
        make.score(run, 0.5, dimension, group, metric="p_at_1")
    assert offered_slices(benchmark) == [Slice("culture_pair", "arab-west")]


def test_columns_and_facets_that_do_not_exist_are_left_out(db: None) -> None:
    offered = [Slice("domain", "Arts")]
    query = QueryDict("columns=domain:Arts&columns=domain:None&columns=nonsense&colour=red")
    filters = read_filter(query, make.benchmark(), offered)
    assert (list(filters.slices), filters.chosen) == (offered, {})
