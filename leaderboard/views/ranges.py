"""Files of the disk as responses, in full or the requested range."""

from pathlib import Path

from django.http import HttpRequest, HttpResponseBase
from whitenoise.middleware import WhiteNoiseFileResponse
from whitenoise.responders import StaticFile


def file_response(request: HttpRequest, path: Path, content_type: str) -> HttpResponseBase:
    """Return a file that is never changed under its name, or the range of it that the request names."""
    file = StaticFile(str(path), [("Content-Type", content_type), ("ETag", f'"{path.stem}"')])
    answer = file.get_response(request.method, request.META)
    headers = {**dict(answer.headers), "Accept-Ranges": "bytes", "Cache-Control": "no-cache"}
    response: HttpResponseBase = WhiteNoiseFileResponse(answer.file or (), status=answer.status, headers=headers)
    return response
