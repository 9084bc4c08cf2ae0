"""Download a known benchmark from its official source and import it."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings

from leaderboard.figures import benchmarks
from leaderboard.management.base import PlainCommand
from probing.catalog import download, how_checked, known_benchmark, known_name


class Command(PlainCommand):
    help = "Download a benchmark at its pinned commit, check its digest and import it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="name of a benchmark in the catalog")
        parser.add_argument("--templates", type=Path, help="folder of templates for a benchmark without them (dlama)")

    def run(self, *, slug: str, templates: Path | None, **options: Any) -> None:
        slug = known_name(slug)
        folder = settings.DATA / "benchmarks" / slug
        download(slug, folder, templates)
        benchmark, _ = benchmarks.install(known_benchmark(slug).format, folder, slug)
        self.say(f"{benchmark}: {benchmark.relations} relations, {benchmark.items} items.")
        self.say(how_checked(slug, folder))
        self.say(f"Plan: {benchmark.plan}.")
