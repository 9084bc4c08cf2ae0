"""Import results that were measured elsewhere."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from leaderboard.management.base import PlainCommand
from leaderboard.worker.importing import import_result
from probing.errors import BadInput, ProbingError


class Command(PlainCommand):
    help = (
        "Import result folders. Every row is checked against the benchmark; the runs are marked as measured elsewhere, "
        "and are not ranked by default."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "folders",
            nargs="+",
            type=Path,
            metavar="FOLDER",
            help="a folder that `python -m probing run --out` wrote, or one of a study, a sweep or a training",
        )
        parser.add_argument("--source", required=True, help="who measured it, as pages name it")
        parser.add_argument("--url", default="", help="where it was published")
        parser.add_argument("--model", default="", help="org/name of the model, where the result names a folder")
        parser.add_argument(
            "--revision",
            default="",
            help="name of the checkpoint, where neither the result nor the name of its folder states one",
        )

    def run(self, *, folders: list[Path], source: str, url: str, model: str, revision: str, **options: Any) -> None:
        if revision and len(folders) > 1:
            raise BadInput("Several results cannot be of one revision.", "Import them one by one.")
        for folder in folders:
            try:
                stored = import_result(folder, source, url, model, revision)
            except ProbingError as error:
                raise BadInput(f"{folder}: {error.message}", error.next_step) from error
            self.say(f"{folder}: {stored.model.hub_id} on {stored.benchmark}, {stored.scores.count()} scores.")
            self.say(f"Its page is {stored.get_absolute_url()}")
