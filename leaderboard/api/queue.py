"""/api/v1/queue : the runs that are being measured and those that wait, with the columns of the page's CSV."""

from django.http import HttpRequest
from typing_extensions import TypedDict

from leaderboard.api.answers import Json
from leaderboard.api.paging import page_of, place_in
from leaderboard.api.parameters import PagedQuery
from leaderboard.api.routes import RESULTS, get
from leaderboard.api.tables import as_json
from leaderboard.lists.progress import QueuedRun, queue
from leaderboard.views.queue import MOST_WAITING, queue_table


class OpenRuns(TypedDict):
    """The runs at work, how many wait, and a page of those, in the order in which they are measured."""

    working: list[Json]
    number_waiting: int
    page: int
    next: str | None
    waiting: list[Json]


class _Waiting:
    """The runs that wait, of which only those of a page are read."""

    def __getitem__(self, part: slice, /) -> list[QueuedRun]:
        return queue(part.start, part.stop).waiting


@get("queue", group=RESULTS, live=True)
def queue_json(request: HttpRequest, query: PagedQuery) -> OpenRuns:
    """Return the runs that are being measured, and those that wait, 200 per page."""
    line = queue(0, 0)
    columns = queue_table(line).columns
    page = page_of(request, query, _Waiting(), line.number_waiting, _number, _behind)
    return {
        "working": as_json(columns, line.working),
        "number_waiting": line.number_waiting,
        "page": page.page,
        "next": page.next,
        "waiting": as_json(columns, page.entries),
    }


def _number(row: QueuedRun) -> int:
    return row.run.pk


def _behind(cursor: str) -> int:
    return place_in(map(_number, queue(0, MOST_WAITING).waiting))(cursor)
