"""Requests of programs elsewhere that have a token, in the header `Authorization: Bearer TOKEN`."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.http.request import UnreadablePostError
from django.views.decorators.csrf import csrf_exempt

from leaderboard.intake import tokens
from leaderboard.models import WorkerToken
from leaderboard.serving.errors import TOO_LARGE, problem, too_large, with_retry_after
from leaderboard.views.api import SEE, not_allowed
from probing.errors import ProbingError

TokenView = Callable[..., HttpResponseBase]
BUSY = 60  # seconds after which a request may be sent again that found the database locked or away


def authorized(
    purpose: WorkerToken.Purpose, method: str, statuses: Mapping[str, int], refused: int = 400
) -> Callable[[TokenView], TokenView]:
    """Return a decorator for views that take a token as well: it checks the token, and makes JSON of every error.

    `statuses`: HTTP statuses of errors by their code; those of all other errors that the sender can mend are `refused`.
    """
    methods = (method, "HEAD") if method == "GET" else (method,)

    def decorate(view: TokenView) -> TokenView:
        @wraps(view)
        def wrapped(request: HttpRequest, **places: Any) -> HttpResponseBase:
            if request.method not in methods:
                return not_allowed(request, methods)
            try:
                token = tokens.authenticated(_secret(request), purpose)
                return view(request, token, **places) if token else _unauthorized(purpose)
            except Http404 as error:
                return problem(404, "not-found", str(error), SEE)
            except ProbingError as error:
                status = statuses.get(error.code, refused if error.permanent else 503)
                return with_retry_after(problem(status, error.code, error.message, error.next_step), error)
            except TOO_LARGE:
                return too_large(request)
            except (SuspiciousOperation, MultiPartParserError, UnreadablePostError):
                return problem(400, "bad-input", "The body of this request cannot be read.", SEE)
            except OperationalError:
                return _busy()

        return csrf_exempt(wrapped)

    return decorate


def _secret(request: HttpRequest) -> str:
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def _unauthorized(purpose: WorkerToken.Purpose) -> JsonResponse:
    step = "Ask the maintainers of the site for a token, and set CLOZEBOARD_TOKEN to it."
    message = f"This token is unknown or revoked, or it is not one that {purpose.label}."
    response = problem(401, "unauthorized", message, step)
    response["WWW-Authenticate"] = "Bearer"
    return response


def _busy() -> JsonResponse:
    response = problem(503, "internal", "The database does not answer at the moment.", "Try again.")
    response["Retry-After"] = str(BUSY)
    return response
