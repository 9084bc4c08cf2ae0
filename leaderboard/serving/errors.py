"""Responses that say what is wrong, also while the database is away, and JSON that strangers send."""

import json
from collections.abc import Callable
from typing import Any, TypeVar

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from probing.errors import BadInput, ProbingError

ResponseT = TypeVar("ResponseT", bound=HttpResponse)
API = "/api/v1/"
RETRY_AFTER = 10  # seconds after which a client may try again that found the database locked or away
BODY_NEXT_STEP = "Send one JSON object with ordinary numbers and texts as application/json."  # for bodies that are none
TOO_LARGE = (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent)


def problem(status: int, code: str, message: str, next_step: str = "") -> JsonResponse:
    """Return an error of the API: {"error": {code, message, next_step}}."""
    return JsonResponse({"error": {"code": code, "message": message, "next_step": next_step}}, status=status)


def refusal(request: HttpRequest, status: int, code: str, message: str, next_step: str) -> HttpResponse:
    """Return an error as JSON where the request is for the API, and else as a page."""
    if request.path.startswith(API):
        return problem(status, code, message, next_step)
    error = {"message": message, "next_step": next_step}
    title = "No longer here" if status == 410 else "Not possible"
    return render(request, "problem.html", {"error": error, "title": title}, status=status)


def with_retry_after(response: ResponseT, error: ProbingError | None) -> ResponseT:
    """Add the header `Retry-After` where the error says after how many seconds another attempt may succeed."""
    if error and error.retry_after:
        response["Retry-After"] = str(error.retry_after)
    return response


def too_large(request: HttpRequest) -> HttpResponse:
    return refusal(request, 413, "request-too-large", "The request is too large.", "Send less.")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that Django refuses as suspicious (handler400)."""
    if isinstance(exception, TOO_LARGE):
        return too_large(request)
    message = "The request is malformed, or it is for a name that this site does not have."
    return refusal(request, 400, "bad-request", message, "Check the address.")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that the account of its reader may not make (handler403)."""
    message = "Your account has no right to do this."
    return refusal(request, 403, "forbidden", message, "Log in with an account that has it, or ask an operator.")


def unaccepted_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form that came without its token (CSRF_FAILURE_VIEW), as from a browser that sends no cookies."""
    message = "The form was not accepted, because the cookie that belongs to it did not come with it."
    step = "Allow cookies for this site, open the page of the form again, and send it once more."
    return refusal(request, 403, "forbidden", message, step)


def server_error(request: HttpRequest, *_: Any) -> HttpResponse:
    """Answer after an exception that nothing else handled (handler500); Django has written it to the log.

    The page must work when nothing else does: its template asks the program for nothing.
    """
    if request.path.startswith(API):
        message = "An unexpected error occurred; the maintainers can see the traceback."
        return problem(500, "internal", message, "Try again in a minute, and report it if it happens again.")
    return HttpResponse(render_to_string("500.html"), status=500)


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
        if request.path.startswith(API):
            message, step = "The database is busy or away; nothing was changed.", f"Try again in {RETRY_AFTER} seconds."
            response: HttpResponse = problem(503, "database-unavailable", message, step)
        else:
            response = HttpResponse(render_to_string("503.html"), status=503)
        response["Retry-After"], response["Cache-Control"] = str(RETRY_AFTER), "no-store"
        return response


# JSON objects that strangers send.


def read_object(request: HttpRequest) -> dict[str, Any]:
    """Return the JSON object in the request's body; raise `BadInput` if the body is anything else."""
    try:
        body = parse_object(request.body)
    except ValueError as error:
        raise BadInput(f"The body {error}.", BODY_NEXT_STEP) from error
    if request.content_type != "application/json":
        raise BadInput("The body is not sent as application/json.", BODY_NEXT_STEP)
    return body


def parse_object(text: str | bytes) -> dict[str, Any]:
    """Return the JSON object that a text holds.

    Raise `ValueError` if the text is anything else, is nested too deeply to be read, or has a number or a text that
    neither JSON nor the database accepts (NaN, half a surrogate pair, the character U+0000).
    """
    try:
        content = json.loads(text, parse_constant=_refuse)
        stored = json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise ValueError("is not JSON that can be read") from error
    if not isinstance(content, dict):
        raise ValueError("is not a JSON object")
    if rb"\u0000" in stored:
        raise ValueError("has a text with the character U+0000")
    return content


def _refuse(constant: str) -> None:
    raise ValueError(constant)
