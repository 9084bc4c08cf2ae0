"""Responses that say what is wrong: JSON of one form below /api/v1/, and a page everywhere else."""

from typing import Any, TypeVar

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from probing.errors import ProbingError

ResponseT = TypeVar("ResponseT", bound=HttpResponse)
API = "/api/v1/"
TOO_LARGE = (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent)


def problem(status: int, code: str, message: str, next_step: str = "") -> JsonResponse:
    """Return an error of the API: {"error": {code, message, next_step}}."""
    return JsonResponse({"error": {"code": code, "message": message, "next_step": next_step}}, status=status)


def refusal(request: HttpRequest, status: int, code: str, message: str, next_step: str) -> HttpResponse:
    """Return an error as JSON where the request is for the API, and else as a page."""
    if request.path.startswith(API):
        return problem(status, code, message, next_step)
    error = {"message": message, "next_step": next_step}
    return render(request, "problem.html", {"error": error, "title": "Not possible"}, status=status)


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
