"""Measure a finished run again, and publish how far the figures differ."""

import sys
from argparse import ArgumentParser
from datetime import date
from typing import Any

from django.conf import settings

from leaderboard.management.base import PlainCommand
from leaderboard.worker.devices import own_device
from leaderboard.worker.remeasuring import eligible_run, remeasure
from probing.errors import BadInput


class Command(PlainCommand):
    help = (
        "Measure a random finished run again, with the same settings and files of the model, and publish the largest "
        "difference. The exit code is 1 if more than one prediction in 10,000 has changed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--run", metavar="N", dest="number", type=int, help="this run instead of a random one")
        parser.add_argument("--seed", default="", help="what decides about the run and its parts; usually today's date")
        parser.add_argument(
            "--items", type=int, default=settings.REMEASURE_ITEMS, help="measure parts until they have this many items"
        )
        parser.add_argument(
            "--device", default=settings.DEVICE, help="cpu, cuda, cuda:1 or auto: a GPU that no worker here has"
        )

    def run(self, *, number: int | None, seed: str, items: int, device: str, **options: Any) -> None:
        if items < 1:
            raise BadInput(f"--items {items} leaves nothing to measure.", "Use 1 or more.")
        seed = seed or date.today().isoformat()
        run = eligible_run(seed, number)
        self.say(f"Run {run.pk}, {run}, seed {seed}.")
        with own_device(device) as settings.DEVICE:
            remeasurement = remeasure(run, items, seed)
        self.say(f"{remeasurement.in_words}.")
        if remeasurement.is_alarm:
            self.say("More than one prediction in 10,000 has changed.")
            sys.exit(1)
