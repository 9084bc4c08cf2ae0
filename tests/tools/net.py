"""Compare what two checkouts show: `python -m tests.tools.net dump OUT` in both, then `... net compare A B`.

A dump has every page, table and API answer of the filled site, and a small run of each probe, one file each
(tests/tools/net_dump.py). `compare` names what is missing, new or changed, and exits with 1 where anything is.

The file of `--allow` says what may differ, one pattern a line (`*` stands for any text): the name of an entry, or, with
`-` or `+` in front, a line that may be gone or come in any entry. A line that begins with `#` is a comment.
"""

import os
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from difflib import unified_diff
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
SHOWN = 12  # lines of the differences of one entry


def dump(out: Path, checkout: Path) -> int:
    """Run net_dump.py with the code of a checkout, into an empty folder."""
    if out.exists() and any(out.iterdir()):
        sys.exit(f"error: {out} is not empty. Name a new folder.")
    usual = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    with TemporaryDirectory() as folder:
        ours = {
            "CLOZEBOARD_DATA": f"{folder}/data",
            "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
            "HF_ENDPOINT": "http://127.0.0.1:9",  # nothing listens there
            "OMP_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": str(checkout.resolve()),
        }
        script = Path(__file__).with_name("net_dump.py")
        command = [sys.executable, "-P", str(script), str(out.resolve()), folder]
        return subprocess.run(command, cwd=checkout, env=usual | ours, check=False).returncode


def entries(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        sys.exit(f"error: There is no dump {folder}. Make it: python -m tests.tools.net dump {folder}")
    return {str(path.relative_to(folder).with_suffix("")): path for path in folder.rglob("*.txt")}


def differences(before: Path, after: Path, allowed: list[str]) -> Iterator[str]:
    """Yield a paragraph for each entry that is missing, new or changed."""
    first, second = entries(before), entries(after)
    for name in sorted(first.keys() | second.keys()):
        if any(fnmatchcase(name, pattern) for pattern in allowed):
            continue
        if name not in second:
            yield f"missing: {name}"
        elif name not in first:
            yield f"new: {name}"
        elif lines := changed_lines(first[name], second[name], allowed):
            more = [f"... {len(lines) - SHOWN} further lines"] if len(lines) > SHOWN else []
            yield "\n".join([f"changed: {name}", *(f"    {line[:200]}" for line in lines[:SHOWN] + more)])


def changed_lines(before: Path, after: Path, allowed: list[str]) -> list[str]:
    if before.read_bytes() == after.read_bytes():
        return []
    lines = unified_diff(before.read_text().splitlines(), after.read_text().splitlines(), n=0, lineterm="")
    changed = [line for line in lines if line[0] in "+-"][2:]
    return [line for line in changed if not any(fnmatchcase(line, pattern) for pattern in allowed)]


def compare(before: Path, after: Path, allow: Path | None) -> int:
    lines = allow.read_text().splitlines() if allow else []
    allowed = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    number = 0
    for paragraph in differences(before, after, allowed):
        print(paragraph)
        number += 1
    print(f"{number} entries differ." if number else "No difference.")
    return int(number > 0)


def main() -> int:
    parser = ArgumentParser(prog="python -m tests.tools.net", description="Compare what two checkouts show.")
    commands = parser.add_subparsers(required=True, dest="command")
    dumping = commands.add_parser("dump", help="write what a checkout shows")
    dumping.add_argument("out", type=Path)
    dumping.add_argument("--checkout", type=Path, default=ROOT, metavar="DIR", help="default: this one")
    comparing = commands.add_parser("compare", help="list the differences of two dumps")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--allow", type=Path, metavar="FILE", help="patterns of what may differ")
    arguments = parser.parse_args()
    if arguments.command == "dump":
        return dump(arguments.out, arguments.checkout)
    return compare(arguments.before, arguments.after, arguments.allow)


if __name__ == "__main__":
    sys.exit(main())
