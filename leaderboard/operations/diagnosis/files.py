"""Checks of files: the storage works and has space, and files and rows belong to each other."""

import os
import shutil
from collections.abc import Iterator

from django.conf import settings

from leaderboard.models import Benchmark, Run
from leaderboard.operations import health
from leaderboard.operations.diagnosis.findings import Finding, fine, problem, warning
from leaderboard.stored import artefacts

LITTLE = 10**9  # bytes; with less, the next result may not fit
SAMPLE = 50  # finished runs whose files are looked for
NAMED = 5  # examples in a message


def storage() -> Iterator[Finding]:
    try:
        state = health.storage()
    except Exception as error:  # storages raise the errors of their own libraries
        state = health.Health(False, f"It fails: {error}")
    if state.ok:
        yield fine("storage", "The artefact storage can be written and read.")
    else:
        step = "Give the site's user the right to write there, or correct STORAGES in the settings."
        yield problem("storage", state.message, step)


def space() -> Iterator[Finding]:
    for name, folder in (("data", settings.DATA), ("model cache", settings.HUB_CACHE)):
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        free = shutil.disk_usage(existing).free
        space_left = f"{free / 10**9:.1f} GB are free for the {name} ({folder})."
        if free < LITTLE:
            yield problem("space", space_left, "Free some space, or set CLOZEBOARD_DATA to a larger disk.")
        elif free < settings.MODEL_SIZE_LIMIT:
            step = "Free some space, or lower CLOZEBOARD_MODEL_GB: the largest accepted model does not fit."
            yield warning("space", space_left, step)
        else:
            yield fine("space", space_left)


def local_models() -> Iterator[Finding]:
    folder = settings.MODELS
    if not folder.exists():
        yield fine("local models", f"There is no folder {folder}; only models of the hub are offered.")
    elif not (folder.is_dir() and os.access(folder, os.R_OK | os.X_OK)):
        step = "Give the site's user the right to read it, or correct CLOZEBOARD_MODELS."
        yield problem("local models", f"The folder {folder} cannot be read.", step)
    else:
        yield fine("local models", f"The folder {folder} can be read.")


def orphans() -> Iterator[Finding]:
    """Look for folders of results whose run is not in the database."""
    try:
        folders, _ = artefacts.storage().listdir("runs")
    except OSError:  # no run has stored anything yet
        folders = []
    run_numbers = {str(pk) for pk in Run.objects.values_list("pk", flat=True)}
    orphaned = sorted(set(folders) - run_numbers)
    if orphaned:
        names = ", ".join(f"runs/{name}" for name in orphaned[:NAMED])
        step = "Delete these folders from the artefact storage, or restore the database that lists them."
        yield warning("orphans", f"{len(orphaned)} folders of results belong to no run: {names}.", step)
    else:
        yield fine("orphans", f"All {len(folders)} folders of results belong to runs.")


def results() -> Iterator[Finding]:
    """Look for the items of the newest finished runs."""
    runs = Run.objects.filter(state=Run.State.FINISHED).exclude(artefact="").order_by("-pk")[:SAMPLE]
    names = [f"{run.artefact}/items.parquet" for run in runs]
    missing = [name for name in names if not artefacts.storage().exists(name)]
    if missing:
        step = "Restore the artefacts from a backup; the pages of these items cannot be shown."
        yield problem("results", f"Files are missing: {', '.join(missing[:NAMED])} ({len(missing)} in all).", step)
    else:
        yield fine("results", f"The items of the {len(names)} newest results are there.")


def benchmarks() -> Iterator[Finding]:
    paths = Benchmark.objects.exclude(path="").values_list("path", flat=True)
    missing = [path for path in paths if not (settings.DATA / path).is_dir()]
    if missing:
        step = "Restore them from a backup, or import these benchmarks again (manage.py import_benchmark)."
        yield problem("benchmarks", f"Folders are missing: {', '.join(missing[:NAMED])}.", step)
    else:
        yield fine("benchmarks", f"The folders of all {len(paths)} imported versions are there.")
