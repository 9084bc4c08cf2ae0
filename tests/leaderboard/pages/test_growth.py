"""The work of the database for a page grows no faster than the number of runs.

Counting queries does not show this: one query that looks at every pair of runs is one query. SQLite says how many steps
it took, which, unlike a time, is the same on every machine.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client

from leaderboard.models import Run, Score
from probing.errors import BadInput
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import forget
from tests.leaderboard.test_true_sentences import numbers_agree_with_their_nouns_and_none_is_missing
from tests.tools.seed_scale import fill

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="Only SQLite counts the steps of a statement."),
]
MODELS = (100, 200)
MOST = 3  # times as many steps for twice as many runs: twice in proportion to them, four times by pairs
STEPS = 100  # that SQLite takes between two counts
FEW = 125  # counts below which a statement is not looked at, fewer than all pairs of the models would take
PAGES = (
    "/",
    "/benchmarks/",
    "/benchmarks/synthetic-1/",
    "/benchmarks/synthetic-1/relations/R1/",
    "/models/synthetic/model-00000/",
    "/runs/{run}/",
    "/runs/{waiting}/",
    "/compare/",
    "/submit/",
    "/queue/",
    "/benchmarks/synthetic-1/?format=json",
)


@contextmanager
def counted(counts: list[tuple[int, str]]) -> Iterator[None]:
    """Note of each statement how many steps it takes until its last row."""

    def count(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        steps = 0

        def step() -> None:
            nonlocal steps
            steps += 1

        connection.connection.set_progress_handler(step, STEPS)
        if sql.startswith("SELECT"):
            with closing(connection.create_cursor()) as cursor:
                cursor.execute(sql, params or ()).fetchall()
        connection.connection.set_progress_handler(None, 0)
        counts.append((steps, sql))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(count):
        yield


def steps(client: Client, models: int) -> dict[str, list[tuple[int, str]]]:
    """Return the steps of each statement, page by page, on a site with so many models."""
    by_page: dict[str, list[tuple[int, str]]] = {}
    forget()
    with transaction.atomic():
        fill(models=models, benchmarks=1, templates=1, rows=0, waiting=models)
        numbers = {
            "run": Run.objects.filter(state=Run.State.FINISHED).exclude(artefact="").earliest("pk").pk,
            "waiting": Run.objects.filter(state=Run.State.QUEUED).latest("pk").pk,
        }
        for page in PAGES:
            with counted(by_page.setdefault(page, [])):
                assert client.get(page.format(**numbers), follow=True).status_code == 200
        if models == MODELS[-1]:  # sentences about hundreds of models are in good order, too
            numbers_agree_with_their_nouns_and_none_is_missing(client)
        transaction.set_rollback(True)
    return by_page


@pytest.mark.slow
def test_no_statement_of_a_page_looks_at_pairs_of_runs(client: Client) -> None:
    few, many = (steps(client, models) for models in MODELS)
    for page in PAGES:
        assert len(few[page]) == len(many[page]), page
        for (less, _), (more, sql) in zip(few[page], many[page], strict=True):
            assert more < MOST * max(less, FEW), f"{page}: {less} and {more} steps for {sql[:2000]}"


SMALL = {"models": 10, "benchmarks": 2, "templates": 2, "rows": 600, "waiting": 25}


def test_neither_a_database_with_runs_nor_a_scale_without_models_is_filled() -> None:
    with pytest.raises(BadInput, match="There must be a model"):
        fill(**{**SMALL, "models": 0})
    make.finished(make.benchmark())
    with pytest.raises(BadInput, match="This database has runs"):
        fill(**SMALL)
    assert Score.objects.count() == 3
