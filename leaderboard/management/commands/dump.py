"""Write everything that everybody may have into one dated file, which the site offers."""

from typing import Any

from leaderboard.management.base import PlainCommand
from leaderboard.models import Benchmark
from leaderboard.operations.dump import dumps, write_dump


class Command(PlainCommand):
    help = "Write the whole site into one dated file without anything private, and offer it on the page of snapshots."

    def run(self, **options: Any) -> None:
        target, manifest = write_dump()
        rows = sum(manifest.rows.values())
        self.say(f"{rows:,} rows and {len(manifest.files) - 1:,} files are in {target} ({dumps()[0].bytes:,} bytes).")
        self.say(f"SHA-256 {dumps()[0].digest}")
        for name in manifest.missing:
            self.say(f"Missing and therefore not in it: {name}")
        self.say(f"Not in it: {'; '.join(manifest.left_out)}.")
        for benchmark in Benchmark.objects.exclude(path="").order_by("slug", "version"):
            licence = benchmark.licence or "none stated"
            self.say(f"It has the files of {benchmark.slug} {benchmark.version[:12]}. Their licence: {licence}.")
