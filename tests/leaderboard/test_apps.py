"""Databases that the migration refuses."""

import pytest
from django.apps import apps
from django.core.management import CommandError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from leaderboard.apps import refuse_older_database


@pytest.mark.django_db
def test_a_database_from_before_the_first_version_is_refused_with_what_to_do() -> None:
    site = apps.get_app_config("leaderboard")
    refuse_older_database(site, using=connection.alias)
    MigrationRecorder(connection).record_applied("leaderboard", "0029_shared_facts")
    with pytest.raises(CommandError, match=r"before version 0\.2\.0.*Name an empty one.*manage.py import_result"):
        refuse_older_database(site, using=connection.alias)
