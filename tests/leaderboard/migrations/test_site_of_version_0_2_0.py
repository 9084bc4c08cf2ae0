"""A site that version 0.2.0 stored migrates without losing a measured or a printed figure."""

from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client

from leaderboard.models import Run, Score

BEFORE = "0004_base_model"
# The provenance of a run as version 0.2.0 stored it, as it is stored now, and the value of its score.
FIGURES = {
    "measured": ("measured", 0.5),
    "published": ("published", 0.669_167_421_2),
    "third-party": ("elsewhere", 0.25),
    "baseline": ("baseline", 0.047),
}


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_every_figure_is_there_after_the_migration_and_on_the_page_of_its_benchmark(client: Client) -> None:
    call_command("migrate", "leaderboard", BEFORE, verbosity=0)
    try:
        store(MigrationExecutor(connection).loader.project_state([("leaderboard", BEFORE)]).apps)
    finally:
        call_command("migrate", verbosity=0)
    stored = Score.objects.values_list("run__settings_digest", "run__provenance", "value", "n", "low", "high")
    assert {digest: tuple(figure) for digest, *figure in stored} == {
        former: (present, value, 4, None, 1.0) for former, (present, value) in FIGURES.items()
    }
    for run in Run.objects.all():
        assert client.get(run.get_absolute_url()).status_code == 200
    page = client.get("/benchmarks/tiny/").content.decode()
    assert all(f"{value:.3f}" in page for _, value in FIGURES.values())
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
    for provenance, (_, value) in FIGURES.items():
        source = "published" if provenance in ("published", "baseline") else "hub"
        commit = "" if source == "published" else "c0ffee"
        model = models.create(hub_id=f"org/{provenance}", commit=commit, source=source, kind="causal", parameters=10**8)
        run = runs.create(
            model=model,
            benchmark=tiny,
            settings_digest=provenance,
            state="finished",
            provenance=provenance,
            reference="" if provenance == "measured" else "A source",
            finished="2026-11-27T12:00:00Z",
            token=token if provenance == "third-party" else None,
        )
        scores.create(
            run=run, metric="accuracy", dimension="overall", group="all", value=value, n=4, low=None, high=1.0
        )
    waiting = {"settings_digest": "unchecked", "state": "aggregating", "provenance": "third-party", "token": token}
    runs.create(model=models.create(hub_id="org/pushed", commit="c0ffee"), benchmark=tiny, **waiting)
