"""The Django app of the site."""

from importlib import import_module
from typing import Any

from django.apps import AppConfig
from django.core.management import CommandError
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.models.signals import post_migrate, pre_migrate

from leaderboard.data_version import install


class LeaderboardConfig(AppConfig):
    name = "leaderboard"
    verbose_name = "Clozeboard"

    def ready(self) -> None:
        pre_migrate.connect(refuse_older_database, sender=self)
        post_migrate.connect(install, sender=self)
        import_module("leaderboard.operations.deployment_checks")  # only now, because the checks import the models


def refuse_older_database(sender: AppConfig, using: str, **kwargs: Any) -> None:
    """Refuse a database from before version 0.2.0, whose migrations became one (docs/operating.md).

    Raises `CommandError` before anything is changed.
    """
    loader = MigrationLoader(connections[using])
    known = loader.disk_migrations or {}
    if any(app == sender.label and (app, name) not in known for app, name in loader.applied_migrations):
        raise CommandError(
            "This database was made by a commit from before version 0.2.0, which cannot be migrated. Name an empty one "
            "in DATABASE_URL, import the benchmarks again, and then the result folders with `manage.py import_result`."
        )
