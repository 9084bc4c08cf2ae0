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
        import_module("leaderboard.system_checks")  # it imports the models, which are ready only now
