"""Checks of the settings before every command, and of the whole deployment by `manage.py check --deploy`.

`--tag` with database, files, machine or work picks some. What is in order is not reported.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Max
from django.utils import timezone
from redis.exceptions import RedisError

from leaderboard.figures import artefacts
from leaderboard.figures.live_workers import served_queues
from leaderboard.figures.runs import WORKING
from leaderboard.intake import queue
from leaderboard.line import CHECKS, FINISH, QUEUES
from leaderboard.models import STALE, Benchmark, Claim, Run
from leaderboard.operations import site_state
from leaderboard.operations.site_state import measured
from probing.measuring import limits
from probing.measuring.failures import NotIsolated

State = Run.State
SKEW = timedelta(seconds=2)  # difference of two clocks from which on the operator should know
LITTLE = 10**9  # bytes; with less, the next result may not fit
SAMPLE = 50  # finished runs whose files are looked for
NAMED = 5  # examples in a message
HUB_SECONDS = 4.0  # that an answer of the hub may take
RESTORED_WITHIN = timedelta(minutes=10)  # a run whose worker was lost is put back within two minutes

Check = Callable[[], Iterator[CheckMessage]]


def deployment_check(tag: str) -> Callable[[Check], Callable[..., list[CheckMessage]]]:
    """Register a check for `manage.py check --deploy`; what interrupts it, as a database that is away, is an error."""

    def registered(check: Check) -> Callable[..., list[CheckMessage]]:
        def carried_out(**kwargs: Any) -> list[CheckMessage]:
            try:
                return list(check())
            except (DatabaseError, OSError) as error:
                message = f"The check of the {check.__name__.replace('_', ' ')} was interrupted: {error}"
                hint = "Start what does not answer, correct its address or rights, and check again."
                return [Error(message, hint=hint, id="clozeboard.E100")]

        register(carried_out, tag, deploy=True)
        return carried_out

    return registered


@deployment_check("database")
def database() -> Iterator[CheckMessage]:
    """Check that the database answers and has the tables of this version, can be written, and has the right time."""
    connection.ensure_connection()
    executor = MigrationExecutor(connection)
    if plan := executor.migration_plan(executor.loader.graph.leaf_nodes()):
        names = ", ".join(f"{migration.app_label} {migration.name}" for migration, _ in plan[:3])
        yield Error(
            f"{len(plan)} migrations are missing: {names}.", hint="Run manage.py migrate.", id="clozeboard.E101"
        )
        return
    try:  # a change that concerns no row needs the right to write, and in SQLite the lock as well
        Benchmark.objects.filter(pk=-1).update(title="")
    except DatabaseError as error:
        hint = "Give the site's user the right to write, free space, or end the process that holds the lock."
        yield Error(f"The database cannot be written: {error}", hint=hint, id="clozeboard.E102")
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA journal_mode")
            yield from of_journal(*cursor.fetchone())
        else:
            cursor.execute("SELECT CURRENT_TIMESTAMP")
            (time,) = cursor.fetchone()
            yield from of_skew(abs(timezone.now() - time))


def of_journal(mode: str) -> Iterator[CheckMessage]:
    """Check that pages of a site on SQLite need not wait for writers."""
    if mode != "wal":
        hint = "Put the data folder on a local disk; network folders cannot have a write-ahead log."
        message = f"SQLite is in the journal mode {mode}, in which pages wait for writers."
        yield Warning(message, hint=hint, id="clozeboard.W101")


def of_skew(skew: timedelta) -> Iterator[CheckMessage]:
    """Judge the difference of two clocks: RQ's heartbeats are written by one and read by the other."""
    message = f"The clocks of the database and of this machine differ by {skew.total_seconds():.1f} seconds."
    hint = "Let both machines set their clocks by NTP, for example with chrony."
    if skew > STALE / 2:
        yield Error(message, hint=hint, id="clozeboard.E103")
    elif skew >= SKEW:
        yield Warning(message, hint=hint, id="clozeboard.W103")


@deployment_check("files")
def artefact_storage() -> Iterator[CheckMessage]:
    try:
        state = site_state.storage()
    except Exception as error:  # storages raise the errors of their own libraries
        state = site_state.Health(False, f"The artefact storage fails: {error}")
    if not state.ok:
        hint = "Give the site's user the right to write there, or correct the settings of the bucket."
        yield Error(state.message, hint=hint, id="clozeboard.E104")


@deployment_check("files")
def disk_space() -> Iterator[CheckMessage]:
    for name, folder in (("data", settings.DATA), ("model cache", settings.HUB_CACHE)):
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        free = shutil.disk_usage(existing).free
        message = f"{free / 10**9:.1f} GB are free for the {name} ({folder})."
        if free < LITTLE:
            yield Error(message, hint="Free some space, or set CLOZEBOARD_DATA to a larger disk.", id="clozeboard.E105")
        elif free < settings.MODEL_SIZE_LIMIT:
            hint = "Free some space, or lower CLOZEBOARD_MODEL_GB: the largest accepted model does not fit."
            yield Warning(message, hint=hint, id="clozeboard.W105")


@deployment_check("files")
def local_models() -> Iterator[CheckMessage]:
    folder = settings.MODELS
    if folder.exists() and not (folder.is_dir() and os.access(folder, os.R_OK | os.X_OK)):
        hint = "Give the site's user the right to read it, or correct CLOZEBOARD_MODELS."
        yield Error(f"The folder of local models {folder} cannot be read.", hint=hint, id="clozeboard.E106")


@deployment_check("files")
def stored_files() -> Iterator[CheckMessage]:
    """Check that rows have their files, the newest results and all benchmarks, and that files have their rows."""
    runs = Run.objects.filter(state=State.FINISHED).exclude(artefact="").order_by("-pk")[:SAMPLE]
    names = [f"{run.artefact}/items.parquet" for run in runs]
    if missing := [name for name in names if not artefacts.storage().exists(name)]:
        hint = "Take the artefacts from a backup; the pages of these items cannot be shown."
        yield Error(f"Results are missing: {_first(missing)}.", hint=hint, id="clozeboard.E107")
    paths = Benchmark.objects.exclude(path="").values_list("path", flat=True)
    if missing := [path for path in paths if not (settings.DATA / path).is_dir()]:
        hint = "Take them from a backup, or import these benchmarks again (manage.py import_benchmark)."
        yield Error(f"Folders of benchmarks are missing: {_first(missing)}.", hint=hint, id="clozeboard.E108")
    try:
        folders, _ = artefacts.storage().listdir("runs")
    except FileNotFoundError:  # no run has stored anything yet
        return
    run_numbers = {str(pk) for pk in Run.objects.values_list("pk", flat=True)}
    if orphaned := [f"runs/{name}" for name in sorted(set(folders) - run_numbers)]:
        hint = "Delete these folders from the artefact storage, or take the database that lists them from a backup."
        yield Warning(f"Results belong to no run: {_first(orphaned)}.", hint=hint, id="clozeboard.W108")


def _first(names: list[str]) -> str:
    return f"{', '.join(names[:NAMED])} ({len(names)} in all)"


@deployment_check("machine")
def accelerator() -> Iterator[CheckMessage]:
    """Ask the driver for its GPUs where there is one; torch is not loaded for this."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return
    command = [program, "--query-gpu=name", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired as error:
        done = subprocess.CompletedProcess(command, 1, "", str(error))
    if done.returncode or not done.stdout.strip():
        answer = (done.stderr or done.stdout).strip()[:200]
        hint = "Install the driver again, or pass the GPU on to this container or machine."
        yield Warning(f"The NVIDIA driver shows no GPU: {answer}", hint=hint, id="clozeboard.W109")


@deployment_check("machine")
def hub() -> Iterator[CheckMessage]:
    address = settings.HF_ENDPOINT
    try:
        urlopen(Request(address, method="HEAD"), timeout=HUB_SECONDS).close()
    except HTTPError:
        return  # a hub that refuses the request is there
    except (OSError, ValueError) as error:
        hint = "Let the proxy or firewall pass it, or correct HF_ENDPOINT. Local models are measured all the same."
        yield Warning(f"The hub {address} does not answer: {error}.", hint=hint, id="clozeboard.W110")


@deployment_check("work")
def workers() -> Iterator[CheckMessage]:
    """Check that every queue has a worker, and that the runs whose turn it is stand in RQ."""
    served = served_queues()
    waiting = measured().filter(state=State.QUEUED)
    for names in (QUEUES, (CHECKS,), (FINISH,)):
        if served.isdisjoint(names):
            hint = f"Start one: manage.py rqworker {' '.join(names)}. If one runs, look into its log."
            message = f"No worker serves the queue {names[0]}."
            if number := waiting.count() if names == QUEUES else 0:
                yield Error(f"{message} {number} runs wait for one.", hint=hint, id="clozeboard.E111")
            else:
                yield Warning(message, hint=hint, id="clozeboard.W111")
    try:
        jobs = {job for name in QUEUES for job in queue.jobs_in(name)}
    except RedisError:  # clozeboard.W001 and the missing workers say so
        return
    standing = waiting.exclude(standing_since=None).values_list("pk", flat=True)
    if missing := [f"run {pk}" for pk in standing if f"run-{pk}" not in jobs]:
        message = f"Runs wait that are not in the queue: {_first(missing)}."
        hint = "Run manage.py requeue, and start manage.py rqcron, which does the same every half minute."
        yield Error(message, hint=hint, id="clozeboard.E112")


@deployment_check("work")
def runs_in_progress() -> Iterator[CheckMessage]:
    """Check that every run that was begun has a worker."""
    begun = measured().filter(state__in=WORKING)
    runs = begun.exclude(pk__in=Claim.objects.fresh().values("run")).annotate(last=Max("events__time"))
    runs = runs.filter(last__lt=timezone.now() - RESTORED_WITHIN).select_related("model").order_by("pk")
    if forsaken := [f"{run.pk} ({run.model.hub_id})" for run in runs]:
        message = f"No worker works on runs that are in progress: {_first(forsaken)}."
        hint = "Start a worker of their queue and manage.py rqcron, or run manage.py requeue."
        yield Error(message, hint=hint, id="clozeboard.E114")


# Checks of the settings, which are quick and come before every command.


@register("files")
def data_folder_is_writable(**kwargs: Any) -> list[CheckMessage]:
    folder = next(path for path in (settings.DATA, *settings.DATA.parents) if path.exists())
    if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
        return []
    hint = "Give the user who runs the site the right to write there, or set CLOZEBOARD_DATA to another folder."
    return [Error(f"The data folder {settings.DATA} is not writable.", hint=hint, id="clozeboard.E001")]


@register("machine")
def secret_key_is_secret(**kwargs: Any) -> list[CheckMessage]:
    if len(settings.SECRET_KEY) >= 32:
        return []
    hint = "Unset SECRET_KEY to have one generated and kept in the data folder, or set 50 random characters."
    return [Error("SECRET_KEY can be guessed.", hint=hint, id="clozeboard.E002")]


@register("work")
def redis_answers(**kwargs: Any) -> list[CheckMessage]:
    """Warn if the server that REDIS_URL names does not answer; the embedded server runs only while a worker does."""
    if settings.EMBEDDED_REDIS or queue.reachable():
        return []
    hint = "Pages work and submissions are kept, but nothing is measured. Start the server or correct REDIS_URL."
    return [Warning("The Redis server does not answer.", hint=hint, id="clozeboard.W001")]


@register("machine")
def debug_is_local(**kwargs: Any) -> list[CheckMessage]:
    if not settings.DEBUG or settings.LOCAL_HOSTS.issuperset(settings.ALLOWED_HOSTS):
        return []
    hint = "Unset DEBUG: error pages would show settings and code to everybody."
    return [Warning("DEBUG is on, and the site can be reached from other machines.", hint=hint, id="clozeboard.W002")]


@register("machine")
def models_are_isolated(**kwargs: Any) -> list[CheckMessage]:
    reason = limits.isolation_problem()
    if not reason:
        return []
    hint = "Install bubblewrap on the machines of workers. Until then, only limits of memory and time hold models back."
    if settings.ISOLATION_REQUIRED:
        refusal = NotIsolated.of(reason=reason)
        return [Warning(refusal.message, hint=refusal.next_step, id="clozeboard.W003")]
    return [Warning(f"Models are measured without isolation: {reason}.", hint=hint, id="clozeboard.W003")]
