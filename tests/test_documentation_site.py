"""The documentation site builds without a warning, needs nothing from the network, and has a place for every name."""

import re
import subprocess
import sys
from argparse import ArgumentParser
from html import unescape
from pathlib import Path

import pytest

import probing
from docs.site.docstrings import as_markdown
from docs.site.generated import commands, commands_page, library_errors, shown
from probing.__main__ import parser
from probing.catalog import CATALOG
from probing.probes import PROBES
from probing.probes.probe import declared_options
from probing.settings import SETTINGS

ROOT = Path(__file__).parents[1]
PUBLIC = sorted({*probing.__all__, *(f"monitor.{name}" for name in probing.monitor.__all__)} - {"monitor"})
COMMANDS = {" ".join(path): command for path, command, _ in commands(parser())}

pytestmark = pytest.mark.slow  # builds the documentation


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as `make docs` does; a warning, such as that of a broken link, ends the build."""
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def page(site: Path, name: str) -> str:
    return unescape((site / name).read_text(encoding="utf-8"))


def test_every_public_name_has_a_place(site: Path) -> None:
    text = page(site, "reference/python.html")
    assert [name for name in PUBLIC if f'id="probing.{name}"' not in text] == []


def test_every_command_and_argument_has_a_place(site: Path) -> None:
    text, missing = page(site, "reference/commands.html"), []
    for name, command in COMMANDS.items():
        parts = re.split(rf"<h[2-4] [^>]*>{name}<", text)
        if len(parts) != 2:
            missing.append(name)
            continue
        section = re.split(r"<h[2-4] ", parts[1])[0]
        labels = [(argument.option_strings or [argument.metavar or argument.dest])[0] for argument in shown(command)]
        missing += [f"{name} {label}" for label in labels if f"<code>{label}" not in section]
    assert missing == []


def test_an_argument_is_shown_with_its_value_choices_and_need() -> None:
    command = ArgumentParser()
    command.add_argument("--depth", type=int, metavar="N", help="how deep | far; default: %(default)s", default=3)
    command.add_argument("--kind", choices=["a", "b"], required=True)
    whole = ArgumentParser()
    whole.add_subparsers().add_parser("dig", parents=[command], add_help=False, help="make a hole")
    text = commands_page(whole)
    assert "## dig\n\nMake a hole.\n\n```text\nclozeboard dig" in text
    assert "| `--depth N` | how deep \\| far; default: 3 |" in text
    assert "| `--kind NAME` | one of `a`, `b`; required |" in text


def test_every_option_of_a_probe_has_a_place(site: Path) -> None:
    text, missing = page(site, "reference/probes.html"), []
    for name, probe in PROBES.items():
        section = re.split(r"<h2 ", text.partition(f'id="probe-{name}"')[2])[0]
        assert section, name
        cells = {option: f"<td><code>{option}</code></td>" for option in declared_options(probe)}
        missing += [(name, option) for option, cell in cells.items() if cell not in section]
    assert missing == []


def test_every_setting_and_benchmark_has_a_place(site: Path) -> None:
    settings, benchmarks = page(site, "reference/probes.html"), page(site, "reference/benchmarks.html")
    assert all(f"<td><code>{name}</code></td>" in settings for name in SETTINGS)
    for slug, entry in CATALOG.items():
        (row,) = (row for row in benchmarks.split("<tr>") if f"<td><code>{slug}</code></td>" in row)
        assert f'href="{entry.source}"' in row or not entry.source
        assert f"digest <code>{entry.digest[:12]}</code>" in row or not entry.digest
        assert "first download" in row or entry.digest or not entry.downloads


def test_every_exception_has_a_place_with_its_code(site: Path) -> None:
    text, codes = page(site, "reference/exceptions.html"), page(site, "errors.html")
    for error in library_errors():
        assert f"<code>{error.__name__}</code> (<code>{error.code}</code>)" in text
        assert error.code in ("probing", *re.findall(r"<td><code>([\w-]+)</code></td>", codes))


def test_readers_load_nothing_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        loaded = re.findall(r"<(?:script|img|link|iframe|source)[^>]*?(?:src|href)=\"([^\"]*)\"", path.read_text())
        assert [address for address in loaded if re.match(r"(https?:)?//", address)] == [], path
        assert 'class="mermaid"' not in path.read_text()  # the theme would load the script for it from elsewhere


def test_names_that_a_docstring_explains_become_a_list() -> None:
    text = "Do it.\n\n`a`: the first, which\nis long. `b`, `c`: others.\nRaises `BadInput`.\n\nExamples:\n    >>> 1\n"
    assert as_markdown(text) == (
        "Do it.\n\n- `a`: the first, which is long.\n\n- `b`, `c`: others.\n\nRaises `BadInput`."
        "\n\nExamples:\n    >>> 1\n"
    )
