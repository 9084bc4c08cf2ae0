"""Write everything that the pages show into one file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from leaderboard.management.base import PlainCommand
from leaderboard.operations.backup import write_backup


class Command(PlainCommand):
    help = "Write the site's rows, results and benchmarks into one file, while the site runs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a new file, by custom with the ending .tar.gz")

    def run(self, *, file: Path, **options: Any) -> None:
        manifest = write_backup(file)
        rows = sum(manifest.rows.values())
        self.say(f"{rows:,} rows and {len(manifest.files) - 1:,} files are in {file} ({file.stat().st_size:,} bytes).")
        for name in manifest.missing:
            self.say(f"Missing and therefore not in it: {name}")
        self.say(f"Not in it: {'; '.join(manifest.left_out)}.")
