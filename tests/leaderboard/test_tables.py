"""Rows of tables in the order, on the page and in the file that a query string asks for."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.http import HttpRequest
from django.template import Context, Template
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.utils import timezone

from leaderboard.models import Score
from leaderboard.tables import download, filled, ordered, page_of
from leaderboard.ui.table_files import written

COLUMNS = ("name", "score", "commit")
ROWS: list[dict[str, Any]] = [
    {"name": name, "score": score, "commit": "c0ffee", "band": band}
    for name, score, band in [
        ("b", 0.2, "ranked"),
        ("c", None, "ranked"),
        ("a", 0.5, "ranked"),
        ("e", None, "published"),
        ("d", 0.9, "published"),
    ]
]


def request_for(query: str = "", path: str = "/queue/") -> HttpRequest:
    return RequestFactory().get(f"{path}?{query}")


@pytest.mark.parametrize(
    ("query", "within", "order"),
    [
        ("", "", "bcaed"),
        ("sort=score", "", "badce"),
        ("sort=-score", "", "dabce"),
        ("sort=-score", "band", "abcde"),
        ("sort=-name", "band", "cbaed"),
        ("sort=commit", "", "bcaed"),
        ("sort=band", "", "bcaed"),
        ("models-sort=name", "", "bcaed"),
    ],
)
def test_rows_are_sorted_within_their_groups_with_missing_values_last(query: str, within: str, order: str) -> None:
    assert "".join(row["name"] for row in ordered(ROWS, request_for(query), COLUMNS, within=within)) == order


def test_a_text_that_is_empty_is_missing_in_either_direction() -> None:
    rows = [{"licence": licence} for licence in ("mit", "", "apache-2.0", None)]
    for query, order in (("sort=licence", ["apache-2.0", "mit"]), ("sort=-licence", ["mit", "apache-2.0"])):
        assert [row["licence"] for row in ordered(rows, request_for(query), ("licence",))] == [*order, "", None]


def test_a_column_can_be_sorted_by_something_else_than_its_value() -> None:
    steps = [{"revision": f"step{number}"} for number in (10, 9, 100)]
    rows = ordered(
        steps, request_for("sort=-revision"), ("revision",), keys={"revision": lambda row: len(row["revision"])}
    )
    assert [row["revision"] for row in rows] == ["step100", "step10", "step9"]


def test_a_table_beside_the_main_one_has_parameters_of_its_own() -> None:
    assert ordered(ROWS, request_for("models-sort=name"), COLUMNS, "models")[0]["name"] == "a"
    assert list(page_of(ROWS, request_for("models-page=2"), "models", size=2)) == ROWS[2:4]


@pytest.mark.parametrize(
    ("text", "first"), [("", 0), ("2", 2), ("99", 4), ("0", 4), ("-3", 4), ("x", 0), ("1.5", 0), ("9" * 5000, 0)]
)
def test_a_page_that_does_not_exist_is_the_last_and_other_text_the_first(text: str, first: int) -> None:
    assert page_of(ROWS, request_for(f"page={text}"), size=2)[0] == ROWS[first]


def test_columns_without_a_value_can_be_told_from_the_others() -> None:
    rows = [{"zero": 0, "none": None, "empty": ""}, {"zero": 0, "none": None, "empty": ""}]
    assert filled(rows, ("zero", "none", "empty")) == {"zero"}


FILES = {
    "models": (("name", "score", "right"), [{"name": "=1+1", "score": 1e-9, "right": True, "not in the file": 1}]),
    "empty": (("name",), []),
    "times": (
        ("time", "wait", "infinite"),
        [{"time": datetime(2026, 5, 1, 12, tzinfo=UTC), "wait": timedelta(minutes=1.5), "infinite": float("inf")}],
    ),
}


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("", "name,score,right\n'=1+1,1e-09,true\n"),
        ("&table=empty", "name\n"),
        ("&table=times", "time,wait,infinite\n2026-05-01T12:00:00+00:00,90,inf\n"),
    ],
)
def test_a_table_as_csv_has_full_values_and_no_formulas(query: str, text: str) -> None:
    response = download(request_for(f"format=csv{query}"), FILES)
    assert response is not None
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response.content.decode() == text


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("", [{"name": "=1+1", "score": 1e-9, "right": True}]),
        ("&table=empty", []),
        ("&table=times", [{"time": "2026-05-01T12:00:00+00:00", "wait": 90, "infinite": None}]),
    ],
)
def test_the_same_table_as_json_has_numbers_as_numbers(query: str, rows: list[dict[str, Any]]) -> None:
    response = download(request_for(f"format=json{query}"), FILES)
    assert response is not None
    assert response["Content-Type"] == "application/json"
    assert json.loads(response.content, parse_constant=pytest.fail) == rows


def test_times_in_files_are_local_with_their_zone() -> None:
    with timezone.override("Asia/Tokyo"):
        assert written(datetime(2026, 1, 31, 23, 30, 15, tzinfo=UTC)) == "2026-02-01T08:30:15+09:00"


def test_a_file_is_named_after_its_page_and_its_table() -> None:
    names = []
    for query in ("format=csv", "format=csv&table=empty"):
        response = download(request_for(query), FILES)
        assert response is not None
        names.append(response["Content-Disposition"])
    assert names == [f'attachment; filename="clozeboard-queue-{name}.csv"' for name in ("models", "empty")]


def test_an_unknown_table_is_not_found_and_a_page_is_no_file() -> None:
    assert download(request_for("format=xml"), FILES) is None
    response = download(request_for("format=csv&table=x"), FILES)
    assert response is not None
    assert (response.status_code, response.content.decode()) == (
        404,
        "There is no table 'x' here. Tables of this page: models, empty, times.\n",
    )


# What templates put around the rows.


TABLE = """{% load clozeboard %}{% table "models" "Models" rows page=page main=main empty="None yet." %}
<thead>{% sort_head "name" "Name" "head" prefix=prefix %}{% sort_head "score" "Score" "score" prefix=prefix %}
{% sort_head "commit" "Commit" prefix=prefix %}</thead>
<tbody>{% for row in rows %}<td class="score{{ row.score|empty }}"></td>{% endfor %}</tbody>{% endtable %}"""


def shown(query: str, rows: list[dict[str, Any]], *, main: bool = True) -> str:
    request, prefix = request_for(query), "" if main else "models"
    context = {"request": request, "rows": rows, "main": main, "prefix": prefix}
    html = Template(TABLE).render(Context(context | {"page": page_of(rows, request, prefix, size=2)}))
    return " ".join(html.split())


def test_heads_sort_numbers_from_the_highest_and_the_other_way_round_once_sorted() -> None:
    html = shown("sort=-score&page=2&other=1", ROWS)
    assert 'class="score" aria-sort="descending"' in html
    assert html.count('href="?other=1&amp;sort=score"') == 2, "once more above the cards of a narrow screen"
    assert html.count('href="?other=1&amp;sort=name"') == 2
    assert html.count('href="?other=1&amp;sort=commit"') == 1, "neither a name nor a figure"
    assert 'href="?other=1&amp;sort=-score"' in shown("other=1", ROWS)


def test_a_table_beside_the_main_one_stays_in_view_when_it_is_sorted() -> None:
    html = shown("", ROWS, main=False)
    assert 'href="?models-sort=-score#table-models"' in html
    assert 'href="?models-page=2"' in html


def test_a_table_says_how_many_rows_it_has_and_leads_to_their_file() -> None:
    html = shown("page=2&sort=name", ROWS)
    assert "5 rows" in html
    assert 'href="?sort=name&amp;format=csv&amp;table=models"' in html
    assert html.count('class="score empty"') == 2


def test_a_table_without_rows_has_a_sentence_in_their_place() -> None:
    html = shown("", [])
    assert "None yet." in html
    assert "<table" not in html


def score_cell(score: Score | None, **context: Any) -> str:
    return re.sub(r"\s+", " ", render_to_string("cells/score.html", {"score": score, **context}))


def test_a_score_stands_with_its_mark_its_bar_and_its_intervals() -> None:
    score = Score(value=0.5, low=0.4, high=0.6, cluster_low=0.3, cluster_high=0.7)
    html = score_cell(score, mark="published", chance=0.25)
    assert '<span class="mark published" title="published">' in html
    assert ">0.500</span><svg" in html
    for place in ('x1="25.00%"', 'x1="40.00%" x2="60.00%"', 'cx="50.00%"'):
        assert place in html
    assert '<span class="uncertainty"> ± 0.100</span>' in html
    note = "95 % interval 0.400 to 0.600 on these relations, 0.300 to 0.700 on other relations like these"
    assert html.count(note) == 2, "as a tooltip, and read out"


def test_a_p_value_has_the_digits_of_papers_and_no_bar() -> None:
    html = score_cell(Score(metric="p_value_mean", value=5.98e-4), href="/runs/4/")
    assert '<a class="score" href="/runs/4/"' in html
    assert ">5.98 × 10⁻⁴</a>" in html
    assert "<svg" not in html


def test_a_figure_that_is_no_share_has_no_bar_and_a_missing_one_says_why() -> None:
    assert "<svg" not in score_cell(Score(value=12.5))
    shown = [score_cell(score) for score in (None, Score(value=None, n=4), Score(value=None, n=0))]
    for html, words in zip(shown, ("not measured", "no mean", "no countable questions"), strict=True):
        assert words in html
