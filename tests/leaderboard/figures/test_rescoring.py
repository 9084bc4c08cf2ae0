"""Rescoring of runs: today's tags, in files and scores at once, and nothing that pages remember is out of date."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.core.files.base import ContentFile
from django.db import DatabaseError
from django.test import Client

from leaderboard.figures import artefacts, benchmarks, item_rows
from leaderboard.figures.comparisons import compared
from leaderboard.management.commands.rescore import rescore
from leaderboard.models import Benchmark, Run, Score
from probing.errors import BadInput, OtherQuestions
from probing.settings import Settings
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.probing.formats.dlama_folder import DlamaFolder

pytestmark = pytest.mark.django_db
TODAY = {"P30": {"domains": ["Landscapes"]}, "P36": {"domains": ["Landscapes", "Political"]}}


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


def domains(run: Run) -> set[str]:
    return set(run.scores.filter(dimension="domain").values_list("group", flat=True))


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
    assert domains(fresh(run)) == {"Landscapes", "Political"}


def test_a_run_of_other_questions_stays_with_its_version(run: Run, bear_folder: BearFolder) -> None:
    bear_folder.lines["P30"][0]["sub_label"] = "Mali"
    bear_folder.domains = TODAY
    benchmarks.install("bear", bear_folder.write(), "small")
    rescore(fresh(run))
    assert fresh(run).benchmark == run.benchmark
    assert domains(fresh(run)) == {"Geographic", "Political"}


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
