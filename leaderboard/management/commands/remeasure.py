"""Measure a finished run again, and say how far the figures differ."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from leaderboard.management.base import PlainCommand
from leaderboard.worker.devices import own_device
from leaderboard.worker.remeasuring import measured_run, remeasure
from probing.errors import BadInput


class Command(PlainCommand):
    help = (
        "Measure random parts of a finished run again, with the same settings and files of the model, and compare the "
        "rows. The exit code is 1 if more than one prediction in 10,000 has changed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("number", type=int, metavar="RUN", help="the number of a run that was measured here")
        parser.add_argument("--seed", default="0", help="what decides about the parts (default: 0)")
        parser.add_argument(
            "--items", type=int, default=10_000, help="measure parts until they have this many items (default: 10000)"
        )
        parser.add_argument(
            "--device", default=settings.DEVICE, help="cpu, cuda, cuda:1 or auto: a GPU that no worker here has"
        )

    def run(self, *, number: int, seed: str, items: int, device: str, **options: Any) -> None:
        if items < 1:
            raise BadInput(f"--items {items} leaves nothing to measure.", "Use 1 or more.")
        run = measured_run(number)
        self.say(f"Run {run.pk}, {run}, measured on {run.provenance_record.get('device', 'an unknown device')}.")
        with own_device(device) as settings.DEVICE:
            differences = remeasure(run, items, seed)
        self.say(f"{differences.in_words}.")
        if differences.is_alarm:
            self.say("More than one prediction in 10,000 has changed.")
            sys.exit(1)
