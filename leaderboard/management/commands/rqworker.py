"""django-rq's worker command with this project's ways: JSON, the embedded Valkey, and a restored queue."""

import os
import socket
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django_rq.management.commands import rqworker

from leaderboard.intake import queue


class Command(rqworker.Command):
    help = "Run a worker; start as many as the machines can take."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        # An idle worker looks up every (ttl - 15) seconds and then brings lost runs back.
        parser.set_defaults(serializer="json", worker_ttl=45, name=f"{socket.gethostname()}-{os.getpid()}")

    def handle(self, *args: Any, **options: Any) -> None:
        with queue.embedded_server():
            if not queue.reachable():
                raise CommandError(queue.UNREACHABLE)
            queue.requeue_lost()
            super().handle(*args, **options)
