"""docs/adding-a-probe.md, followed to the letter in a copy of the project: from the shell to every kind of page."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from probing.catalog import EMBEDDED
from tests.tiny_models import build_gpt2

ROOT = Path(__file__).parent.parent
DOCUMENT = (ROOT / "docs" / "adding-a-probe.md").read_text(encoding="utf-8")
COPIED = ("docs", "leaderboard", "probing", "static", "templates", "manage.py")
RELATIONS = ("country_continent", "animal_class")
VISIT = Path(__file__).with_name("visit_contrast.py")


def code_blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT, re.DOTALL | re.MULTILINE)


def add_lines(file: Path, imported: str, entry: str) -> None:
    """Put the import behind the last one, and the entry at the end of the registry."""
    text = file.read_text(encoding="utf-8")
    *_, last_import = re.finditer(r"^(?:from|import) .*\n", text, re.MULTILINE)
    text = text[: last_import.end()] + imported + text[last_import.end() :]
    end = re.search(r"^(    \)|})$", text, re.MULTILINE)
    assert end, f"{file} has no registry"
    file.write_text(text[: end.start()] + entry + text[end.start() :], encoding="utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the probe of the document."""
    copy = tmp_path_factory.mktemp("project")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy / name)
    (copy / "fixtures").symlink_to(ROOT / "fixtures")
    probe, pages = code_blocks("python")
    added = [re.findall(r"^\+(.*\n)", block, re.MULTILINE) for block in code_blocks("diff")]
    (probe_import,), (probe_entry,), (pages_import,), (pages_entry,) = added
    (copy / "probing" / "probes" / "contrast.py").write_text(probe, encoding="utf-8")
    add_lines(copy / "probing" / "probes" / "__init__.py", probe_import, probe_entry)
    (copy / "leaderboard" / "probes" / "contrast.py").write_text(pages, encoding="utf-8")
    (template,) = code_blocks("html")
    (copy / "templates" / "probes" / "contrast.html").write_text(template, encoding="utf-8")
    add_lines(copy / "leaderboard" / "probes" / "__init__.py", pages_import, pages_entry)
    build_gpt2(copy / "models" / "org" / "tiny")
    write_two_relations(copy / "two-relations")
    return copy


def write_two_relations(folder: Path) -> None:
    """Write a benchmark of two relations of the starter benchmark, of one domain each."""
    folder.mkdir()
    for name in ("metadata_relations.json", "relation_info.json"):
        content = json.loads((EMBEDDED / "starter" / name).read_text(encoding="utf-8"))
        (folder / name).write_text(
            json.dumps({relation: content[relation] for relation in RELATIONS}), encoding="utf-8"
        )
    for relation in RELATIONS:
        shutil.copy(EMBEDDED / "starter" / f"{relation}.jsonl", folder)


def python(project: Path, *arguments: str) -> str:
    usual = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    environment = usual | {
        "PYTHONPATH": str(project),
        "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
        "CLOZEBOARD_DATA": str(project / "var"),
        "CLOZEBOARD_MODELS": str(project / "models"),
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_document_names_every_file_that_it_changes() -> None:
    for name in ("probing/probes/", "leaderboard/probes/"):
        assert f"`{name}contrast.py`" in DOCUMENT
        assert f"`{name}__init__.py`" in DOCUMENT


@pytest.mark.slow
def test_the_command_line_runs_shows_and_compares_it(project: Path) -> None:
    model = str(project / "models" / "org" / "tiny")
    run = ["run", model, "--benchmark", "starter", "--relation", RELATIONS[0], "--limit", "6", "--probe", "contrast"]
    commands = [
        *([*run, "--set", f"distance={distance}", "--out", f"result-{distance}"] for distance in ("1", "2")),
        ["show", "result-1"],
        ["compare", "result-1", "result-2"],
    ]
    said = python(project, "-c", f"from probing.__main__ import main; assert not any(map(main, {commands}))")
    assert "preference" in said
    assert "contrast, distance=2" in said


@pytest.mark.slow
def test_every_page_shows_it(project: Path) -> None:
    """The submit form, a worker's run, leaderboard, run, items, item, comparison, CSV and API."""
    python(project, "-c", f"import django, runpy; django.setup(); runpy.run_path({str(VISIT)!r})")
