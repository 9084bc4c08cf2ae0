"""An answer in plain words while the database is locked or away."""

from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string

RETRY_AFTER = 10  # seconds after which a client may try again


class DatabaseOutages:
    """Middleware that answers 503 with `Retry-After` where a view could not use the database."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return the answer if the database was the reason, and otherwise None, which leaves the error to Django."""
        if not isinstance(error, OperationalError | InterfaceError):
            return None
        headers = {"Retry-After": str(RETRY_AFTER), "Cache-Control": "no-store"}
        if request.path.startswith("/api/v1/"):
            return JsonResponse({"error": BUSY}, status=503, headers=headers)
        return HttpResponse(render_to_string("503.html"), status=503, headers=headers)


BUSY = {
    "code": "database-unavailable",
    "message": "The database is busy or away; nothing was changed.",
    "next_step": f"Try again in {RETRY_AFTER} seconds.",
}
