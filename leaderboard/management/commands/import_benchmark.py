"""Import a folder as the current version of a benchmark."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from leaderboard.management.base import PlainCommand
from leaderboard.models import Benchmark
from leaderboard.stored import benchmarks
from probing.formats import FORMATS


class Command(PlainCommand):
    help = "Import a benchmark folder; older versions and their runs are kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("format", help=f"one of: {', '.join(FORMATS)}")
        parser.add_argument("folder", type=Path, help="the benchmark's folder or archive")
        parser.add_argument("--slug", default="", help="name in addresses (default: the folder's name)")
        parser.add_argument("--title", default="", help="name on pages")
        parser.add_argument(
            "--probe",
            default="",
            help="how models are asked (default: its usual probes); added to the probes that it has here",
        )

    def run(self, *, format: str, folder: Path, slug: str, title: str, probe: str, **options: Any) -> None:
        benchmark, new = benchmarks.install(format, folder, slug, title, probe)
        content = f"{benchmark.relations} relations, {benchmark.items} items"
        self.say(f"{benchmark}: {content}." if new else f"{benchmark} is imported already: nothing to do.")
        self.say(f"Plan: {benchmark.plan}.")
        others = Benchmark.objects.filter(slug=benchmark.slug, current=True).exclude(pk=benchmark.pk)
        for other in others.exclude(path=""):
            self.say(f"Asked by another probe as well: {other.name}.")
        if not new:
            self.say("A version keeps the plan of its first import; import it under another --slug for another plan.")
