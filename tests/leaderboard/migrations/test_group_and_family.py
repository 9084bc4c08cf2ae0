"""Rows that version 0.2.0 stored get what later versions store beside them."""

from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from leaderboard.models import Model, Run

BEFORE = "0004_base_model"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_rows_of_version_0_2_0_get_their_groups_and_families() -> None:
    call_command("migrate", "leaderboard", BEFORE, verbosity=0)
    try:
        add_triggers()
        add_rows(MigrationExecutor(connection).loader.project_state([("leaderboard", BEFORE)]).apps)
    finally:
        call_command("migrate", verbosity=0)
    assert dict(Model.objects.values_list("hub_id", "family")) == {"openai/gpt2": "GPT-2", "org/large": ""}
    groups = dict(Run.objects.values_list("settings_digest", "group"))
    assert groups == {
        "usual": [],
        "by size": [],
        "changed": [["templates", "first wording only"], ["pll", "PLL original"]],
        "left out": [["items_left_out", "3 items too long for the model"]],
    }
    for run in Run.objects.select_related("model", "benchmark"):
        assert run.group == run.group_now()


def add_triggers() -> None:
    """Add one of the triggers that version 0.2.0 made beside the tables, which reads the table of runs."""
    if connection.vendor == "sqlite":
        version = "INSERT OR REPLACE INTO clozeboard_figures_version SELECT benchmark_id, 'v' FROM leaderboard_run"
        with connection.cursor() as cursor:
            cursor.execute(
                "CREATE TABLE IF NOT EXISTS clozeboard_figures_version (benchmark integer PRIMARY KEY, value text)"
            )
            cursor.execute("DROP TRIGGER IF EXISTS leaderboard_runrank_figures_insert")
            cursor.execute(
                f"CREATE TRIGGER leaderboard_runrank_figures_insert AFTER INSERT ON leaderboard_runrank "
                f"BEGIN {version}; END"
            )


def add_rows(apps: Any) -> None:
    """Add runs that differ in settings, items and size, as the tables were then."""
    benchmark, model, run = (apps.get_model("leaderboard", name) for name in ("Benchmark", "Model", "Run"))
    on = benchmark.objects.create(
        slug="tiny", version="1", probe="multiple_choice", format="bear", settings={"templates": [0, 1]}
    )
    small = model.objects.create(hub_id="openai/gpt2", commit="c0ffee", parameters=10**8)
    large = model.objects.create(hub_id="org/large", commit="c0ffee", parameters=7 * 10**10, stored_dtype="bfloat16")
    usual = {"templates": [0, 1]}
    run.objects.create(model=small, benchmark=on, settings=usual, settings_digest="usual")
    run.objects.create(model=large, benchmark=on, settings={**usual, "dtype": "bfloat16"}, settings_digest="by size")
    run.objects.create(
        model=small, benchmark=on, settings={"templates": [0], "pll": "original"}, settings_digest="changed"
    )
    run.objects.create(model=small, benchmark=on, settings=usual, settings_digest="left out", items_left_out=3)
