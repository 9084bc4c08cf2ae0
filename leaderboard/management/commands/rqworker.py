"""django-rq's worker command with JSON jobs and a device of its own; without queues, all that one machine needs."""

import os
import signal
import socket
import sys
from argparse import ArgumentParser
from contextlib import ExitStack
from secrets import token_hex
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django_rq.management.commands import rqworker

from leaderboard.figures.artefacts import patiently
from leaderboard.intake import queue
from leaderboard.line import CHECKS, FINISH, QUEUES
from leaderboard.management.base import MANAGE, child, wait_for_ever
from leaderboard.redis_server import embedded_server
from leaderboard.worker.reconciling import put_back
from leaderboard.worker.site_worker import own_device
from probing.errors import MissingPackage
from probing.extras import require_package
from probing.measuring.failures import NotIsolated
from probing.measuring.limits import require_isolation

WAKE_SECONDS = 5  # how often an idle worker looks whether Redis still knows it


class Command(rqworker.Command):
    help = (
        f"Run a worker of the named queues: {', '.join(QUEUES)} on a machine that measures, with one worker for each "
        f"GPU; {CHECKS} and {FINISH} need none. Without names, run all that one machine needs as processes of this "
        "command: a worker that measures, one for the rest, and rqcron. With --burst, one worker does all there is "
        "to do, and ends."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        # RQ lets an idle worker wait for (ttl - 15) seconds at a time.
        # In a container that is started again, host and process have the names of the one that was killed, and RQ
        # refuses a second worker of the same name.
        name = f"{socket.gethostname()}-{os.getpid()}-{token_hex(2)}"
        parser.set_defaults(serializer="json", worker_ttl=WAKE_SECONDS + 15, name=name)
        parser.add_argument(
            "--device", default=settings.DEVICE, help="cpu, cuda, cuda:1 or auto: a GPU that no other worker here has"
        )

    def handle(self, *queues: str, device: str, **options: Any) -> None:
        if unknown := set(queues) - set(settings.RQ_QUEUES):
            names = ", ".join(settings.RQ_QUEUES)
            raise CommandError(f"There is no queue {min(unknown)!r}. The queues are {names}.", returncode=2)
        if not queues or not set(queues).isdisjoint(QUEUES):
            _refuse_without_torch()
        signal.signal(signal.SIGTERM, _leave)  # until RQ's worker installs its own handler
        with ExitStack() as resources:
            resources.enter_context(embedded_server())
            if not queue.reachable():
                raise CommandError(queue.UNREACHABLE)
            if not queues and not options["burst"]:
                _run_all(resources, device)
            chosen = queues or (CHECKS, FINISH, *QUEUES)
            if not set(chosen).isdisjoint(QUEUES):
                _refuse_without_isolation()
                settings.DEVICE = resources.enter_context(own_device(device))
            patiently(put_back)
            super().handle(*chosen, **options)


def _run_all(resources: ExitStack, device: str) -> None:
    """Run the processes of one machine until a signal comes; raise `CommandError` when one of them ends."""
    commands = {
        "measuring": ["rqworker", *QUEUES, "--device", device],
        "checking and finishing": ["rqworker", CHECKS, FINISH],
        "rqcron": ["rqcron"],
    }
    wait_for_ever({name: resources.enter_context(child([MANAGE, *command])) for name, command in commands.items()})


def _refuse_without_torch() -> None:
    """Stop a worker that would fail every run."""
    try:
        require_package("torch", "work", "Measuring")
    except MissingPackage as error:
        raise CommandError(str(error), returncode=2) from error


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
