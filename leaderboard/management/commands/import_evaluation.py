"""Import a record of Every Eval Ever."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from leaderboard.exports.evaluation_imports import import_evaluation
from leaderboard.management.base import PlainCommand


class Command(PlainCommand):
    help = "Import a record of Every Eval Ever; its run is marked as uploaded by a third party."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("record", type=Path, help="the JSON file with the scores")
        parser.add_argument("--samples", type=Path, help="the JSONL file with the answers, of records of this project")
        parser.add_argument("--benchmark", default="", help="the benchmark, where the record does not name it")

    def run(self, *, record: Path, samples: Path | None, benchmark: str, **options: Any) -> None:
        stored = import_evaluation(record, samples, benchmark)
        self.say(f"Run {stored.pk}: {stored.model.hub_id} on {stored.benchmark}, {stored.scores.count()} scores.")
        self.say(f"Its page is {stored.get_absolute_url()}")
