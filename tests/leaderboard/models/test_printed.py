"""Rows of printed figures."""

from typing import Any

import pytest

from leaderboard.models import Benchmark, Printed
from leaderboard.models.printed import printed_rows
from tests.leaderboard import factories as make


@pytest.mark.parametrize(
    ("paper", "citation", "reference"),
    [
        (
            {"title": "A board", "authors": "Ada Lovelace, contributors", "year": None},
            "A board",
            "Ada Lovelace, contributors: A board, Table 1",
        ),
        (
            {"title": "A paper", "authors": "Ada Lovelace, Alan Turing", "year": 1950, "url": ""},
            "Lovelace et al. 1950",
            "Ada Lovelace, Alan Turing (1950): A paper, Table 1",
        ),
        ({"title": "A page", "authors": ""}, "A page", "A page, Table 1"),
    ],
)
def test_a_source_is_cited_by_author_and_year_or_by_its_title(
    tiny: Benchmark, paper: dict[str, Any], citation: str, reference: str
) -> None:
    row = make.published(tiny, source=paper)
    assert (row.citation, row.reference, row.source) == (citation, reference, f"published: {reference}")
    assert row.reference_url == ""


def test_figures_of_one_row_of_a_source_are_one_row_of_lists(tiny: Benchmark) -> None:
    first, second = make.published(tiny, 0.5), make.published(tiny, 0.6, settings={"language": "ar"})
    rows = printed_rows(Printed.objects.all())
    assert [row.pk for row in rows] == [first.pk, second.pk]
    assert all(row.pk < 0 and {score.run_id for score in row.scores} == {row.pk} for row in rows)
    assert [score.value for score in rows[1].scores] == [0.6, 0.6, 0.6]
    assert (rows[0].settings_group, rows[1].settings_group) == ("", "language ar")
    assert str(rows[0].first).endswith("accuracy 0.5")
