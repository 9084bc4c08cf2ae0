"""/compare/ : by run or by model, two to eight of them, what cannot be compared, and what was found."""

import numpy as np
import pytest
from django.test import Client

from leaderboard.figures.comparisons import (
    REASONS,
    Comparison,
    compared,
    disagreements,
    read_answers,
    ready_pairs,
)
from leaderboard.models import Benchmark, Model, Run, RunRank, Score
from leaderboard.pages.compare_page import PATTERNS_OFFERED
from leaderboard.pages.comparison_words import Side, charted, verdict
from leaderboard.probes.probe_pages import PREDICTION
from leaderboard.ui import charts, spelled
from leaderboard.ui.charts.basics import Point
from probing.analysis.paired_tests import RESULT_NAMES, SmallestDifference
from probing.analysis.verdicts import ALIKE, BETTER, WORSE
from probing.probes.probe import Probe
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.pages.html_table import Tables
from tests.leaderboard.ui.charts.plotted import plotted


@pytest.fixture
def eight(site: Site, small: Benchmark) -> list[Run]:
    more = [
        make.measured(small, make.model(f"org/{name}"), skill=place, seed=place) for place, name in enumerate("cdefgh")
    ]
    return [site.first, site.second, *more]


def address(runs: list[Run]) -> str:
    return "/compare/?" + "&".join(f"m={run.pk}" for run in runs)


def test_runs_and_models_mean_the_same(client: Client, site: Site) -> None:
    by_run = client.get(f"/compare/?m={site.first.pk}&m={site.second.pk}").content.decode()
    by_model = client.get("/compare/?m=org/first&m=org/second").content.decode()
    assert Tables(by_run).found == Tables(by_model).found


def test_each_way_to_disagree_leads_to_its_answers(client: Client, site: Site) -> None:
    at = address([site.first, site.second])
    ((everything, *links),) = client.get(at).context["patterns"]
    assert (everything.title, everything.current) == ("All", True)
    counted = 0
    for offered in links:
        shown = f"/compare/{offered.href}"
        rows = csv_rows(client, shown, "disagreements")
        assert offered.title.endswith(f"({len(rows)})")
        assert len({row["right"] for row in rows}) == 1
        assert [each.title for each in client.get(shown).context["patterns"][0] if each.current] == [offered.title]
        counted += len(rows)
    assert counted == len(csv_rows(client, at, "disagreements")) > 0


def test_disagreements_are_where_one_is_right_and_the_other_wrong(client: Client, site: Site) -> None:
    rows = csv_rows(client, address([site.first, site.second]), "disagreements")
    differences = csv_rows(client, address([site.first, site.second]), "differences")
    assert {row["right"] for row in rows} <= {"first", "second"}
    assert len(rows) == sum(
        n for pattern, n in compared(site.first.pk, site.second.pk).counts().items() if len(set(pattern)) == 2
    )
    assert int(differences[0]["gained"]) + int(differences[0]["lost"]) <= len(rows)
    for row in rows:
        assert row[row["right"]] == row["answer"]


def test_answers_of_runs_in_another_order_belong_together(site: Site) -> None:
    """The other run's file has its rows the other way round."""
    turned = make.reversed_items(site.second)
    straight = answered([site.first, site.second])
    assert len(straight) > 1
    assert answered([site.first, turned]) == straight


def answered(runs: list[Run]) -> list[tuple[str, list[bool], list[str]]]:
    """Return the rows on which runs disagree: the question, who is right, and their answers."""
    rows = disagreements(compared(*(run.pk for run in runs)), None)
    read_answers(runs, rows, PREDICTION)
    return [(row["subject"], row["right"], row["answers"]) for row in rows]


def test_of_two_runs_the_differences_are_on_top_and_have_their_figures(client: Client, site: Site) -> None:
    at = address([site.first, site.second])
    page = client.get(at)
    html = page.content.decode()
    assert html.index('id="section-groups"') < html.index('id="disagreements"') < html.index('id="differences"')
    assert 'id="section-values"' not in html


def test_the_number_of_runs_decides_the_charts_and_the_fields_of_the_form(client: Client, eight: list[Run]) -> None:
    """Two runs alone have a chart of differences; the form has a field for each run and one more, four at least."""
    for number, charts_shown, fields in ((2, 2, 4), (4, 2, 5), (7, 1, 8), (8, 1, 8)):
        page = client.get(f"{address(eight[:number])}&m=").content.decode()
        assert page.count("data-chart=") == charts_shown
        assert ("second minus first" in page) == (number == 2)
        assert page.count('<input id="run-') == fields


def test_up_to_eight_runs_have_their_values_and_intervals_by_group(client: Client, eight: list[Run]) -> None:
    rows = csv_rows(client, address(eight), "values")
    for row in rows:
        for run, key in zip(eight, RESULT_NAMES, strict=True):
            stored = run.scores.get(metric="accuracy", dimension=row["dimension"].lower(), group=row["group"])
            expected = (stored.value, stored.low, stored.high, stored.n)
            shown = (row[key], row[f"{key}_low"], row[f"{key}_high"], row["n"])
            assert [float(value) for value in shown] == pytest.approx(expected)
    assert {row["dimension"] for row in rows} == {"Overall", "Domain", "Cardinality", "Relation"}


def test_the_runs_stand_in_a_table_with_their_differences_from_the_first(client: Client, eight: list[Run]) -> None:
    rows = csv_rows(client, address(eight), "runs")
    differences = [row for row in csv_rows(client, address(eight), "differences") if row["dimension"] == "Overall"]
    assert [row["run"] for row in rows] == [str(run.pk) for run in eight]
    assert [row["result"] for row in differences] == list(RESULT_NAMES[1:8])
    assert rows[0]["difference"] == rows[0]["p"] == ""
    for row, difference in zip(rows[1:], differences, strict=True):
        assert (row["value"], row["difference"], row["p_holm"]) == (
            difference["second"],
            difference["difference"],
            difference["p_holm"],
        )
        assert float(difference["p_holm"]) >= float(difference["p"])


def test_the_corrected_p_of_two_ranked_runs_stands_in_the_table_whichever_comes_first(
    client: Client, site: Site
) -> None:
    ranked = {"metric": "accuracy", "counted": 1, "undecided": 3}
    RunRank.objects.create(run=site.first, best=1, worst=1, ahead_of=[site.second.pk], **ranked)
    RunRank.objects.create(run=site.second, best=2, worst=2, **ranked)
    for pair in ([site.first, site.second], [site.second, site.first]):
        row = csv_rows(client, address(pair), "runs")[1]
        assert float(row["p"]) < float(row["p_holm"]) == min(1, 3 * float(row["p"]))
        page = client.get(address(pair)).content.decode()
        assert f'data-label="p, Holm">{spelled.p_value(float(row["p_holm"]))}</td>' in page


def test_another_run_can_be_made_the_first(client: Client, eight: list[Run]) -> None:
    page = client.get(address(eight[:3])).content.decode()
    first, second, third = (run.pk for run in eight[:3])
    turned = f"?m={third}&amp;m={first}&amp;m={second}"
    assert turned in page
    rows = csv_rows(client, f"/compare/{turned.replace('&amp;', '&')}", "runs")
    assert [row["run"] for row in rows] == [str(eight[place].pk) for place in (2, 0, 1)]


def test_of_many_runs_the_most_frequent_ways_to_disagree_are_offered(client: Client, eight: list[Run]) -> None:
    offered = client.get(address(eight)).context["patterns"][0][1:]
    counts = [int(each.title.rpartition("(")[2].rstrip(")")) for each in offered]
    assert 0 < len(counts) <= PATTERNS_OFFERED
    assert counts == sorted(counts, reverse=True)


def test_a_ninth_run_is_refused(client: Client, eight: list[Run]) -> None:
    response = client.get(address([*eight, eight[0]]))
    assert response.status_code == 400
    assert "Leave out 1 of them" in response.content.decode()


def test_the_page_begins_with_what_was_found(client: Client, site: Site) -> None:
    page = client.get(address([site.first, site.second])).content.decode()
    overall = csv_rows(client, address([site.first, site.second]), "differences")[0]
    points = f"{100 * float(overall['difference']):.0f} points"
    assert page.index(points) < page.index("Choose models")


def test_a_run_named_twice_is_said(client: Client, site: Site) -> None:
    response = client.get(f"/compare/?m={site.first.pk}&m={site.first.pk}")
    assert response.status_code == 400
    assert f"Run {site.first.pk} is chosen 2 times." in response.content.decode()
    page = client.get("/compare/?m=org/first&m=org/first").content.decode()
    assert "The only run of org/first is chosen 2 times." in page


def test_published_figures_are_not_compared_and_their_lists_are_named(client: Client, site: Site) -> None:
    response = client.get(f"/compare/?m={site.first.pk}&m={site.published.model.hub_id}")
    html = response.content.decode()
    assert response.status_code == 400
    assert f"no finished run of &#x27;{site.published.model.hub_id}&#x27; whose answers are stored here" in html
    assert f'<a href="{site.benchmark.get_absolute_url()}#section-published">{site.benchmark.title}</a>' in html
    assert "section-published" not in client.get(f"/compare/?m={site.first.pk}&m=999").content.decode()


def test_a_run_that_does_not_exist_is_named(client: Client, site: Site) -> None:
    page = client.get(f"/compare/?m={site.first.pk}&m=999").content.decode()
    assert "There is no finished run 999 whose answers are stored here." in page


def test_ticked_models_are_compared_on_a_benchmark_that_they_share(client: Client, site: Site) -> None:
    other = make.benchmark("other", title="The other one")
    for model in (site.first.model, site.second.model):
        make.finished(other, 0.5, model, artefact="runs/none")
    make.finished(make.benchmark("alone"), 0.5, site.first.model, artefact="runs/none")
    page = client.get("/compare/?model=org/first&model=org/second&benchmark=small").content.decode()
    assert '"?model=org%2Ffirst&amp;model=org%2Fsecond&amp;benchmark=other"' in page
    assert "benchmark=alone" not in page
    (choices,) = client.get(f"/compare/?m={site.first.pk}&m={site.second.pk}").context["benchmark_switches"]
    assert [choice.title for choice in choices if choice.current] == [site.first.benchmark.title]


def test_without_a_choice_there_are_ready_pairs(client: Client, site: Site) -> None:
    page = client.get("/compare/").content.decode()
    pairs = client.get("/compare/").context["pairs"]
    assert len(pairs) == 1
    _, first, second = pairs[0]
    assert {first, second} == {site.first, site.second}
    assert f'href="?m={first.pk}&amp;m={second.pk}"' in page


def test_one_model_is_offered_beside_what_says_most_about_it(client: Client, tiny: Benchmark) -> None:
    own, *others = (
        make.finished(tiny, 0.5, make.model(name, parameters=7 * 10**9), artefact="runs/1")
        for name in ("org/m-7b", "org/other-7b", "org/third-7b")
    )
    pairs = client.get("/compare/?model=org/m-7b").context["pairs"]
    assert pairs == [("of the same size", own, others[-1])]


def test_a_model_with_published_figures_alone_is_led_to_their_list(client: Client, tiny: Benchmark) -> None:
    make.published(tiny, 0.5, make.model("org/printed", source=Model.Source.PUBLISHED))
    response = client.get("/compare/?model=org/printed")
    text = " ".join(response.content.decode().split())
    assert response.status_code == 200
    assert "There is no finished run of &#x27;org/printed&#x27; whose answers are stored here." in text
    assert '<a href="/benchmarks/tiny/#section-published">' in text


def test_ready_pairs_say_why_they_are_worth_comparing(db: None) -> None:
    on = make.benchmark()
    local = {"source": Model.Source.LOCAL, "weights_file": "a.gguf", "quantisation": "Q4_1"}
    models = [
        make.model("org/far-70b", parameters=7 * 10**10),
        make.model("org/other-7b", parameters=7 * 10**9),
        make.model("org/m-7b-Instruct", parameters=7 * 10**9),
        make.model("org/m-7b", parameters=7 * 10**9, **local),
        make.model("org/m-7b", parameters=7 * 10**9),
    ]
    for of in models:
        make.finished(on, 0.5, of, artefact="runs/1")
    pairs = {(reason, first.model.hub_id, second.model.hub_id) for reason, first, second in ready_pairs()}
    assert {reason for reason, _, _ in pairs} == set(REASONS)
    assert ("quantised in another way", "org/m-7b", "org/m-7b") in pairs
    assert ("base and tuned", "org/m-7b", "org/m-7b-Instruct") in pairs
    assert ("of the same size", "org/m-7b", "org/other-7b") in pairs
    assert ("measured last", "org/m-7b", "org/far-70b") in pairs


def test_the_fields_suggest_models_by_a_part_of_their_name(client: Client, site: Site) -> None:
    answer = client.get("/compare/?m=seco", headers={"HX-Request": "true", "HX-Target": "run-offers"})
    assert answer.content.decode().count("<option") == 1
    assert 'value="org/second"' in answer.content.decode()


def test_outliers_of_the_scatter_plot_are_named() -> None:
    points = [Point("same", 0.7, x=0.7), Point("near", 0.5, x=0.45), Point("far", 0.9, x=0.2)]
    plot = plotted(charts.square(points, "one", "other"))
    assert [label.text for label in plot.layout.annotations] == ["far", "near"]


def comparison(difference: float, low: float, high: float, p: float, smallest: float = 0.04) -> Comparison:
    """A comparison of two runs of which only the overall difference is known."""
    overall = {"difference": difference, "low": low, "high": high, "p_holm": p}
    nothing = np.empty((0, 2), dtype=np.int64)
    return Comparison([overall], nothing.astype(bool), nothing, smallest=SmallestDifference(smallest, float("nan"), 1))


def sides(*values: float) -> list[Side]:
    return [
        {"key": name, "name": name, "figure": Score(value=value), "against_first": None}
        for name, value in zip("ABCDE", values, strict=False)
    ]


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (comparison(0.27, 0.2, 0.34, 0.001), "B knows 27 points more than A (20 to 34), p = 0.001."),
        (comparison(-0.27, -0.34, -0.2, 1e-9), "B knows 27 points less than A ({minus}34 to {minus}20), p < 0.0001."),
        (
            comparison(0.01, -0.02, 0.04, 0.4),
            "B knows 1.0 points more than A ({minus}2.0 to 4.0): cannot be told apart; differences of 4.0 points would "
            "be.",
        ),
        (
            comparison(0, -0.05, 0.05, 1, smallest=0),
            "B has the same score as A ({minus}5.0 to 5.0): cannot be told apart, as both are right and wrong on "
            "the same items.",
        ),
    ],
)
def test_two_runs_have_their_difference_in_points(found: Comparison, sentence: str) -> None:
    assert verdict(sides(0.3, 0.5), found, Probe.ahead) == sentence.replace("{minus}", "\N{MINUS SIGN}")


def test_a_group_of_all_items_is_not_drawn_besides_the_overall_figure() -> None:
    groups = [("overall", "all", 9), ("language", "en", 9), ("domain", "Arts", 4), ("domain", "Sports", 5)]
    groups += [("blank", "last", 7)]
    values = [{"dimension": dimension, "group": group, "n": n} for dimension, group, n in groups]
    assert [row["group"] for row in charted(values)] == ["all", "Arts", "Sports", "last"]


def test_runs_with_the_same_figure_share_the_highest() -> None:
    level = verdict(sides(0.4, 0.4, 0.3), comparison(0, -0.05, 0.05, 1), Probe.ahead)
    assert level == "A and B share the highest figure, 0.400."


def test_two_runs_have_their_changed_answers_and_the_divergence_of_their_options(client: Client, site: Site) -> None:
    page = client.get(address([site.first, site.second]))
    lost, answers, divergence = page.context["changes"]
    overall = csv_rows(client, address([site.first, site.second]), "differences")[0]
    assert lost == f"second lost {overall['lost']} facts that first has, and gained {overall['gained']}."
    first, second = (
        make.stored_rows(run).set_index(["relation", "template", "index"]) for run in (site.first, site.second)
    )
    changed = int((first["prediction_label"] != second["prediction_label"].reindex(first.index)).sum())
    assert answers.endswith(f"of the answers changed ({changed} of {len(first)}).")
    assert divergence.startswith("KL divergence from first to second over the options: ")
    assert all(sentence in page.content.decode() for sentence in (lost, answers, divergence))


def test_of_several_runs_the_best_is_named_and_those_that_clearly_differ_from_the_first() -> None:
    first, *others = sides(0.3, 0.5, 0.4, 0.31, 0.1)
    for run, found in zip(others, (BETTER, BETTER, ALIKE, WORSE), strict=True):
        run["against_first"] = {"verdict": found}
    assert verdict([first, *others], comparison(0.2, 0.1, 0.3, 0.01), Probe.ahead) == (
        "B has the highest figure of 5, 0.500. B and C are clearly better than A. E is clearly worse than A. "
        "D is not clearly different from A."
    )
