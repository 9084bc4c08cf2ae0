"""What a run's main figure hides: the folds on wording and confidence, and right answers by the place of the blank."""

import re

import numpy as np
import pytest
from django.http import QueryDict
from django.test import Client

from leaderboard.figures import benchmarks, item_rows
from leaderboard.models import Benchmark, Run
from leaderboard.pages import run_folds
from leaderboard.pages.run_folds import ANOTHER_TEST, FIRST, INSIDE, LAST, ONLY_FIRST, by_place, place_of_blank
from probing.analysis.intervals import wilson
from probing.start_token import StartToken, TokenizerFacts
from tests.conftest import METADATA, BearFolder
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.ui.charts.plotted import plotted

pytestmark = pytest.mark.django_db


def page(client: Client, run: Run, query: str = "") -> str:
    return client.get(f"/runs/{run.pk}/{query}").content.decode()


def test_the_line_that_opens_it_has_the_main_figures(client: Client, site: Site) -> None:
    html = page(client, site.first)
    overall = site.first.scores.filter(dimension="overall")
    flips, points = (overall.get(metric=metric).value for metric in ("template_flips", "template_range"))
    assert f"{100 * flips:.0f} % of the questions get another answer" in html
    assert f"is right {100 * points:.1f} points more often" in html


def test_it_is_closed_until_one_of_its_tables_is_sorted(client: Client, site: Site) -> None:
    assert re.search(r'id="wording"\s*>', page(client, site.first))
    assert re.search(r'id="wording" open>', page(client, site.first, "?wordings-sort=-range"))


def test_the_wording_that_does_worst_is_named(client: Client, site: Site) -> None:
    lines = client.get(f"/runs/{site.first.pk}/?format=csv&table=wordings").getvalue().decode().splitlines()
    assert lines[0] == "relation,template_0,template_1,range,flips,items,worst"
    for line in lines[1:]:
        relation, first, second, difference, *_, worst = line.split(",")
        assert float(difference) == pytest.approx(abs(float(first) - float(second)))
        sentences = [text.replace("[X]", "X").replace("[Y]", "____") for text in METADATA[relation]["templates"]]
        assert worst in sentences


def test_details_are_kept_out_of_the_main_figures_and_the_breakdowns(client: Client, site: Site) -> None:
    head = page(client, site.first).split('id="details"')[0]
    assert "template_flips" not in head
    assert "Template flips" not in head
    assert "variance_share_item" in client.get(f"/runs/{site.first.pk}/?format=csv").getvalue().decode()


def test_a_run_with_one_template_has_none(small: Benchmark) -> None:
    run = make.measured(small, make.model(), skill=1, templates=(0,))
    assert run_folds.wording_fold(run, list(run.scores.all())) is None


def test_a_run_without_stored_items_has_no_folds(client: Client, site: Site) -> None:
    make.score(site.published, 0.2, metric="template_flips")
    assert 'id="details"' not in page(client, site.published)


def test_a_fold_is_open_where_the_query_names_it(site: Site) -> None:
    fold = run_folds.wording_fold(site.first, list(site.first.scores.all()))
    assert fold
    assert [fold.is_open(QueryDict(query)) for query in ("", "wording=1", "wordings-page=2", "sort=value")] == [
        False,
        True,
        True,
        False,
    ]


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
    assert [figure.place for figure in figures] == [LAST, FIRST]
    for figure, shares in zip(figures, (last, first), strict=True):
        assert (figure.value, figure.n) == (pytest.approx(float(np.mean(shares))), len(shares))
        assert (figure.low, figure.high) == pytest.approx(wilson(figure.value, figure.n))


def test_they_stand_beside_the_score_and_in_a_table(client: Client, bear_folder: BearFolder) -> None:
    run = run_on(bear_folder, ["[X] has [Y].", "[Y] is what [X] has."])
    html = " ".join(client.get(run.get_absolute_url()).content.decode().split())
    last, first = by_place(run)
    assert f"<strong>{last.value:.3f}</strong> blank last" in html
    assert f"<strong>{first.value:.3f}</strong> blank before the subject" in html
    assert ANOTHER_TEST in html
    rows = csv_rows(client, run.get_absolute_url(), "places")
    assert [(row["place"], float(row["value"]), row["example"]) for row in rows] == [
        ("blank last", last.value, "X has ____."),
        ("blank before the subject", first.value, "____ is what X has."),
    ]


def test_a_model_that_reads_both_sides_is_asked_the_same(client: Client, bear_folder: BearFolder) -> None:
    run = run_on(bear_folder, ["[X] has [Y].", "[Y] is what [X] has."], kind="masked")
    assert ANOTHER_TEST not in client.get(run.get_absolute_url()).content.decode()


def test_one_place_needs_no_figures_but_a_caution_if_it_is_before_the_subject(
    client: Client, bear_folder: BearFolder
) -> None:
    run = run_on(bear_folder, ["[Y] is what [X] has."])
    headline = client.get(run.get_absolute_url()).context["headline"]
    assert (headline.places, headline.cautions) == ((), [ONLY_FIRST])


def test_wordings_are_called_by_their_sentences(client: Client, bear_folder: BearFolder) -> None:
    run = run_on(bear_folder, ["[X] has [Y].", "[Y] is what [X] has."])
    html = client.get(run.get_absolute_url()).content.decode()
    assert "“X has ____.”" in html
    assert "“____ is what X has.”" in html


def test_the_caution_about_the_start_token_stands_beside_the_score(client: Client, bear_folder: BearFolder) -> None:
    run = run_on(bear_folder, ["[X] has [Y]."])
    start = StartToken("auto", 1, "<|im_start|>", "bos", marks_roles=True)
    facts = TokenizerFacts("BPE", 49152, lower_cases=False, adds_space=False, start=start)
    record = {**run.provenance_record, "model": {"tokenizer": {**vars(facts), "start": vars(start)}}}
    Run.objects.filter(pk=run.pk).update(provenance_record=record)
    html = client.get(run.get_absolute_url()).content.decode()
    assert html.count("figures with another start token can differ by points") == 1
    assert html.index("can differ by points") < html.index("Reproduce this run")


# The fold on confidence.


def overall(run: Run, metric: str) -> float:
    return run.scores.get(metric=metric, dimension="overall").value


def test_the_line_that_opens_it_compares_confidence_and_accuracy(client: Client, site: Site) -> None:
    html = client.get(f"/runs/{site.first.pk}/").content.decode()
    sure, right = overall(site.first, "max_softmax"), overall(site.first, "accuracy")
    assert f"gives {100 * sure:.0f} % to its prediction, which is right in {100 * right:.0f} % of the cases" in html


def test_the_tables_have_the_stored_scores(client: Client, site: Site) -> None:
    rows = csv_rows(client, f"/runs/{site.first.pk}/", "confidences")
    assert float(rows[0]["value"]) == overall(site.first, "max_softmax")
    for dimension in ("max_softmax_bin", "softmax_margin_bin"):
        bins = csv_rows(client, f"/runs/{site.first.pk}/", dimension)
        assert sum(float(row["n"]) for row in bins) == pytest.approx(6)
        values = [float(row["confidence"]) for row in bins]
        assert values == sorted(values)


def test_only_the_largest_probability_is_compared_with_the_diagonal(site: Site) -> None:
    fold = run_folds.confidence_fold(list(site.first.scores.all()))
    assert fold
    charts = [section.chart for section in fold.sections if section.chart]
    assert [len(plotted(chart.figure).layout.shapes) for chart in charts] == [1, 0]


def test_a_run_without_scores_of_confidence_has_none(site: Site) -> None:
    assert run_folds.confidence_fold(list(site.published.scores.all())) is None
