"""The folds of comparisons: answer bias, changed facts, exposure and popularity; the last two also of trainings."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pandas as pd
import pytest
from django.test import Client

from leaderboard.figures import benchmarks, item_rows
from leaderboard.figures.comparisons import changed_facts, records
from leaderboard.figures.scores import OVERALL_SLICE
from leaderboard.models import Benchmark, Run
from leaderboard.pages.bias_fold import compared_section
from leaderboard.ui import labels
from probing.analysis.changed_facts import changes_by_nearness, parse_facts
from probing.analysis.option_scores import FULL_RUN_NEEDED
from probing.exposure.named_facts import facts_of
from probing.settings import Settings
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.management.commands.output import output_of
from tests.leaderboard.pages.html_table import Tables

pytestmark = pytest.mark.django_db


def csv(client: Client, run: Run, table: str, query: str = "") -> list[dict[str, str]]:
    return csv_rows(client, f"/runs/{run.pk}/{query}", table)


def test_the_relation_that_is_furthest_off_comes_first_and_its_options_are_shown(client: Client, site: Site) -> None:
    rows = csv(client, site.first, "biases")
    distances = [float(row["bias_gold_distance"]) for row in rows]
    assert distances == sorted(distances, reverse=True)
    html = client.get(f"/runs/{site.first.pk}/").content.decode()
    assert f"{labels.relation(rows[0]['relation'])}: favoured answers" in html
    assert f'title="{rows[0]["relation"]}"' in html


def test_only_a_relation_of_enough_questions_is_named_as_furthest_off(client: Client, site: Site) -> None:
    rows, address = csv(client, site.first, "biases"), f"/runs/{site.first.pk}/"
    assert "most in" not in client.get(address).content.decode()
    site.first.scores.filter(dimension="relation").update(n=10)
    page = client.get(address).content.decode()
    assert re.search(rf"most in {labels.relation(rows[0]['relation'])}, \d+ %", page)


def test_a_relation_can_be_chosen(client: Client, site: Site) -> None:
    for relation, options in (("P30", {"Africa", "Asia", "Europe"}), ("P36", {"Oslo", "Cairo"})):
        html = client.get(f"/runs/{site.first.pk}/?bias={relation}").content.decode()
        assert f"{labels.relation(relation)}: favoured answers" in html
        assert re.search(r'id="bias" open>', html)
        assert {row["option"] for row in csv(client, site.first, "bias", f"?bias={relation}")} == options


def test_options_have_their_names_where_no_item_has_them_as_answer_or_prediction(
    client: Client, small: Benchmark
) -> None:
    run, other = (make.probed(small, make.model(name), FakeModel(), Settings(limit=1)) for name in ("org/a", "org/b"))
    assert {row["option"] for row in csv(client, run, "bias", "?bias=P30")} == {"Africa", "Asia", "Europe"}
    compared = csv_rows(client, f"/compare/?m={run.pk}&m={other.pk}&bias=P30", "compared-bias")
    assert {row["option"] for row in compared} == {"Africa", "Asia", "Europe"}


def test_the_shares_of_options_sum_to_one(client: Client, site: Site) -> None:
    rows = csv(client, site.first, "bias", "?bias=P30")
    for column in ("bias", "gold", "predicted"):
        assert sum(float(row[column]) for row in rows) == pytest.approx(1)
    assert "generic" not in rows[0]


def test_generic_subjects_have_a_column_and_a_mark(client: Client, small: Benchmark) -> None:
    settings = Settings(options={"generic_subjects": "it, the region"})
    run = make.probed(small, make.model(), FakeModel(), settings)
    assert sum(float(row["generic"]) for row in csv(client, run, "bias", "?bias=P30")) == pytest.approx(1)
    assert "generic subjects" in client.get(f"/runs/{run.pk}/").content.decode()


def test_a_run_with_upper_bounds_says_that_it_needs_a_full_run(client: Client, small: Benchmark) -> None:
    run = make.measured(small, make.model(), skill=1)
    run.settings |= {"decide": True}
    run.save()
    html = client.get(f"/runs/{run.pk}/").content.decode()
    assert FULL_RUN_NEEDED in html
    assert 'data-table="biases"' not in html


def test_runs_without_the_relation_have_no_biases_to_compare(site: Site) -> None:
    assert compared_section([site.first, site.second], "P17", "Country") is None


def test_the_page_of_a_comparison_has_the_relations_and_the_options_of_a_chosen_one(client: Client, site: Site) -> None:
    address = f"/compare/?m={site.first.pk}&m={site.second.pk}"
    rows = csv_rows(client, address, "compared-biases")
    assert {row["relation"] for row in rows} == {"P30", "P36"}
    stored = site.second.scores.get(metric="bias_gold_distance", dimension="relation", group="P36").value
    (distance,) = [float(row["run_2"]) for row in rows if row["relation"] == "P36"]
    assert distance == pytest.approx(stored)
    assert {row["option"] for row in csv_rows(client, f"{address}&bias=P36", "compared-bias")} == {"Oslo", "Cairo"}


def test_compared_runs_with_generic_subjects_have_those_beside_each_other_too(client: Client, small: Benchmark) -> None:
    settings = Settings(options={"generic_subjects": "it, the region"})
    runs = [make.probed(small, make.model(name), FakeModel(), settings) for name in ("org/a", "org/b")]
    address = f"/compare/?m={runs[0].pk}&m={runs[1].pk}&bias=P30"
    rows = csv_rows(client, address, "compared-generic")
    alone = csv(client, runs[1], "bias", "?bias=P30")
    assert {row["option"]: row["run_2"] for row in rows} == {row["option"]: row["generic"] for row in alone}


COLUMNS = ["relation", "template", "index", "subject", "prediction_label", "correct", "answers", "scores"]


def rows(run: Run) -> pd.DataFrame:
    return item_rows.frame(run, COLUMNS)


def address(site: Site, facts: str) -> str:
    return "/compare/?" + urlencode([("m", site.first.pk), ("m", site.second.pk), ("facts", facts)])


@pytest.mark.parametrize("in_lines", [False, True], ids=["CSV", "JSON Lines"])
def test_the_table_has_the_figures_of_the_library(client: Client, site: Site, in_lines: bool) -> None:
    item = rows(site.first).iloc[0]
    facts = pd.DataFrame([{"relation": item["relation"], "subject": item["subject"], "answer": "nothing"}])
    text = facts.to_json(orient="records", lines=True) if in_lines else facts.to_csv(index=False)
    expected = changes_by_nearness(rows(site.first), rows(site.second), facts)
    table = pd.DataFrame(csv_rows(client, address(site, text), "facts"))
    assert [name.lower() for name in table["group"]] == expected["group"].tolist()
    bounds = ("first_low", "second_high", "unchanged_n", "unchanged_low", "unchanged_high", "chance")
    for name in ("n", "first", "second", "difference", "low", "high", "unchanged", "p", "p_holm", *bounds):
        assert table[name].astype(float).tolist() == pytest.approx(expected[name].tolist()), name
    assert float(table["new_answer"][0]) == 0, "no model answers it"
    page = client.get(address(site, text)).content.decode()
    assert len(Tables(page).found["facts"]) == 1 + len(expected)
    assert text.strip() in unescape(page), "the field keeps what was asked"


def test_scores_are_read_one_relation_after_the_other(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def frame(run: Run, columns: list[str], relation: str = "") -> pd.DataFrame:
        if "scores" in columns:
            read.append(relation)
        return stored(run, columns, relation)

    stored = item_rows.frame
    monkeypatch.setattr(item_rows, "frame", frame)
    changed_facts([site.first, site.second], parse_facts("relation,subject\nP30,Chad", "It"), OVERALL_SLICE)
    assert sorted(read) == ["P30", "P36"]


def test_chance_has_a_column_where_the_probe_has_options(
    client: Client, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = "relation,subject\nP30,Chad"
    assert "chance" in Tables(client.get(address(site, facts)).content.decode()).found["facts"][0]
    without = changes_by_nearness(rows(site.first).drop(columns="scores"), rows(site.second), parse_facts(facts, "It"))
    monkeypatch.setattr("leaderboard.pages.compare_page.changed_facts", lambda *_: records(without))
    assert "chance" not in Tables(client.get(address(site, facts)).content.decode()).found["facts"][0]


def test_two_runs_of_one_model_are_no_change_of_facts(client: Client, site: Site) -> None:
    Run.objects.filter(pk=site.second.pk).update(model=site.first.model_id, settings_digest="2" * 64)
    page = client.get(address(site, "relation,subject\nP30,Chad")).content.decode()
    refusal = "Both runs are of one model with the same weights."
    assert refusal in unescape(page.partition('id="facts"')[2])
    quantised = {**site.first.settings, "quantization": "4bit"}
    Run.objects.filter(pk=site.second.pk).update(settings=quantised, settings_digest="3" * 64)
    assert refusal not in client.get(address(site, "relation,subject\nP30,Chad")).content.decode()


def test_without_facts_there_is_the_field_alone(client: Client, site: Site) -> None:
    page = client.get(address(site, "")).content.decode()
    assert "Changed facts" in page
    assert "facts" not in Tables(page).found


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ("relation,subject\nP30,Atlantis", "1 of 1 facts were not asked, such as 'Atlantis' in P30."),
        ("Atlantis", "The list has no facts: it needs relation, and index or subject."),
        ("{broken", "The list cannot be read as a list of facts"),
    ],
)
def test_what_is_wrong_with_the_facts_is_said_in_the_fold(client: Client, site: Site, facts: str, reason: str) -> None:
    page = client.get(address(site, facts)).content.decode()
    fold = unescape(page.partition('id="facts"')[2])
    assert reason in fold
    assert "facts" not in Tables(page).found


STEPS = (0, 10, 20, 30, 40, 50, 60, 70, 80)


def tag(runs: list[Run], folder: Path, **counted: dict[str, int]) -> None:
    """Rescore runs with a file of counts or sitelinks, which maps subjects to their number."""
    facts = facts_of(benchmarks.read(runs[0].benchmark))
    table = pd.DataFrame({"relation": [fact.relation for fact in facts], "index": [fact.index for fact in facts]})
    for name, numbers in counted.items():
        table[name] = [numbers.get(fact.subject, 0) for fact in facts]
    table.to_csv(folder / "counts.csv", index=False)
    for run in runs:
        output_of("rescore", "--run", str(run.pk), "--tags", str(folder / "counts.csv"))


@pytest.mark.slow
def test_runs_stand_beside_each_other_by_exposure_and_popularity(
    small: Benchmark, tmp_path: Path, client: Client
) -> None:
    runs = [make.measured(small, make.model(f"org/{name}"), skill, seed=3) for name, skill in (("a", 0.4), ("b", 0.8))]
    address = f"/compare/?m={runs[0].pk}&m={runs[1].pk}"
    assert "By exposure" not in client.get(address).content.decode()
    tag(runs, tmp_path, count={"Chad": 5, "Egypt": 2}, sitelinks={"Chad": 200})
    response = client.get(address)
    chart = response.context["charts"]["exposure"]
    guesses, *of_runs = chart.figure.data
    page = response.content.decode()
    assert '<details class="fold" id="exposure" >' in page
    assert '<details class="fold" id="popularity" >' in page
    assert "Not all of these runs have the same counts" not in page
    lines = csv_rows(client, address, "exposure")
    assert [line["group"] for line in lines][:3] == ["0", "2–3", "4–7"]
    assert lines[-1]["group"] in ("WASB", "α by exposure")
    assert guesses["name"] == "chance"
    assert guesses["x"] == pytest.approx([float(line["chance"]) for line in lines[:3]], abs=1e-5)
    assert guesses["marker"]["symbol"] == "line-ns"
    first, second = (trace["y"] for trace in of_runs)
    assert guesses["y"] == [pytest.approx((one + other) / 2) for one, other in zip(first, second, strict=True)]
    assert chart.summary.endswith("Lines are 95 % intervals. Ticks are chance.")
    assert [line["group"] for line in csv_rows(client, address, "popularity")] == ["0", "128–255"]
    for run in runs:
        of_run = run.scores.get(metric="accuracy", dimension="exposure", group="2–3")
        (line,) = (line for line in lines if line["group"] == "2–3")
        assert float(line[f"run_{run.pk}"]) == pytest.approx(of_run.value)
        assert float(line[f"run_{run.pk}_high"]) == pytest.approx(of_run.high)
        wasb = run.scores.get(metric="wasb")
        (line,) = (line for line in lines if line["group"] == "WASB")
        assert float(line[f"run_{run.pk}"]) == pytest.approx(wasb.value)
        assert float(line["n"]) == wasb.n
        assert float(line["chance"]) == pytest.approx(run.scores.get(metric="wasb_chance").value)
    answer = client.get(f"/api/v1/compare?m={runs[0].pk}&m={runs[1].pk}").json()
    for name in ("exposure", "popularity"):
        for row, line in zip(answer[name], csv_rows(client, address, name), strict=True):
            assert {key: "" if value is None else str(value) for key, value in row.items()} == line
    assert "The runs differ in how many questions" not in page
    assert float(lines[0]["n"]) == float(lines[0][f"run_{runs[0].pk}_n"]) == float(lines[0][f"run_{runs[1].pk}_n"])
    assert f'data-column="run_{runs[0].pk}_n"' not in page
    tag(runs[1:], tmp_path, count={"Chad": 1000})
    response = client.get(address)
    page = response.content.decode()
    assert "Ticks are chance." not in response.context["charts"]["exposure"].summary, "it differs between the runs"
    assert page.count("Not all of these runs have the same counts") == 1
    assert page.count("The runs differ in how many questions a group has") == 1
    (line,) = (line for line in csv_rows(client, address, "exposure") if line["group"] == "0")
    for run in runs:
        score, chance = (
            run.scores.get(metric=name, dimension="exposure", group="0") for name in ("accuracy", "chance")
        )
        assert float(line[f"run_{run.pk}_n"]) == score.n
        assert float(line[f"run_{run.pk}_chance"]) == pytest.approx(chance.value)
        assert f'data-column="run_{run.pk}_n"' in page
    assert line["n"] == "", "the runs have no number in common"


def test_runs_of_one_name_from_two_sources_are_both_in_the_answer_of_the_api(
    small: Benchmark, tmp_path: Path, client: Client
) -> None:
    model = make.model("org/name")
    runs = [make.measured(small, model, skill, seed=3) for skill in (0.4, 0.8)]
    tag(runs, tmp_path, count={"Chad": 5, "Egypt": 2})
    Run.objects.filter(pk=runs[1].pk).update(provenance=Run.Provenance.THIRD_PARTY)
    query = f"m={runs[0].pk}&m={runs[1].pk}"
    answer = client.get(f"/api/v1/compare?{query}").json()
    lines = csv_rows(client, f"/compare/?{query}", "exposure")
    assert [row["group"] for row in answer["exposure"]] == [line["group"] for line in lines]
    assert all(f"run_{run.pk}" in answer["exposure"][0] for run in runs)


def test_a_single_run_with_counts_is_not_compared(small: Benchmark, tmp_path: Path, client: Client) -> None:
    runs = [make.measured(small, make.model(f"org/{name}"), 0.5) for name in "ab"]
    tag(runs[:1], tmp_path, count={"Chad": 5})
    assert 'id="exposure"' not in client.get(f"/compare/?m={runs[0].pk}&m={runs[1].pk}").content.decode()


def test_a_training_has_both_at_steps_spread_evenly_over_it(small: Benchmark, client: Client) -> None:
    for step in STEPS:
        model = make.model("org/name", step=step, revision=f"step{step}")
        run = make.finished(small, step / 100, model, settings_digest="5" * 64)
        for group, value in (("0", 0.1), ("8192+", step / 90), ("4–7", step / 100)):
            make.score(run, value, "exposure", group, low=0.0, high=1.0)
        make.score(run, step / 100, metric="exposure_alpha", low=0.0, high=1.0)
    address = "/models/org/name/training/"
    page = client.get(address).content.decode()
    assert "The chart and the table have 8 of the 9 runs with counts." in page
    lines = csv_rows(client, address, "exposure")
    assert [line["group"] for line in lines] == ["0", "4–7", "8192+", "α by exposure"]
    shown = [name for name in lines[0] if name.startswith("run_") and name.count("_") == 1]
    assert len(shown) == 8
    first, last = Run.objects.get(model__step=0), Run.objects.get(model__step=80)
    assert shown[0] == f"run_{first.pk}"
    assert float(lines[-1][f"run_{last.pk}"]) == 0.8
    answer = client.get("/api/v1/models/org/name/training").json()
    assert [row["group"] for row in answer["exposure"]] == [line["group"] for line in lines]
    assert answer["exposure"][-1][f"run_{last.pk}"] == 0.8
    Run.objects.get(model__step=40).scores.filter(dimension="exposure").delete()
    lines = csv_rows(client, address, "exposure")
    shown = [name for name in lines[0] if name.startswith("run_") and name.count("_") == 1]
    assert len(shown) == 8, "steps without counts take no place"
    assert "runs with counts" not in client.get(address).content.decode()
