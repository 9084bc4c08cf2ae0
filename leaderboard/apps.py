"""The Django app of the site."""

from importlib import import_module

from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    name = "leaderboard"
    verbose_name = "Clozeboard"

    def ready(self) -> None:
        import_module("leaderboard.system_checks")  # it imports the models, which are ready only now
