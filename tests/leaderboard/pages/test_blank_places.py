"""Right answers by the place of the blank."""

import numpy as np
import pytest
from django.test import Client

from leaderboard.figures import benchmarks, item_rows
from leaderboard.models import Run
from leaderboard.pages.run_answers import ANOTHER_TEST, FIRST, INSIDE, LAST, ONLY_FIRST, by_place, place_of_blank
from probing.analysis.intervals import figure_interval
from tests.conftest import BearFolder
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows

pytestmark = pytest.mark.django_db


def test_a_blank_is_last_or_inside_or_before_the_subject() -> None:
    places = {
        "[X] lies in [Y].": LAST,
        "The place where [X] lies is [Y]": LAST,
        "[X] lies in [Y] and nowhere else.": INSIDE,
        "[Y] is where [X] lies.": FIRST,
        "It is in [Y] that [X] lies.": FIRST,
        "“[Y]” is the answer.": FIRST,
    }
    assert {template: place_of_blank(template) for template in places} == places


def run_on(folder: BearFolder, templates: list[str], kind: str = "causal") -> Run:
    for relation in folder.metadata.values():
        relation["templates"] = templates
    on, _ = benchmarks.install("bear", folder.write(), "small", "Small")
    run = make.measured(on, make.model("org/one", kind=kind), 1.0, templates=tuple(range(len(templates))))
    make.restore_figures(on)
    return run


def test_the_figures_are_what_one_counts_in_the_stored_rows(bear_folder: BearFolder) -> None:
    run = run_on(bear_folder, ["[X] has [Y].", "Of [X] it is said that it has [Y].", "[Y] is what [X] has."])
    rows = item_rows.frame(run, ["relation", "index", "template", "correct"])
    last = rows[rows["template"] < 2].groupby(["relation", "index"])["correct"].mean()
    first = rows[rows["template"] == 2].groupby(["relation", "index"])["correct"].mean()
    figures = by_place(run)
    assert [figure["group"] for figure in figures] == [LAST, FIRST]
    for figure, shares in zip(figures, (last, first), strict=True):
        assert (figure["value"], figure["n"]) == (pytest.approx(float(np.mean(shares))), len(shares))
        expected = figure_interval(shares.to_numpy(dtype=float), np.zeros(len(shares), dtype=np.int64))
        assert (figure["low"], figure["high"]) == pytest.approx(expected)


def test_they_stand_beside_the_score_and_in_a_breakdown(client: Client, bear_folder: BearFolder) -> None:
    run = run_on(bear_folder, ["[X] has [Y].", "[Y] is what [X] has."])
    html = " ".join(client.get(f"{run.get_absolute_url()}?by=place").content.decode().split())
    last, first = by_place(run)
    assert f"<strong>{last['value']:.3f}</strong> blank last" in html
    assert f"<strong>{first['value']:.3f}</strong> blank before the subject" in html
    assert ANOTHER_TEST in html
    assert "Blank last, for example “X has ____.”" in html
    assert "Blank before the subject, for example “____ is what X has.”" in html
    rows = csv_rows(client, f"{run.get_absolute_url()}?by=place", "breakdown")
    assert [(row["group"], float(row["value"])) for row in rows] == [(LAST, last["value"]), (FIRST, first["value"])]


def test_a_model_that_reads_both_sides_is_asked_the_same(client: Client, bear_folder: BearFolder) -> None:
    run = run_on(bear_folder, ["[X] has [Y].", "[Y] is what [X] has."], kind="masked")
    assert ANOTHER_TEST not in client.get(f"{run.get_absolute_url()}?by=place").content.decode()


def test_one_place_needs_no_figures_but_a_caution_if_it_is_before_the_subject(
    client: Client, bear_folder: BearFolder
) -> None:
    run = run_on(bear_folder, ["[Y] is what [X] has."])
    headline = client.get(run.get_absolute_url()).context["headline"]
    assert (headline["places"], headline["cautions"]) == ((), [ONLY_FIRST])
