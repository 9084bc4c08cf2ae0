"""Import a result that a third party measured."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from leaderboard.management.base import PlainCommand
from leaderboard.worker.third_party import import_result


class Command(PlainCommand):
    help = "Import a result folder; its run is marked as uploaded by a third party, and is not ranked by default."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="the folder that `python -m probing run --out` wrote")
        parser.add_argument("--source", required=True, help="who measured it, as pages name it")
        parser.add_argument("--url", default="", help="where it was published")
        parser.add_argument("--model", default="", help="org/name of the model, where the result names a folder")

        parser.add_argument("--revision", default="", help="name of the checkpoint, where the result states none")

    def run(self, *, folder: Path, source: str, url: str, model: str, revision: str, **options: Any) -> None:
        stored = import_result(folder, source, url, model, revision)
        self.say(f"Run {stored.pk}: {stored.model.hub_id} on {stored.benchmark}, {stored.scores.count()} scores.")
        self.say(f"Its page is {stored.get_absolute_url()}")
