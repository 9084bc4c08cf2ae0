"""The version of the data, which triggers of the database change."""

import pytest
from django.apps import apps
from django.db import connection

from leaderboard.data_version import NOT_WATCHED, data_version, install
from leaderboard.models import Run
from tests.leaderboard import factories as make

pytestmark = pytest.mark.usefixtures("transactional_db")


def test_every_table_is_watched_but_those_that_change_all_the_time() -> None:
    tables = {model._meta.db_table for model in apps.get_app_config("leaderboard").get_models()}
    assert tables > NOT_WATCHED
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("SELECT DISTINCT tbl_name FROM sqlite_master WHERE type = 'trigger'")
            assert {name for (name,) in cursor.fetchall()} == tables - NOT_WATCHED


def test_a_version_never_comes_again() -> None:
    versions = []
    for number in range(5):
        make.benchmark(f"b{number}")
        versions.append(data_version())
    assert len(set(versions)) == 5
    assert all(versions)
    assert data_version() == versions[-1]


def test_only_the_progress_of_a_run_leaves_the_version() -> None:
    states = Run.State
    going = make.run(make.model(), make.benchmark(), states.QUEUED)

    def changes(state: Run.State) -> bool:
        before = data_version()
        assert Run.objects.move(going, state)
        return data_version() != before

    assert changes(states.DOWNLOADING)
    assert not any(map(changes, (states.SCORING, states.AGGREGATING)))
    assert changes(states.FINISHED)


def test_triggers_can_be_installed_again() -> None:
    install(apps.get_app_config("leaderboard"), "default")
    before = data_version()
    make.benchmark()
    assert data_version() != before


def test_a_database_without_the_table_has_no_version() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE clozeboard_data_version RENAME TO elsewhere")
        try:
            assert data_version() == ""
        finally:
            cursor.execute("ALTER TABLE elsewhere RENAME TO clozeboard_data_version")
