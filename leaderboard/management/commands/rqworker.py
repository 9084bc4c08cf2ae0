"""django-rq's worker command with JSON jobs, the embedded Valkey, and lost runs enqueued again at the start."""

import os
import socket
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django_rq.management.commands import rqworker

from leaderboard.intake import queue
from leaderboard.schedule import LANES


class Command(rqworker.Command):
    help = "Run a worker. Start one for each GPU; on CPUs, start as many as fit into memory."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        # An idle worker wakes up every (ttl - 15) seconds and then enqueues lost runs again.
        parser.set_defaults(serializer="json", worker_ttl=45, name=f"{socket.gethostname()}-{os.getpid()}")

    def handle(self, *args: Any, **options: Any) -> None:
        with queue.embedded_server():
            if not queue.reachable():
                raise CommandError(queue.UNREACHABLE)
            queue.requeue_lost()
            super().handle(*(args or LANES), **options)
