"""Routes of /api/v1/. A view is declared once: by its signature, what it takes and returns, and by its docstring.

    @get("runs/<number:run>/items", group=RESULTS)
    def items_json(request: HttpRequest, query: ItemsQuery, run: int) -> Items:

The wrapper checks the method, reads `query`, `body` and `token`, and makes JSON of the answer and of every error.
`openapi` describes a route by the same declaration.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property, wraps
from hashlib import sha256
from typing import Any, TypeVar, get_type_hints

from django.core.exceptions import SuspiciousOperation
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.http.request import UnreadablePostError
from django.urls import URLPattern, path
from django.utils.cache import get_conditional_response
from django.views.decorators.csrf import csrf_exempt
from pydantic import BaseModel

from leaderboard.api.parameters import read_body, read_query
from leaderboard.data_version import data_version
from leaderboard.intake import tokens
from leaderboard.intake.quotas import OverQuota
from leaderboard.models import WorkerToken
from leaderboard.serving.errors import TOO_LARGE, problem, too_large, with_retry_after
from leaderboard.serving.page_cache import kept
from leaderboard.views.submission import unlisted
from probing.errors import ProbingError
from probing.files.folders import space
from probing.remote.protocol import package_version

RESULTS, SUBMISSIONS, PUSHES, WORK = "Results", "Submissions", "Results of third parties", "Workers elsewhere"
JSON = "application/json"
READ = ("GET", "HEAD")
SEE = "See /api/ for all routes."
BUSY = 60  # seconds after which a request may be sent again that found the database locked or away
View = Callable[..., Any]
ViewT = TypeVar("ViewT", bound=View)


@dataclass(frozen=True)
class Access:
    """Who may use a route: programs with a token of this purpose, and without `required` everybody else as well.

    `statuses`: HTTP statuses of errors by their code; those of all other errors that the sender can mend are `refused`.
    """

    purpose: WorkerToken.Purpose
    required: bool = True
    statuses: Mapping[str, int] = field(default_factory=dict)
    refused: int = 400


@dataclass(frozen=True)
class Route:
    """A route: its view, and what the view's signature does not say.

    `path`: as Django writes it. `status`: that of a good answer; `others`: those that one may have as well. `live`:
    whether the answer has more than the data whose version is known, such as the progress of a run. `secret`: whether
    its address or its answer is one. `answer`: the type of an answer that the view writes itself. `form`: the fields of
    a form that the view reads itself. `content`: the type of an answer that is no JSON.
    """

    method: str
    path: str
    view: View
    group: str
    status: int = 200
    others: tuple[int, ...] = ()
    live: bool = False
    secret: bool = False
    access: Access | None = None
    answer: Any = None
    form: type[BaseModel] | None = None
    content: str = JSON

    @cached_property
    def hints(self) -> dict[str, Any]:
        """The types of the view's arguments, and of its answer under the name `return`."""
        return get_type_hints(self.view, include_extras=True)

    @property
    def answered(self) -> Any:
        """The type of a good answer; None where that is no JSON."""
        return (self.answer or self.hints["return"]) if self.content == JSON else None

    @property
    def sent(self) -> Any:
        """The type of what a request sends, None if it sends nothing."""
        return self.form or self.hints.get("body")

    @property
    def sent_as(self) -> str:
        return "multipart/form-data" if self.form else JSON

    @property
    def methods(self) -> tuple[str, ...]:
        return READ if self.method == "GET" else (self.method,)

    def respond(self, request: HttpRequest, **places: Any) -> HttpResponseBase:
        """Answer a request; `places` are the variable parts of its path."""
        if request.method not in self.methods:
            return not_allowed(request, self.methods)
        try:
            with space("what was sent"):
                answer = self.view(request, **self._arguments(request), **places)
        except Http404 as error:
            return problem(404, "not-found", str(error), SEE)
        except ProbingError as error:
            response = problem(self._error_status(error), error.code, error.message, error.next_step)
            return with_retry_after(response, error)
        except Unauthorized as error:
            return error.response
        except TOO_LARGE:
            return too_large(request)
        except (SuspiciousOperation, MultiPartParserError, UnreadablePostError):
            return problem(400, "bad-input", "The body of this request cannot be read.", SEE)
        except OperationalError:
            if self.access is None:
                raise  # the middleware answers for all reads
            return _busy()
        return answer if isinstance(answer, HttpResponseBase) else JsonResponse(answer, status=self.status)

    def _arguments(self, request: HttpRequest) -> dict[str, Any]:
        """Return what the view's signature asks for; the token comes first, so that strangers learn nothing."""
        arguments: dict[str, Any] = {}
        if self.access:
            arguments["token"] = authorize(request, self.access)
        if query := self.hints.get("query"):
            arguments["query"] = read_query(query, request.GET)
        if body := self.hints.get("body"):
            arguments["body"] = read_body(body, request)
        return arguments

    def _error_status(self, error: ProbingError) -> int:
        statuses, refused = (self.access.statuses, self.access.refused) if self.access else ({}, 400)
        if isinstance(error, OverQuota):
            return 429
        return statuses.get(error.code, refused if error.permanent else 503)


ROUTES: list[Route] = []


def get(path: str, **facts: Any) -> Callable[[ViewT], ViewT]:
    """Return a decorator that makes a view the route that reads this path."""
    return _declared("GET", path, facts)


def post(path: str, **facts: Any) -> Callable[[ViewT], ViewT]:
    """Return a decorator that makes a view the route to which a request is sent at this path."""
    return _declared("POST", path, facts)


def delete(path: str, **facts: Any) -> Callable[[ViewT], ViewT]:
    """Return a decorator that makes a view the route that removes what lies at this path."""
    return _declared("DELETE", path, facts)


def _declared(method: str, path: str, facts: Mapping[str, Any]) -> Callable[[ViewT], ViewT]:
    def declare(view: ViewT) -> ViewT:
        ROUTES.append(Route(method, path, view, **facts))
        return view

    return declare


def patterns() -> list[URLPattern]:
    """Return the addresses of all routes whose modules have been imported."""
    return [path(route.path, csrf_exempt(_served(route))) for route in ROUTES]


def _served(route: Route) -> Callable[..., HttpResponseBase]:
    """Return the view of a route for Django. No CSRF token is needed, as the API uses no cookies."""

    @wraps(route.view)
    def served(request: HttpRequest, **places: Any) -> HttpResponseBase:
        return route.respond(request, **places)

    if route.secret:
        return unlisted(served)
    return served if route.method != "GET" or route.live or route.access else by_version(kept(served))


def by_version(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Give answers the version of the data as their ETag, so that whoever has one is told with one query.

    The version is read first: data that change in between cost a reader one more request, and never hide.
    """

    @wraps(view)
    def answered(request: HttpRequest, **places: Any) -> HttpResponseBase:
        version = data_version() if request.method in READ else ""
        if not version:
            return view(request, **places)
        parts = (package_version(), version, request.scheme, request.get_host(), request.get_full_path())
        etag = f'W/"{sha256(repr(parts).encode()).hexdigest()[:32]}"'
        if (unchanged := get_conditional_response(request, etag=etag)) is not None:
            return unchanged
        response = view(request, **places)
        if response.status_code == 200:
            response["ETag"] = etag
        return response

    return answered


class Unauthorized(Exception):
    """The request has no token that is valid for the route; `response` is the answer to it."""

    def __init__(self, purpose: WorkerToken.Purpose) -> None:
        step = "Ask the maintainers of the site for a token, and set CLOZEBOARD_TOKEN to it."
        message = f"This token is unknown or revoked, or it is not one that {purpose.label}."
        self.response = problem(401, "unauthorized", message, step)
        self.response["WWW-Authenticate"] = "Bearer"


def authorize(request: HttpRequest, access: Access) -> WorkerToken | None:
    """Return the token in the header `Authorization: Bearer TOKEN`; None where there is none and none is required."""
    header = request.headers.get("Authorization", "")
    if not header and not access.required:
        return None
    scheme, _, secret = header.partition(" ")
    token = tokens.authenticated(secret.strip(), access.purpose) if scheme.lower() == "bearer" else None
    if token is None:
        raise Unauthorized(access.purpose)
    return token


def not_allowed(request: HttpRequest, methods: Collection[str]) -> JsonResponse:
    message = f"{request.path} does not answer {request.method}, only {' and '.join(methods)}."
    response = problem(405, "method-not-allowed", message, SEE)
    response["Allow"] = ", ".join(methods)
    return response


@csrf_exempt
def no_such_route(request: HttpRequest, rest: str = "") -> JsonResponse:
    return problem(404, "not-found", f"/api/v1/{rest} is not a route.", SEE)


def _busy() -> JsonResponse:
    response = problem(503, "internal", "The database does not answer at the moment.", "Try again.")
    response["Retry-After"] = str(BUSY)
    return response
