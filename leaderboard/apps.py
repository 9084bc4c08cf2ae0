"""The Django app of the site."""

from importlib import import_module

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from leaderboard.data_version import install


class LeaderboardConfig(AppConfig):
    name = "leaderboard"
    verbose_name = "Clozeboard"

    def ready(self) -> None:
        post_migrate.connect(install, sender=self)
        for name in ("leaderboard.system_checks", "leaderboard.operations.deployment_checks"):
            import_module(name)  # only now, because the checks import the models
