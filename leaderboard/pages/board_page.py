"""/board.parquet : every score of every finished run as one file, for pandas, DuckDB and their like."""

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from leaderboard.figures.board_file import board_file
from leaderboard.pages.rendering import file_response

CONTENT_TYPE = "application/vnd.apache.parquet"


@require_safe
def board_view(request: HttpRequest) -> HttpResponseBase:
    """Send the file, or the requested range of it: DuckDB reads only the columns that it needs."""
    return file_response(request, board_file(), CONTENT_TYPE)
