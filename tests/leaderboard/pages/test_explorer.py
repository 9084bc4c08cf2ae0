"""The breakdown explorer of a run: dimensions as links, and one chart beside its table, which is also a file."""

import json

import pytest
from django.test import Client

from leaderboard.figures import item_rows
from leaderboard.models import Benchmark, Run
from leaderboard.pages import explorer
from leaderboard.pages.explorer import FRACTIONS, GROUPS, MACRO, MODELS, WORDINGS, run_breakdowns
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.pages.html_table import Tables
from tests.leaderboard.ui.charts.plotted import plotted

pytestmark = pytest.mark.django_db


def shown(client: Client, run: Run, query: str = "") -> explorer.Row:
    chosen: explorer.Row = client.get(f"/runs/{run.pk}/{query}").context["explorer"]
    return chosen


def offered(client: Client, run: Run, query: str = "") -> list[str]:
    return [link.title for links in shown(client, run, query)["links"] for link in links]


def test_dimensions_are_links_and_the_address_has_the_chosen_one(client: Client, site: Site) -> None:
    titles = ["Domain", "Cardinality", "Relation", "Wording", "Place"]
    assert offered(client, site.first) == titles[: len(offered(client, site.first))]
    assert shown(client, site.first)["by"] == "domain"
    for link in shown(client, site.first)["links"][0]:
        assert shown(client, site.first, link.href)["head"] == link.title
    assert shown(client, site.first, "?by=nonsense")["by"] == "domain"


def test_chart_table_and_files_have_the_same_groups(client: Client, site: Site) -> None:
    address = f"/runs/{site.first.pk}/"
    for by in ("domain", "cardinality", "relation", "template"):
        chosen = shown(client, site.first, f"?by={by}")
        rows = csv_rows(client, f"{address}?by={by}", "breakdown")
        assert rows == csv_rows(client, address, by), "a dimension is a table at any address"
        dots = next(trace for trace in plotted(chosen["chart"].figure).data if trace.name == "score")
        assert [*dots.x] == pytest.approx([float(row["value"]) for row in rows])
        html = Tables(client.get(f"{address}?by={by}").content.decode()).found["breakdown"]
        assert [cells[0] for cells in html[1:]] == [row["title"] for row in chosen["page"]]
        answer = client.get(f"{address}?by={by}&table=breakdown&format=json").content
        assert [str(row["group"]) for row in json.loads(answer)] == [row["group"] for row in rows]


def test_a_row_has_the_figure_with_both_intervals_and_every_other_metric(client: Client, site: Site) -> None:
    row = csv_rows(client, f"/runs/{site.first.pk}/", "domain")[0]
    intervals = ["low", "high", "cluster_low", "cluster_high"]
    assert list(row)[:7] == ["group", "value", *intervals, "n"]
    assert {"chance", "majority_answer", "most_frequent_answer"} < set(row)
    stored = site.first.scores.get(metric="accuracy", dimension="domain", group=row["group"])
    assert [float(row[name]) for name in ("value", *intervals, "n")] == [
        getattr(stored, name) for name in ("value", *intervals, "n")
    ]


def test_a_baseline_that_is_the_same_everywhere_has_no_column_but_in_the_file(client: Client, site: Site) -> None:
    scores = site.first.scores.filter(dimension="domain")
    for number, score in enumerate(scores.filter(metric="chance")):
        score.value = 0.2 + number / 10
        score.save()
        scores.filter(metric="majority_answer", group=score.group).update(value=score.value)
    assert {"chance", "majority_answer"} & set(shown(client, site.first)["others"]) == {"chance"}
    scores.filter(metric="chance").update(value=0.2)
    assert {"chance", "majority_answer"} & set(shown(client, site.first)["others"]) == {"majority_answer"}
    assert {"chance", "majority_answer"} < set(csv_rows(client, f"/runs/{site.first.pk}/", "domain")[0])


def test_a_dimension_that_nobody_foresaw_is_offered_unless_it_has_one_group_with_all_items(
    client: Client, site: Site
) -> None:
    make.score(site.first, 0.5, "head_size", "tall", n=site.first.scores.get(dimension="overall", metric="accuracy").n)
    assert "Head size" not in offered(client, site.first)
    make.score(site.first, 0.25, "head_size", "small")
    assert shown(client, site.first, "?by=head_size")["chart"].summary == (
        "Accuracy by head size: from 0.250 (small) to 0.500 (tall) over 2 groups."
    )


def test_a_run_without_an_overall_figure_shows_the_only_one_that_it_has(client: Client, small: Benchmark) -> None:
    run = make.run(make.model(), small, Run.State.FINISHED)
    make.score(run, 0.45, "relation", "P30", n=0)
    chosen = shown(client, run)
    assert (chosen["by"], chosen["chart"], chosen["has_n"]) == ("relation", None, False)
    html = client.get(f"/runs/{run.pk}/").content.decode()
    assert f"/benchmarks/{small.slug}/relations/P30/" in html


def test_long_lists_have_pages_whose_chart_has_the_groups_of_the_table(client: Client, site: Site) -> None:
    for number in range(GROUPS + 5):
        make.score(site.first, number / 100, "head_size", f"size {number}")
    for page, groups in ((1, GROUPS), (2, 5)):
        chosen = shown(client, site.first, f"?by=head_size&breakdown-page={page}")
        assert len(chosen["page"]) == groups == len(plotted(chosen["chart"].figure).data[-1].x)
        assert "over 25 groups. The chart has those that the table shows." in chosen["chart"].summary
    highest = shown(client, site.first, "?by=head_size&breakdown-sort=value")["page"][0]
    assert highest["value"] == 0


def test_the_chart_has_ticks_at_chance_and_thin_lines_over_wordings(client: Client, site: Site) -> None:
    chosen = shown(client, site.first)
    traces = {trace.name: trace for trace in plotted(chosen["chart"].figure).data}
    assert list(traces["chance"].x) == [pytest.approx(row["chance"], abs=1e-5) for row in chosen["page"]]
    assert traces["wordings"].line.width < traces["score"].error_x.thickness
    assert WORDINGS in chosen["notes"]


def test_groups_without_the_main_metric_have_no_column_and_no_title_of_it(client: Client, site: Site) -> None:
    for group in ("true", "false"):
        make.score(site.first, 0.5, "truth", group, metric="perplexity")
    chosen = shown(client, site.first, "?by=truth")
    assert (chosen["title"], chosen["chart"]) == ("Scores by truth", None)
    assert list(csv_rows(client, f"/runs/{site.first.pk}/", "truth")[0]) == ["group", "perplexity"]


def test_fractions_of_questions_and_averages_over_relations_are_explained(client: Client, site: Site) -> None:
    assert FRACTIONS not in shown(client, site.second, "?by=relation")["notes"]
    site.first.scores.filter(dimension="domain").update(n=2.5)
    assert FRACTIONS in shown(client, site.first)["notes"]
    pairs = make.finished(make.benchmark("pairs", probe="specificity"))
    for dimension in ("domain", "relation"):
        for group in ("a", "b"):
            make.score(pairs, 0.5, dimension, group, metric=pairs.benchmark.main_metric)
    assert pairs.benchmark.correctness.macro
    assert MACRO in shown(client, pairs, "?by=domain")["notes"]
    assert MACRO not in shown(client, pairs, "?by=relation")["notes"]


def test_wordings_have_their_sentences_and_say_how_many_answers_they_change(client: Client, site: Site) -> None:
    address = f"/runs/{site.first.pk}/?by=template"
    html = client.get(address).content.decode()
    assert [row["group"] for row in csv_rows(client, address, "breakdown")] == ["0", "1"]
    assert "Wording 1" in html and "Wording 2" in html
    assert "Template 0" not in html and "Wording 0" not in html
    overall = site.first.scores.filter(dimension="overall")
    rows = item_rows.frame(site.first, ["relation", "index", "prediction"])
    changing = rows.groupby(["relation", "index"])["prediction"].nunique() > 1
    points = overall.get(metric="template_range").value
    assert 0 < changing.mean() < 1
    assert f"{100 * changing.mean():.0f} % of the questions get another answer" in html
    assert f"is right {100 * points:.1f} points more often" in html


def test_the_chosen_part_rules_every_breakdown(client: Client, culture_run: Run) -> None:
    by_part = "culture_pair_language_relation"
    groups = set(culture_run.scores.filter(dimension=by_part, metric="p_at_1").values_list("group", flat=True))
    breakdowns = {}
    for part in ("arab-west en", "arab-west ar"):
        rows = csv_rows(client, f"/runs/{culture_run.pk}/?part={part.replace(' ', '+')}", "relation")
        assert {f"{part} {row['group']}" for row in rows} == {group for group in groups if group.startswith(part)}
        for row in rows:
            stored = culture_run.scores.get(dimension=by_part, metric="p_at_1", group=f"{part} {row['group']}")
            assert (float(row["value"]), float(row["n"])) == (stored.value, stored.n)
        breakdowns[part] = rows
    languages = csv_rows(client, f"/runs/{culture_run.pk}/?part=arab-west+ar", "language")
    assert {row["group"] for row in languages} == {"ar", "en"}


def test_figures_that_pool_parts_are_no_breakdowns(culture_run: Run) -> None:
    scores = list(culture_run.scores.all())
    assert "relation" in run_breakdowns(culture_run, scores)
    assert not {"relation", "culture", "language"} & set(run_breakdowns(culture_run, scores, pooled=True))


def test_groups_lead_to_the_items_of_the_chosen_part(client: Client, culture_run: Run) -> None:
    for row in shown(client, culture_run, "?part=arab-west+ar&by=culture")["page"]:
        assert row["href"].endswith(f"?culture_pair=arab-west&language=ar&culture={row['group']}")
        assert client.get(row["href"]).status_code == 200


def test_a_benchmark_has_the_same_explorer_with_a_colour_for_each_of_its_first_models(
    client: Client, site: Site
) -> None:
    address = f"/benchmarks/{site.benchmark.slug}/"
    chosen = client.get(f"{address}?by=cardinality").context["explorer"]
    runs = {site.first.pk, site.second.pk}
    assert {one["column"] for one in chosen["series"]} == {f"run_{run}" for run in runs}
    traces = [trace for trace in plotted(chosen["chart"].figure).data if trace.name != "chance"]
    assert len({trace.marker.color for trace in traces}) == len(runs)
    for row in csv_rows(client, f"{address}?by=cardinality", "breakdown"):
        for run in (site.first, site.second):
            stored = run.scores.get(metric="accuracy", dimension="cardinality", group=row["group"])
            assert (float(row[f"run_{run.pk}"]), float(row[f"run_{run.pk}_n"])) == (stored.value, stored.n)


def test_no_more_models_have_a_colour_than_can_be_told_apart(client: Client, small: Benchmark) -> None:
    for number in range(MODELS + 1):
        run = make.finished(small, number / 10)
        make.score(run, 0.5, "domain", "Sports")
    series = client.get(f"/benchmarks/{small.slug}/").context["explorer"]["series"]
    assert len(series) == MODELS


def test_a_benchmark_without_measured_models_has_no_explorer(client: Client, small: Benchmark) -> None:
    make.published(small)
    assert client.get(f"/benchmarks/{small.slug}/").context["explorer"] == {}
