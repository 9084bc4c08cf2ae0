"""The comparison of two dumps names each entry that differs."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def entry(dump: Path, name: str, text: str) -> None:
    path = dump / f"{name}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def compared(folder: Path, *words: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "tests.tools.net", "compare", str(folder / "a"), str(folder / "b"), *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    return done.returncode, done.stdout


def test_missing_new_and_changed_entries_are_named_unless_they_are_allowed(tmp_path: Path) -> None:
    for dump, cell in (("a", "0.5"), ("b", "0.6")):
        entry(tmp_path / dump, "site/index", "alike\n")
        entry(tmp_path / dump, "site/changed", f"name,score\nx,{cell}\n")
        entry(tmp_path / dump, f"site/only-{dump}", "")
    code, text = compared(tmp_path)
    assert code == 1
    assert text.splitlines() == [
        "changed: site/changed",
        "    -x,0.5",
        "    +x,0.6",
        "missing: site/only-a",
        "new: site/only-b",
        "3 entries differ.",
    ]
    allowed = tmp_path / "allowed"
    allowed.write_text("# What goes.\nsite/only-*\n-x,0.5\n+x,0.6\n")
    assert compared(tmp_path, f"--allow={allowed}") == (0, "No difference.\n")
