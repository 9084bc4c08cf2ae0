"""/board.parquet : every score of every finished run as one file, for pandas, DuckDB and their like."""

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe
from whitenoise.middleware import WhiteNoiseFileResponse
from whitenoise.responders import StaticFile

from leaderboard.figures.board_file import board_file

CONTENT_TYPE = "application/vnd.apache.parquet"


@require_safe
def board_view(request: HttpRequest) -> HttpResponseBase:
    """Send the file, or the requested range of it: DuckDB reads only the columns that it needs.

    A file is never changed under its name, which is its ETag.
    """
    path = board_file()
    file = StaticFile(str(path), [("Content-Type", CONTENT_TYPE), ("ETag", f'"{path.stem}"')])
    answer = file.get_response(request.method, request.META)
    headers = {**dict(answer.headers), "Accept-Ranges": "bytes", "Cache-Control": "no-cache"}
    response: HttpResponseBase = WhiteNoiseFileResponse(answer.file or (), status=answer.status, headers=headers)
    return response
