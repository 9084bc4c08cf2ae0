"""Take pictures of every kind of page in every look: `make screenshots`, or `python -m tests.pictures --out FOLDER`.

The pages are those of a site in a temporary folder, which is filled with finished runs of three small models of random
weights (tests/filled_site.py), with published figures, and with runs that wait, go on and have failed.
"""

import os
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "var" / "pictures"
FILL = "from tests import filled_site; filled_site.fill(); filled_site.add_unfinished()"


def main() -> None:
    parser = ArgumentParser(description="Take pictures of every kind of page of a site of random models.")
    parser.add_argument("--out", type=Path, default=OUT, help=f"folder (default: {OUT})")
    parser.add_argument("--full", action="store_true", help="whole pages instead of what a window shows")
    arguments = parser.parse_args()
    pictures = ["screenshots", f"--out={arguments.out.resolve()}", *(["--full"] if arguments.full else [])]
    with TemporaryDirectory() as folder:
        environment = os.environ | {"CLOZEBOARD_DATA": folder, "DJANGO_SETTINGS_MODULE": "leaderboard.settings"}
        for command in (
            ["migrate", "--verbosity=0"],
            ["load_published"],
            ["shell", "--verbosity=0", f"--command={FILL}"],
            pictures,
        ):
            subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=environment, check=True)


if __name__ == "__main__":
    main()
