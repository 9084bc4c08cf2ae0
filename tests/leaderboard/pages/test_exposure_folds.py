"""The folds of exposure and popularity, of comparisons and of trainings."""

from pathlib import Path

import pandas as pd
import pytest
from django.test import Client

from leaderboard.figures import benchmarks
from leaderboard.models import Benchmark, Run
from probing.exposure.named_facts import facts_of
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.management.commands.output import output_of

pytestmark = pytest.mark.django_db
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
