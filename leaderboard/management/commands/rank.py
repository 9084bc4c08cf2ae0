"""Rank the measured runs of every benchmark again."""

from typing import Any

from leaderboard.figures.ranks import refresh_standings, restore_figures
from leaderboard.management.base import PlainCommand
from leaderboard.models import Benchmark


class Command(PlainCommand):
    help = "Rank all measured runs again, and find the smallest differences that can be told apart."

    def run(self, **options: Any) -> None:
        for benchmark in Benchmark.objects.filter(runs__provenance="measured").distinct().order_by("slug", "version"):
            without_items = restore_figures(benchmark)
            self.say(f"{benchmark}: {refresh_standings(benchmark)} runs ranked.")
            for run in without_items:
                self.say(f"{run} (run {run.pk}) has no stored items; its places come from its interval alone.")
