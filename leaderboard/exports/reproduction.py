"""How a run can be measured again: the command, the weights and packages, and where its figures come from."""

import re
import shlex
from datetime import datetime, timedelta

from leaderboard.changed_settings import plan
from leaderboard.models import Model, Run
from leaderboard.ui import spelled
from leaderboard.ui.visible import visible
from probing.catalog import CATALOG
from probing.command_line.settings_flags import settings_words
from probing.results.run_json import PACKAGES
from probing.settings import Settings

MEASURING = {"python", *PACKAGES}
VERSION = re.compile(r"\d[\w.!+-]*", re.ASCII)
Fact = tuple[str, str]


def command(run: Run) -> str:
    """Return the command line that measures the same."""
    benchmark = run.benchmark.slug if run.benchmark.slug in CATALOG else f"path/to/{run.benchmark.slug}"
    words = ["python", "-m", "probing", "run", _weights(run.model), "--benchmark", benchmark]
    words += ["--commit", run.model.commit] if run.model.source == Model.Source.HUB and run.model.commit else []
    words += settings_words(Settings.from_json(run.settings))
    return shlex.join([*words, "--out", f"run-{run.pk}"])


def script(run: Run) -> str:
    """Return the command below comments that name the weights and the packages."""
    packages = _packages(run)
    pins = _pins(packages)
    python = f"# Python {packages['python']}: pip install {' '.join(pins)}" if pins and "python" in packages else ""
    return "\n".join(filter(None, [*_weights_in_words(run), python, command(run)]))


def script_file(run: Run) -> str:
    """Return the command as a shell script, which installs the packages of `requirements_file` first."""
    lines = [
        "#!/bin/sh",
        f"# Repeats run {run.pk}: {visible(str(run))}. Call it where Clozeboard is installed.",
        *_weights_in_words(run),
        "set -eu",
        *(["python -m pip install -r requirements.txt"] if _pins(_packages(run)) else []),
        command(run),
    ]
    return "\n".join(lines) + "\n"


def requirements_file(run: Run) -> str:
    """Return the packages that can change a number in the versions of the run, for pip; empty where none is recorded.

    A version of torch names the device that it was built for, as in 2.13.0+cpu. A comment has it, as package indexes
    do not.
    """
    packages = _packages(run)
    pins = _pins(packages)
    builds = [f"# {name} was {version}" for name, version in packages.items() if "+" in version]
    python = [f"# Python {packages['python']}"] if "python" in packages else []
    return "\n".join([*python, *builds, *pins, ""]) if pins else ""


def _packages(run: Run) -> dict[str, str]:
    """Return the versions that a run records of Python and of the packages that can change a number.

    Strangers push results, too. Readers install what stands here, so no other package is named, and no version that
    none can have.
    """
    packages = run.provenance_record.get("packages", {})
    return {
        name: version for name, version in packages.items() if name in MEASURING and VERSION.fullmatch(str(version))
    }


def _pins(packages: dict[str, str]) -> list[str]:
    return [f"{name}=={version.partition('+')[0]}" for name, version in packages.items() if name != "python"]


def _weights_in_words(run: Run) -> list[str]:
    """Return comments that name the files of weights that are not at the hub under the name of the model."""
    files = run.provenance_record.get("model", {}).get("files", {})
    local = run.model.source == Model.Source.LOCAL or run.model.weights_file
    return [f"# weights: {visible(name)}, SHA-256 {visible(digest)}" for name, digest in files.items() if local]


def _weights(model: Model) -> str:
    """Return what the command names as the model: the file or folder of a local one, as the hub has other weights."""
    if model.weights_file:
        return f"path/to/{model.weights_file}"
    return f"path/to/{model.hub_id.rpartition('/')[-1]}" if model.source == Model.Source.LOCAL else model.pinned_name


def facts(run: Run) -> list[Fact]:
    """Return what matters of where a run's figures come from, in words; facts that are not stored are left out."""
    version = run.benchmark.version[:12]
    rows = [
        ("Model", ", ".join(filter(None, [run.model.hub_id, run.model.weights_in_words, run.model.version_in_words]))),
        ("Benchmark", ", ".join(filter(None, [run.benchmark.title, f"version {version}", run.benchmark.licence]))),
        ("Asked", plan(Settings.from_json(run.settings))),
        ("Measured", _measured(run)),
        ("Software", _software(_packages(run))),
        ("Figures", _source(run) if run.state == Run.State.FINISHED else ""),
    ]
    return [(name, text) for name, text in rows if text]


def _measured(run: Run) -> str:
    """Return when, on what and for how long the model was asked."""
    record = run.provenance_record
    device = f"on {record['device']} in {record.get('dtype', 'float32')}" if "device" in record else ""
    try:
        start, end = (datetime.fromisoformat(record[name]) for name in ("start", "end"))
    except (KeyError, TypeError, ValueError):
        return device
    return f"{start:%Y-%m-%d}, {spelled.approximate_time(max(end - start, timedelta()))}, {device}".removesuffix(", ")


def _software(packages: dict[str, str]) -> str:
    named = ("python", "torch", "transformers", "tokenizers")
    return ", ".join(f"{name.replace('python', 'Python')} {packages[name]}" for name in named if name in packages)


def _source(run: Run) -> str:
    label = run.get_provenance_display().lower()
    return f"{label}: {run.reference}" if run.reference else label
