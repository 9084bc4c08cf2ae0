"""Serve the site with the settings of `leaderboard.serving.web_server`."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from leaderboard.management.base import PlainCommand
from leaderboard.serving import web_server


class Command(PlainCommand):
    help = "Serve the site until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--listen", default=f"127.0.0.1:{settings.PORT}", help="address and port (default: 127.0.0.1 and PORT)"
        )

    def run(self, *, listen: str, **options: Any) -> None:
        web_server.serve(listen)
