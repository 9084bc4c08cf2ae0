"""Results that third parties push over HTTP: small ones are checked at once, large ones by a worker."""

import json
from contextlib import ExitStack
from functools import partial
from typing import IO, NamedTuple

from django.core.files.base import ContentFile, File
from django.db import IntegrityError, transaction

from leaderboard.figures import artefacts, benchmarks
from leaderboard.intake import queue
from leaderboard.models import AccessToken, Run
from leaderboard.worker.finishing import store_and_finish
from leaderboard.worker.third_party import (
    Claim,
    checked_result,
    digest_of_file,
    new_run,
    store,
    stored_result,
    withdraw,
)
from probing.errors import BadInput, ProbingError
from probing.results.result import RECORD
from probing.results.rows import ITEMS

CHECKED_AT_ONCE = 2_000  # rows, which take about a second


class BeingStored(ProbingError):
    """Another request stores the same result or model at this moment."""

    code = "site-busy"
    permanent = False
    retry_after = 5


class Received(NamedTuple):
    """The run of a pushed result. `new`: the site did not have it before."""

    run: Run
    new: bool


def receive(claim: Claim, items: IO[bytes], token: AccessToken) -> Received:
    """Store a pushed result; a large one is checked by a worker later, and its run is "aggregating" until then.

    `items`: the file of rows. The same result again changes nothing. Raises `BadInput` where the rows are not what a
    measurement gives, and `OtherResult` where the site has other rows of the same.
    """
    digest = digest_of_file(items)
    if stored := stored_result(claim, digest):
        return Received(stored, False)
    try:
        if sum(part.items for part in claim.plan.parts) <= CHECKED_AT_ONCE:
            with checked_result(claim, items) as result:
                return Received(store(claim, result, digest, token), True)
        return Received(_keep(claim, items, digest, token), True)
    except IntegrityError as error:
        raise BeingStored("Another request stores the same result at this moment.", "Send it again.") from error


def _keep(claim: Claim, items: IO[bytes], digest: str, token: AccessToken) -> Run:
    """Store the run and its unchecked files, and call a worker that checks them."""
    items.seek(0)
    files = {ITEMS: File(items), RECORD: ContentFile(json.dumps(claim.record).encode())}
    with transaction.atomic():
        run = new_run(claim, digest, token)
        artefacts.store_pushed(run, files)
        transaction.on_commit(partial(queue.enqueue, run.pk))
    return run


def settle(run: Run) -> None:
    """Check the files of a pushed result and finish its run: what a worker does with it.

    Raises `BadInput` where the rows are not what a measurement gives; the files are removed then.
    """
    with ExitStack() as stack:
        try:
            record, items = (stack.enter_context(artefacts.pushed(run, name)) for name in (RECORD, ITEMS))
            facts = json.loads(record.read())
        except FileNotFoundError as error:
            raise BadInput("The files of this result are gone.", "Push it again.") from error
        try:
            claim = Claim(facts, run.model, run.benchmark, benchmarks.plan_of_run(run), run.reference)
            result = stack.enter_context(checked_result(claim, items))
        except BadInput:
            artefacts.remove_leftovers(run)
            raise
        store_and_finish(run, result)


def withdraw_pushed(pk: int, token: AccessToken) -> None:
    """Delete a result that was pushed with this token; raise `Run.DoesNotExist` if there is none."""
    withdraw(Run.objects.select_related("model").get(pk=pk, token=token, provenance=Run.Provenance.THIRD_PARTY))
