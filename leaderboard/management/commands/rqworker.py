"""django-rq's worker command with JSON jobs, lanes, a companion for checks, and a device of its own."""

import os
import signal
import socket
import sys
from argparse import ArgumentParser
from contextlib import ExitStack
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django_rq.management.commands import rqworker

from leaderboard.figures.artefacts import patiently
from leaderboard.intake import check_queue, queue
from leaderboard.intake.embedded import embedded_server
from leaderboard.schedule import LANES
from leaderboard.worker.devices import own_device
from leaderboard.worker.supervisor import kept_running
from probing.measuring.failures import NotIsolated
from probing.measuring.limits import die_with_parent, require_isolation

WAKE_SECONDS = 5  # how often an idle worker looks whether Redis still knows it


class Command(rqworker.Command):
    help = (
        "Run a worker. Start one for each GPU; on CPUs, start as many as fit into memory. Without names of queues it "
        "measures runs of every size, and keeps a second process that checks submitted models."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        # RQ lets an idle worker wait for (ttl - 15) seconds at a time.
        name = f"{socket.gethostname()}-{os.getpid()}"
        parser.set_defaults(serializer="json", worker_ttl=WAKE_SECONDS + 15, name=name)
        parser.add_argument(
            "--device", default=settings.DEVICE, help="cpu, cuda, cuda:1 or auto: a GPU that no other worker here has"
        )
        parser.add_argument("--companion-of", type=int, help="stop when the process with this number ends")

    def handle(self, *queues: str, device: str, companion_of: int | None, **options: Any) -> None:
        if companion_of:
            die_with_parent(companion_of)
        signal.signal(signal.SIGTERM, _leave)  # until RQ's worker installs its own handler
        with ExitStack() as resources:
            resources.enter_context(embedded_server())
            if not queue.reachable():
                raise CommandError(queue.UNREACHABLE)
            if queues != (check_queue.QUEUE,):
                _refuse_without_isolation()
                settings.DEVICE = resources.enter_context(own_device(device))
            if not queues and not options["burst"]:
                resources.enter_context(kept_running(["rqworker", check_queue.QUEUE, f"--companion-of={os.getpid()}"]))
            patiently(queue.requeue_lost)
            super().handle(*(queues or LANES), **options)


def _refuse_without_isolation() -> None:
    """Stop a worker that would fail every run, because strangers' models are measured in isolation only."""
    if settings.ISOLATION_REQUIRED:
        try:
            require_isolation()
        except NotIsolated as error:
            raise CommandError(str(error)) from error


def _leave(signum: int, frame: FrameType | None) -> None:
    """Leave what was entered, such as the embedded Valkey, which stops with the last process that uses it."""
    sys.exit(0)
