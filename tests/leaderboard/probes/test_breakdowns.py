"""Tables of groups, and the columns of items, which depend on the probe."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from leaderboard.figures.scores import Group
from leaderboard.models import Benchmark, Run, Score
from leaderboard.probes.breakdowns import MOST_CHARTED, WORDINGS, dimension_section
from leaderboard.probes.items import ColumnValues, ItemColumns, item_url, right_or_wrong, stored_text
from leaderboard.probes.probe_pages import ProbePages
from tests.leaderboard.ui.charts.plotted import plotted

PAGES = ProbePages(metric_labels={"chance": "Chance"})


def run(probe: str = "multiple_choice", path: str = "") -> Run:
    return Run(benchmark=Benchmark(slug="tiny", probe=probe, path=path))


def group(name: str, accuracy: float | None, **others: float) -> Group:
    values = {"accuracy": accuracy, **others}
    scores = {metric: Score(metric=metric, group=name, value=value, n=10) for metric, value in values.items()}
    return Group(name, scores, scores["accuracy"])


def columns(groups: Sequence[Group], of: Run | None = None, dimension: str = "domain") -> list[str]:
    section = dimension_section(of or run(), PAGES, dimension, groups)
    assert section.table
    return [column.name for column in section.table.columns]


def test_a_group_has_the_main_metric_with_its_interval_then_every_other_one() -> None:
    intervals = ["low", "high", "cluster_low", "cluster_high"]
    assert columns([group("Arts", 0.5, chance=0.1)]) == ["group", "value", *intervals, "n", "chance"]


def test_groups_without_the_main_metric_have_no_column_for_it() -> None:
    other = Group("Arts", {"perplexity": Score(metric="perplexity", value=3.0, n=1)}, None)
    assert columns([other]) == ["group", "perplexity"]


def test_groups_without_the_main_metric_are_not_titled_with_it() -> None:
    other = Group("true", {"perplexity": Score(metric="perplexity", value=3.0, n=1)}, None)
    for groups, caption in (([other], "Scores by truth"), ([group("true", 0.5)], "Accuracy by truth")):
        table = dimension_section(run(), PAGES, "truth", groups).table
        assert table and table.caption == caption


def test_fractions_of_items_are_explained() -> None:
    whole, half = group("Arts", 0.5), group("Sports", 0.5)
    half.scores["accuracy"].n = 2.5
    assert dimension_section(run(), PAGES, "domain", [whole]).note == ""
    section = dimension_section(run(), PAGES, "domain", [whole, half])
    assert "numbers of questions can be fractions" in section.note and section.table
    (column,) = [column for column in section.table.columns if column.name == "n"]
    assert "equal parts" in column.cell(half).note


def test_a_section_is_named_by_its_dimension() -> None:
    section = dimension_section(run(), PAGES, "culture_pair", [group("arab-west", 0.5)])
    assert (section.name, section.title) == ("culture_pair", "By culture pair")


def test_published_figures_are_hollow_and_have_no_number_of_items() -> None:
    published = Run(benchmark=Benchmark(slug="tiny", probe="multiple_choice"), provenance=Run.Provenance.PUBLISHED)
    figure = group("P30", 0.45)
    figure.scores["accuracy"].n = 0
    table = dimension_section(published, PAGES, "relation", [figure]).table
    assert table
    assert [column.name for column in table.columns if column.shown] == ["group", "value"]
    assert table.columns[1].cell(figure).mark == "published"


def test_a_chart_needs_two_groups_with_values() -> None:
    assert dimension_section(run(), PAGES, "domain", [group("Arts", 0.5), group("Sports", None)]).chart is None
    chart = dimension_section(run(), PAGES, "domain", [group("Arts", 0.5), group("Sports", 0.25)]).chart
    assert chart
    assert chart.summary == "Accuracy by domain: from 0.250 (Sports) to 0.500 (Arts) over 2 groups."


def test_a_chart_marks_the_chance_level_of_groups_that_have_one() -> None:
    groups = [group("Arts", 0.5, chance=0.1), group("Sports", 0.25)]
    chart = dimension_section(run(), PAGES, "domain", groups).chart
    assert chart
    ticks = next(trace for trace in plotted(chart.figure).data if trace.name == "chance")
    assert list(ticks.x) == [0.1]


def test_macro_averages_are_explained_except_for_relations() -> None:
    groups, specificity = [group("P30", 0.5)], run("specificity")
    assert specificity.benchmark.correctness.macro
    assert "macro-average" in dimension_section(specificity, PAGES, "domain", groups).note
    assert dimension_section(specificity, PAGES, "relation", groups).note == ""
    assert dimension_section(run(), PAGES, "domain", groups).note == ""


def test_a_relation_links_to_its_page_even_without_the_files_of_the_benchmark() -> None:
    table = dimension_section(run(), PAGES, "relation", [group("P30", 0.5)]).table
    assert table
    assert table.columns[0].cell(table.rows[0]).href == "/benchmarks/tiny/relations/P30/"


def test_long_lists_are_rows_with_both_intervals_and_chance_in_place_of_a_chart() -> None:
    groups = [replace(group(f"G{n}", 0.5, chance=0.1), wordings=(0.4, 0.6)) for n in range(MOST_CHARTED + 1)]
    assert dimension_section(run(), PAGES, "domain", groups[1:]).chart
    section = dimension_section(run(), PAGES, "domain", groups)
    assert section.chart is None and section.table
    bar = section.table.columns[1].cell(groups[0]).bar
    assert bar and (bar.least, bar.most, bar.chance) == (40, 60, 10)
    assert WORDINGS in section.note


def test_the_chart_draws_the_range_over_wordings_as_thin_lines() -> None:
    groups = [replace(group("Arts", 0.5), wordings=(0.4, 0.7)), group("Sports", 0.25)]
    chart = dimension_section(run(), PAGES, "domain", groups).chart
    assert chart
    thin = next(trace for trace in plotted(chart.figure).data if trace.name == "wordings")
    dots = next(trace for trace in plotted(chart.figure).data if trace.name == "score")
    assert list(thin.x) == [0.4, 0.7, None]
    assert thin.line.width < dots.error_x.thickness


def test_raw_names_are_put_into_words_and_stand_in_the_csv_as_they_are() -> None:
    table = dimension_section(run(), PAGES, "relation", [group("country_capital", 0.5)]).table
    assert table
    cell = table.columns[0].cell(table.rows[0])
    assert (cell.value, cell.text, cell.note) == ("country_capital", "Capital of a country", "country_capital")
    wordings = dimension_section(run(), PAGES, "template", [group("0", 0.5), group("1", 0.5)])
    assert wordings.title == "By wording" and wordings.table
    assert [wordings.table.columns[0].cell(row).text for row in wordings.table.rows] == ["Wording 1", "Wording 2"]


RUN = Run(pk=7, benchmark=Benchmark(slug="starter", probe="multiple_choice"))
VALUES: ColumnValues = {
    "subject": {"Chad", "Oslo"},
    "relation": {"P30", "P36"},
    "template": {0, 1},
    "index": {0, 3},
    "answer": {0, 2},
    "answer_label": {"Asia", "Oslo"},
    "prediction_label": {"Asia", "Oslo"},
    "correct": {True, False},
    "margin": {None},
    "language": {"en"},
    "domain": {"Arts", "Geography"},
    "scores": {object()},
}
ROW = {"subject": "Chad", "relation": "P30", "template": 1, "index": 3, "answer_label": "Africa", "language": "fr"}


def names(columns: ItemColumns, values: ColumnValues = VALUES, **shown: bool) -> list[str]:
    return [column["name"] for column in columns.shown(RUN, values, **shown)]


def test_columns_come_in_the_probes_order_then_the_place_then_everything_else() -> None:
    assert names(ItemColumns(("correct", "subject", "answer_label", "not_stored")), everything=True) == [
        *("correct", "subject", "answer"),
        *("relation", "template", "index"),
        *("prediction", "margin", "language", "domain"),
    ]


def test_the_csv_has_the_labels_of_answers_in_place_of_their_numbers() -> None:
    columns = {column["name"]: column for column in ItemColumns().shown(RUN, VALUES)}
    assert columns["answer"]["stored"] == "answer_label"
    assert "answer_label" not in columns


def test_a_page_shows_the_columns_that_tell_rows_apart() -> None:
    assert names(ItemColumns()) == ["subject", "answer", "prediction", "correct", "relation", "template", "index"]


def test_a_page_with_questions_leaves_out_the_numbers_of_wording_and_question() -> None:
    assert names(ItemColumns(), questions=True) == ["subject", "answer", "prediction", "correct", "relation"]
    assert ItemColumns().shown(RUN, VALUES, questions=True)[0]["title"] == "Question"


def test_narrow_screens_show_the_question_and_both_answers() -> None:
    columns = ItemColumns().shown(RUN, VALUES)
    assert [column["name"] for column in columns if not column["folded"]] == ["subject", "answer", "prediction"]


def test_a_row_has_the_band_of_its_answer() -> None:
    band = right_or_wrong(RUN)
    assert [band({"correct": correct}) for correct in (True, False, None)] == ["right", "wrong", ""]


def test_a_tag_is_shown_only_where_rows_differ_in_it_and_no_column_that_is_empty_throughout() -> None:
    for values, is_shown in (({0}, False), ({0, 1}, True), ({"en"}, False), ({"en", "fr"}, True), ({"en", None}, True)):
        assert names(ItemColumns(()), {"language": values}) == ["language"] * is_shown, values
    for values in ({None}, {""}, {None, ""}):
        assert names(ItemColumns(("rank",)), {"rank": values}) == [], values


def test_all_columns_can_be_shown_except_for_those_that_only_the_file_has() -> None:
    columns = names(ItemColumns(), everything=True)
    assert {"margin", "language", "domain"} < set(columns)
    assert "scores" not in columns


def test_columns_that_only_the_file_has_are_not_read() -> None:
    assert ItemColumns(file_only=("scores", "exact")).listed(["subject", "scores", "rank"]) == ["subject", "rank"]


def test_titles_of_the_probe_take_the_place_of_the_usual_ones() -> None:
    columns = ItemColumns(titles=lambda run, values: {"correct": f"In top {run.pk}"}).shown(
        RUN, VALUES, everything=True
    )
    titles = {column["name"]: column["title"] for column in columns}
    assert (titles["correct"], titles["prediction"], titles["index"]) == (
        "In top 7",
        "Model's answer",
        "Number of question",
    )
    assert titles["domain"] == "Domain"


def test_a_column_has_the_help_of_the_probe_or_the_usual_one() -> None:
    shown = ItemColumns(help={"correct": "By k."}).shown(RUN, VALUES, everything=True)
    columns = {column["name"]: column["help"] for column in shown}
    assert columns["correct"] == "By k."
    assert columns["margin"].startswith("Log-probability of the answer minus")
    assert columns["subject"] == ""


@pytest.mark.parametrize(
    ("name", "values", "align"),
    [
        ("subject", {"Chad", "Oslo"}, "head"),
        ("correct", {True, False}, ""),
        ("correct", {True, None}, ""),
        ("index", {0, 1}, "number"),
        ("margin", {-1.5, None}, "number"),
        ("language", {"en", "fr"}, ""),
        ("template", {0, 1}, "number"),
        ("answer_label", {"Asia", "Oslo"}, "wide"),
    ],
)
def test_columns_are_aligned_by_what_they_hold(name: str, values: set[object], align: str) -> None:
    (column,) = ItemColumns().shown(RUN, {name: values}, everything=True)
    assert column["align"] == align


def test_a_subject_links_to_its_item_and_answers_have_the_language_of_their_row() -> None:
    assert item_url(RUN, ROW) == "/benchmarks/starter/items/P30-3/?run=7&wording=2"
    columns = {column["name"]: column["is_text"] for column in ItemColumns().shown(RUN, VALUES)}
    assert (columns["subject"], columns["answer"], columns["relation"]) == (True, True, False)


def test_wordings_and_questions_count_from_one_and_groups_have_titles() -> None:
    shown = [stored_text(name, ROW[name], {"P30": "continent"}) for name in ("template", "index", "relation")]
    assert shown == ["2", "4", "continent"]
    assert [stored_text("rank", value, {}) for value in (None, 3, 0.5, True, ["a", "b"])] == [
        *("–", "3", "0.50", "yes", "a; b"),
    ]
