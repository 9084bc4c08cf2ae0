"""A site that version 0.2.0 stored migrates without losing a measured or a printed figure."""

from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client

from leaderboard.models import Benchmark, Printed, Run, Score

BEFORE = "0004_base_model"
# The provenance of a run as version 0.2.0 stored it, the id of its model, and the value of its score.
FIGURES = (
    ("measured", "org/measured", 0.5),
    ("third-party", "org/elsewhere", 0.25),
    ("published", "org/published", 0.669_167_421_2),
    ("baseline", "published/human", 0.98),
    ("baseline", "baseline/chance", 0.047),
)
ERROR = 0.012


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_every_figure_is_there_after_the_migration_and_on_the_page_of_its_benchmark(client: Client) -> None:
    call_command("migrate", "leaderboard", BEFORE, verbosity=0)
    try:
        store(MigrationExecutor(connection).loader.project_state([("leaderboard", BEFORE)]).apps)
    finally:
        call_command("migrate", verbosity=0)
    stored = Score.objects.values_list("run__provenance", "run__model__hub_id", "value", "n", "low", "high")
    assert set(stored) == {
        ("measured", "org/measured", 0.5, 4, None, 1.0),
        ("elsewhere", "org/elsewhere", 0.25, 4, None, 1.0),
    }
    printed = Printed.objects.values_list("model__hub_id", "baseline", "value", "error", "n", "source__title", "place")
    assert set(printed) == {
        ("org/published", False, 0.669_167_421_2, ERROR, 4, "A Paper", "Table 2"),
        ("published/human", True, 0.98, None, 4, "A source", ""),
    }
    assert Benchmark.objects.get().baselines == {"chance": 0.047}
    for run in Run.objects.all():
        assert client.get(run.get_absolute_url()).status_code == 200
    page = client.get("/benchmarks/tiny/").content.decode()
    assert all(f"{value:.3f}" in page for *_, value in FIGURES)
    (unchecked,) = Run.objects.filter(state=Run.State.FAILED)
    assert (unchecked.settings_digest, unchecked.provenance) == ("unchecked", "elsewhere")
    assert "import_result" in unchecked.next_step


def store(apps: Any) -> None:
    """Store a finished run of each provenance with a score, and a pushed result that was not checked yet."""
    names = ("Benchmark", "Model", "Run", "Score", "AccessToken")
    benchmarks, models, runs, scores, tokens = (apps.get_model("leaderboard", name).objects for name in names)
    tiny = benchmarks.create(
        slug="tiny", version="1", title="Tiny", probe="multiple_choice", format="bear", main=True, current=True
    )
    token = tokens.create(name="lab", digest="0" * 64)
    for provenance, hub_id, value in FIGURES:
        is_printed = provenance in ("published", "baseline")
        commit, origin = ("", "published") if is_printed else ("c0ffee", "hub")
        model = models.create(hub_id=hub_id, commit=commit, source=origin, kind="causal", parameters=10**8)
        paper = {"title": "A Paper", "authors": "A. Author", "year": 2024, "url": ""}
        run = runs.create(
            model=model,
            benchmark=tiny,
            settings_digest=hub_id,
            state="finished",
            provenance=provenance,
            reference={"org/published": "A. Author (2024): A Paper, Table 2", "published/human": "A source"}.get(
                hub_id, ""
            ),
            provenance_record={"name": "Printed", "source": paper} if hub_id == "org/published" else {},
            finished="2026-11-27T12:00:00Z",
            token=token if provenance == "third-party" else None,
        )
        about = {"run": run, "dimension": "overall", "group": "all", "n": 4, "low": None, "high": 1.0}
        scores.create(metric="accuracy", value=value, **about)
        if provenance == "published":
            scores.create(metric="accuracy_sem", value=ERROR, **about)
    waiting = {"settings_digest": "unchecked", "state": "aggregating", "provenance": "third-party", "token": token}
    runs.create(model=models.create(hub_id="org/pushed", commit="c0ffee"), benchmark=tiny, **waiting)
