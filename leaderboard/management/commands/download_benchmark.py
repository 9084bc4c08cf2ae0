"""Download a known benchmark from its official source and import it."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from leaderboard.management.base import PlainCommand
from leaderboard.stored import benchmarks
from probing.catalog import download, known_benchmark


class Command(PlainCommand):
    help = "Download a benchmark at its pinned commit, check its digest and import it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="name of a benchmark in the catalog")

    def run(self, *, slug: str, **options: Any) -> None:
        folder = settings.DATA / "benchmarks" / slug
        download(slug, folder)
        benchmark, _ = benchmarks.install(known_benchmark(slug).format, folder, slug)
        self.say(f"{benchmark}: {benchmark.relations} relations, {benchmark.items} items.")
        self.say(f"Plan: {benchmark.plan}.")
