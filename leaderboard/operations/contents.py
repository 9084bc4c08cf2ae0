"""The content of an archive: everything for a backup, and what everybody may have for a dump."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Model as DjangoModel
from django.db.models import QuerySet

from leaderboard.models import Model, Run, RunEvent, RunPart, Submission, WorkerToken

NEVER = (
    "SECRET_KEY and all other settings",
    "sessions, and the accounts of the administration with their passwords",
    "downloaded models and the folder of local models",
    "the queue in Redis, which manage.py requeue makes again",
)
# Values that stand in a dump for what only the maintainer may see.
HIDDEN: Mapping[type[DjangoModel], Mapping[str, Any]] = {
    Run: {"submitter": "", "traceback": "", "token": None},
    RunPart: {"token": None, "worker": ""},
    RunEvent: {"worker": ""},
}
ENDED = {"state__in": Run.FINAL}


@dataclass(frozen=True)
class Contents:
    """What an archive holds: some rows of each table, with some fields replaced, and what is `left_out`, in words."""

    rows: Callable[[type[DjangoModel]], QuerySet[Any]]
    replaced: Mapping[type[DjangoModel], Mapping[str, Any]] = field(default_factory=dict)
    left_out: tuple[str, ...] = NEVER
    mode: int = 0o600

    def prepared(self, row: DjangoModel) -> DjangoModel:
        """Return a row with the values of this archive in its fields."""
        for name, value in self.replaced.get(type(row), {}).items():
            setattr(row, name, value)
        return row


def _all_rows(table: type[DjangoModel]) -> QuerySet[Any]:
    return table._default_manager.all()


def _public_rows(table: type[DjangoModel]) -> QuerySet[Any]:
    """Return the rows of a table that pages of ended runs are made of."""
    rows = _all_rows(table)
    if table in (Submission, WorkerToken):
        return rows.none()
    if table is Run:
        return rows.filter(**ENDED)
    if table is Model:
        return rows.filter(pk__in=Run.objects.filter(**ENDED).values("model"))
    if any(column.name == "run" for column in table._meta.get_fields()):
        return rows.filter(run__in=Run.objects.filter(**ENDED))
    return rows


EVERYTHING = Contents(_all_rows)
PUBLIC = Contents(
    _public_rows,
    HIDDEN,
    (*NEVER, "submissions, tokens, unfinished runs, and the names and addresses of submitters and workers"),
    mode=0o644,
)
