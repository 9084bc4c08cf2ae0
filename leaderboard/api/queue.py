"""/api/v1/queue : the runs that are being measured and those that wait, with the columns of the page's CSV."""

from django.http import HttpRequest

from leaderboard.api.answers import Json
from leaderboard.api.paging import PageFacts, page_of, place_in
from leaderboard.api.parameters import PagedQuery
from leaderboard.api.routes import RESULTS, get
from leaderboard.api.tables import as_json
from leaderboard.lists.progress import Queue, QueuedRun, queue
from leaderboard.views.queue import MOST_WAITING, queue_table


class OpenRuns(PageFacts):
    """The runs at work, how many wait, and a page of those, in the order in which they are measured."""

    working: list[Json]
    number_waiting: int
    waiting: list[Json]


@get("queue", group=RESULTS, live=True)
def queue_json(request: HttpRequest, query: PagedQuery) -> OpenRuns:
    """Return the runs that are being measured, and those that wait, 200 per page."""
    lines: list[Queue] = []

    def read(start: int, stop: int) -> tuple[list[QueuedRun], int]:
        lines.append(queue(min(start, MOST_WAITING), min(stop, MOST_WAITING)))
        return lines[-1].waiting, lines[-1].number_waiting

    page, line = page_of(request, query, read, _number, _behind), lines[-1]
    columns = queue_table(line).columns
    return {
        **page.facts,
        "working": as_json(columns, line.working),
        "number_waiting": line.number_waiting,
        "waiting": as_json(columns, page.entries),
    }


def _number(row: QueuedRun) -> int:
    return row.run.pk


def _behind(cursor: str) -> int:
    return place_in(map(_number, queue(0, MOST_WAITING).waiting))(cursor)
