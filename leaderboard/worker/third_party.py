"""Results that a third party measured with this library: checked as a worker's rows are, and stored as such."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from django.db import transaction

from leaderboard.models import Model, Run, RunPart, WorkerToken
from leaderboard.stored import artefacts, changes
from leaderboard.worker.arrivals import checked_whole
from leaderboard.worker.arrived_records import RECORD_LIMIT, RowsRefused
from leaderboard.worker.claims import Claim, not_measured, read_claim
from leaderboard.worker.finishing import finish
from probing.errors import BadInput
from probing.results.joining import joined_in_folder
from probing.results.result import RECORD, Result
from probing.results.row_file import ITEMS

BLOCK = 1 << 20  # bytes read at a time
ENDED_WITHOUT_RESULT = (Run.State.FAILED, Run.State.CANCELLED)


class OtherResult(BadInput):
    """The site has other rows of the same model, benchmark, settings and source."""

    code = "other-result"


def import_result(folder: Path, source: str, url: str = "", hub_id: str = "", revision: str = "") -> Run:
    """Store the result in a folder as a run of provenance "third-party", and return the run.

    All that follows from the benchmark is computed here and must be equal, and scores are computed from the rows; the
    folder's scores are not read. For the arguments and errors, see `read_claim`; a result that is here already is an
    error too.
    """
    record, items = folder / RECORD, folder / ITEMS
    if not record.is_file() or not items.is_file():
        raise BadInput(f"{folder} is not a result.", f"Give a folder with {ITEMS} and {RECORD}.")
    with record.open("rb") as file:
        claim = read_claim(file.read(RECORD_LIMIT + 1), source, url=url, hub_id=hub_id, revision=revision)
    with items.open("rb") as file:
        digest = digest_of_file(file)
        if same := stored_result(claim, digest):
            raise BadInput(f"This result is here already, as run {same.pk}.", "Nothing needs to be done.")
        with checked_result(claim, file) as result:
            return store(claim, result, digest)


def digest_of_file(file: IO[bytes]) -> str:
    """Return the SHA-256 of an open file."""
    digest = hashlib.sha256()
    for block in iter(partial(file.read, BLOCK), b""):
        digest.update(block)
    return digest.hexdigest()


def stored_result(claim: Claim, digest: str) -> Run | None:
    """Return the run that has this result, None if the site has none; one that failed is removed.

    `digest`: the SHA-256 of the file of rows. Raises `OtherResult` where the site has other rows of the same.
    """
    runs = Run.objects.filter(benchmark=claim.benchmark, settings_digest=claim.question)
    stored = runs.filter(model=claim.model).first() if claim.model.pk else None
    if stored and stored.state in ENDED_WITHOUT_RESULT:
        changes.withdraw(runs.filter(pk=stored.pk), "It ended without a result, which is sent again.")
        return None
    if stored and stored.rows_digest != digest:
        raise OtherResult(
            f"Run {stored.pk} has other rows of the same model, benchmark, settings and source.",
            f"Withdraw it first, with DELETE /api/v1/results/{stored.pk} and the token that pushed it, or on the "
            "admin pages.",
        )
    return stored


@contextmanager
def checked_result(claim: Claim, items: IO[bytes]) -> Iterator[Result]:
    """Check the rows of a result and compute its scores; raise `BadInput` where they are not what a measurement gives.

    The rows are read and checked one part at a time, and the result's files are removed at the end. The digest of
    settings is the one that the record states, which older versions of the library may have computed.
    """
    digest = str(claim.record.get("settings_digest", ""))
    run = Run(model=claim.model, benchmark=claim.benchmark, settings=claim.settings_stored, settings_digest=digest)
    rows = [RunPart(run=run, **part._asdict()) for part in claim.plan.parts]
    items.seek(0)
    with TemporaryDirectory() as scratch:
        try:
            checked = checked_whole(rows, claim.plan, items, json.dumps(claim.record), Path(scratch))
        except RowsRefused as error:
            raise not_measured(error) from error
        yield joined_in_folder(checked, claim.plan, Path(scratch) / "result")


def store(claim: Claim, result: Result, digest: str, token: WorkerToken | None = None) -> Run:
    """Store model, run, files and scores, all of them or nothing. `token`: with which the result was pushed."""
    folder = ""
    try:
        with transaction.atomic():
            run = new_run(claim, digest, token)
            folder = artefacts.store_result(run, result)
            finish(run, result, folder)
    except BaseException:
        if folder:
            artefacts.remove_folder(folder)
        raise
    run.refresh_from_db()
    return run


def new_run(claim: Claim, digest: str, token: WorkerToken | None = None) -> Run:
    """Store the run of a result, whose rows are still to be stored, and its model where the site does not have it.

    Two callers with the same result at the same time end in an `IntegrityError` of one of them.
    """
    model = claim.model
    if not model.pk:
        model.save()
    return Run.objects.create(
        model=model,
        benchmark=claim.benchmark,
        settings=claim.settings_stored,
        settings_digest=claim.question,
        state=Run.State.AGGREGATING,
        provenance=Run.Provenance.THIRD_PARTY,
        reference=claim.source,
        reference_url=claim.url,
        rows_digest=digest,
        token=token,
        submitter=f"push {token.name}"[:64] if token else "",
    )


def withdraw(run: Run) -> None:
    """Delete a result of a third party, and its model if the site has nothing else of it."""
    model = run.model
    with transaction.atomic():
        changes.withdraw(Run.objects.filter(pk=run.pk), "Withdrawn by the third party that had sent it.")
        if model.source != Model.Source.HUB and not model.runs.exists():
            model.delete()
