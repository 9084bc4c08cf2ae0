"""manage.py rescore: which runs it takes, what it says, and that files, scores and pages change at once."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError
from django.db import DatabaseError
from django.test import Client

from leaderboard.figures import artefacts, benchmarks, item_rows
from leaderboard.figures.comparisons import compared
from leaderboard.management.commands.rescore import rescore
from leaderboard.models import Benchmark, Run, RunRank, Score
from probing.errors import BadInput, OtherQuestions
from probing.settings import Settings
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.management.commands.output import output_of
from tests.probing.formats.dlama_folder import DlamaFolder

pytestmark = pytest.mark.django_db
TODAY = {"P30": {"domains": ["Landscapes"]}, "P36": {"domains": ["Landscapes", "Political"]}}


@pytest.fixture
def runs(small: Benchmark, bear_folder: BearFolder) -> list[Run]:
    """Two measured runs on a version that another with new domains has followed."""
    measured = [make.probed(small, make.model(), FakeModel(), Settings()) for _ in range(2)]
    bear_folder.domains = {"P30": {"domains": ["Places"]}, "P36": {"domains": ["Places"]}}
    benchmarks.install("bear", bear_folder.write(), "small")
    return measured


def groups(run: Run) -> set[str]:
    return set(run.scores.filter(dimension="domain").values_list("group", flat=True))


def test_all_runs_are_rescored_and_ranked_on_the_present_version(runs: list[Run]) -> None:
    printed = output_of("rescore", "--benchmark", "small")
    assert "2 runs changed, 0 runs unchanged, 0 runs skipped." in printed
    assert printed.count("New groups of domain: Places.") == 2
    assert [groups(run) for run in runs] == [{"Places"}, {"Places"}]
    ranks = RunRank.objects.filter(run__benchmark__current=True)
    assert {rank.run_id for rank in ranks} == {run.pk for run in runs}
    assert all(rank.best for rank in ranks)
    assert "0 runs changed, 2 runs unchanged" in output_of("rescore")


def test_one_run_can_be_chosen(runs: list[Run]) -> None:
    assert "1 runs changed" in output_of("rescore", "--run", str(runs[1].pk))
    assert [groups(run) for run in runs[:2]] == [{"Geographic", "Political"}, {"Places"}]


def test_a_run_without_files_is_reported_and_skipped(runs: list[Run]) -> None:
    artefacts.remove_folder(runs[0].artefact)
    printed = output_of("rescore")
    assert f"Run {runs[0].pk} is skipped. This run has no items to show." in printed
    assert "1 runs changed, 0 runs unchanged, 1 runs skipped." in printed


@pytest.mark.parametrize("arguments", [("--benchmark", "none"), ("--run", "999")])
def test_a_choice_of_nothing_is_an_error(arguments: tuple[str, str], db: None) -> None:
    with pytest.raises(CommandError, match="no such finished run"):
        output_of("rescore", *arguments)


def test_a_site_without_runs_has_nothing_to_do(db: None) -> None:
    assert "0 runs changed" in output_of("rescore")


@pytest.fixture
def frequencies(small: Benchmark, tmp_path: Path) -> Path:
    """Numbers of a reader: Chad has 5, Egypt 2,000, Japan none, and all others 0."""
    known = {"Chad": 5, "Egypt": 2000, "Japan": None}
    items = [(relation.label, item) for relation in benchmarks.read(small).relations for item in relation.items]
    table = [(relation, item.index, known.get(item.subject, 0)) for relation, item in items]
    pd.DataFrame(table, columns=["relation", "index", "frequency"]).to_csv(tmp_path / "tags.csv", index=False)
    return tmp_path / "tags.csv"


def test_numbers_of_a_reader_become_a_breakdown(runs: list[Run], frequencies: Path, client: Client) -> None:
    printed = output_of("rescore", "--run", str(runs[0].pk), "--tags", str(frequencies))
    assert "New groups of frequency: 0, 2,000, 5." in printed
    address = runs[0].get_absolute_url()
    lines = csv_rows(client, address, "frequency")
    assert {line["group"] for line in lines} == {"0", "5", "2,000"}
    assert all(line["low"] and line["high"] and line["n"] and line["chance"] for line in lines)
    assert {line["subject"] for line in csv_rows(client, f"{address}items/?frequency=2,000")} == {"Egypt"}
    scores = client.get(f"/api/v1/runs/{runs[0].pk}/scores").json()["scores"]
    assert sum(score["dimension"] == "frequency" and score["metric"] == "accuracy" for score in scores) == 3
    assert "frequency" not in client.get(runs[1].get_absolute_url()).content.decode()
    assert "0 runs changed, 1 runs unchanged" in output_of("rescore", "--run", str(runs[0].pk))


def test_a_file_without_tags_is_refused(runs: list[Run], tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("relation\nP30\n")
    with pytest.raises(CommandError, match="cannot be read as tags"):
        output_of("rescore", "--tags", str(tmp_path / "bad.csv"))


@pytest.fixture
def run(small: Benchmark) -> Run:
    return make.probed(small, make.model("org/first"), FakeModel(), Settings())


@pytest.fixture
def today(small: Benchmark, run: Run, bear_folder: BearFolder) -> Benchmark:
    """A new version with other domains, imported after the run."""
    bear_folder.domains = TODAY
    return benchmarks.install("bear", bear_folder.write(), "small")[0]


def fresh(run: Run) -> Run:
    return Run.objects.get(pk=run.pk)


def scores(run: Run) -> set[tuple[Any, ...]]:
    return set(run.scores.values_list("metric", "dimension", "group", "value", "n", "low", "high"))


def files(run: Run) -> list[str]:
    storage = artefacts.storage()
    folders, plain = storage.listdir(artefacts.folder(run))
    return sorted(
        [*plain, *(f"{name}/{file}" for name in folders for file in storage.listdir(f"runs/{run.pk}/{name}")[1])]
    )


def test_a_run_gets_what_a_new_run_of_today_would_have(run: Run, today: Benchmark) -> None:
    sentences = rescore(fresh(run))
    assert sentences[0] == f"Moved from version {run.benchmark.version} to {today.version}."
    assert "New groups of domain: Landscapes." in sentences
    again = make.probed(today, make.model("org/second"), FakeModel(), Settings())
    assert scores(fresh(run)) == scores(again)
    assert fresh(run).benchmark == today
    stored, new = (
        pd.DataFrame(item_rows.rows(which, item_rows.find(which, item_rows.ItemFilter())))
        for which in (fresh(run), again)
    )
    pd.testing.assert_frame_equal(stored, new)


def test_files_scores_and_record_agree_and_the_former_files_are_gone(run: Run, today: Benchmark) -> None:
    rescore(fresh(run))
    now = fresh(run)
    folder = now.artefact.rpartition("/")[2]
    names = ("highlights.json", "items.parquet", "run.json", "scores.csv")
    assert files(now) == [f"{folder}/{name}" for name in names]
    with artefacts.storage().open(f"{now.artefact}/scores.csv") as file:
        table = pd.read_csv(file, dtype={"group": str})
    assert len(table) == now.scores.count()
    assert now.provenance_record["benchmark"]["version"] == today.version
    assert now.provenance_record["rescored"]["measured_on"]["version"] == run.benchmark.version
    assert "Scores computed again." in now.events.last().message
    assert rescore(now) == []


def test_a_failure_changes_neither_files_nor_scores(
    run: Run, today: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, kept = scores(run), files(run)

    def full(*_: object) -> None:
        Score.objects.all().delete()
        raise DatabaseError("no space")

    monkeypatch.setattr("leaderboard.management.commands.rescore.replace_scores", full)
    with pytest.raises(DatabaseError):
        rescore(fresh(run))
    assert (scores(run), files(run), fresh(run).benchmark) == (before, kept, run.benchmark)


def test_a_run_that_another_process_has_changed_is_left_alone(run: Run, today: Benchmark) -> None:
    stale = fresh(run)
    rescore(fresh(run))
    content = artefacts.storage().open(f"{fresh(run).artefact}/items.parquet").read()
    artefacts._store(f"{stale.artefact}/items.parquet", ContentFile(content))
    with pytest.raises(BadInput, match="changed by another process"):
        rescore(stale)
    assert groups(fresh(run)) == {"Landscapes", "Political"}


def test_a_run_of_other_questions_stays_with_its_version(run: Run, bear_folder: BearFolder) -> None:
    bear_folder.lines["P30"][0]["sub_label"] = "Mali"
    bear_folder.domains = TODAY
    benchmarks.install("bear", bear_folder.write(), "small")
    rescore(fresh(run))
    assert fresh(run).benchmark == run.benchmark
    assert groups(fresh(run)) == {"Geographic", "Political"}


def test_a_run_that_was_measured_on_the_current_version_as_well_stays(run: Run, today: Benchmark) -> None:
    other = make.run(run.model, today)
    Run.objects.filter(pk=other.pk).update(settings_digest=run.settings_digest)
    rescore(fresh(run))
    assert fresh(run).benchmark == run.benchmark


def test_rows_that_are_not_of_the_benchmark_are_refused(run: Run) -> None:
    before = scores(run)
    Run.objects.filter(pk=run.pk).update(settings=Settings(templates=(1,)).to_json())
    with pytest.raises(OtherQuestions):
        rescore(fresh(run))
    assert scores(run) == before


def test_a_comparison_is_computed_again(run: Run, small: Benchmark, bear_folder: BearFolder) -> None:
    other = make.probed(small, make.model("org/second"), FakeModel(), Settings())
    assert {row["group"] for row in compared(run.pk, other.pk).differences} >= {"Geographic"}
    bear_folder.domains = TODAY
    benchmarks.install("bear", bear_folder.write(), "small")
    for which in (run, other):
        rescore(fresh(which))
    groups = {row["group"] for row in compared(run.pk, other.pk).differences}
    assert "Landscapes" in groups and "Geographic" not in groups


def test_the_most_common_predictions_are_computed_again(client: Client, tmp_path: Path) -> None:
    culture = benchmarks.install("dlama", DlamaFolder(tmp_path / "pairs").write(), "culture")[0]
    settings = Settings(
        probe="ranking", pll="whole_answer", reduction="mean", language="en", options={"pair": "arab-west"}
    )
    run = make.probed(culture, make.model("org/first"), FakeModel(), settings)
    make.replace_rows(run, make.stored_rows(run).assign(culture="Nowhere"))
    path = f"/runs/{run.pk}/?table=predictions&format=csv"
    assert b"Nowhere" in client.get(path).content
    Run.objects.filter(pk=run.pk).update(provenance_record={"tags": "of another time"})
    rescore(fresh(run))
    after = client.get(path).content
    assert b"Nowhere" not in after and b"Arab" in after


def test_pages_show_the_new_groups(client: Client, run: Run, today: Benchmark) -> None:
    assert "Landscapes" not in client.get(f"/runs/{run.pk}/").content.decode()
    rescore(fresh(run))
    assert "Landscapes" in client.get(f"/runs/{run.pk}/").content.decode()
