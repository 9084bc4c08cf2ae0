"""/api/v1/ in django-ninja: how routes are declared, and one shape for every error.

    @results.read("runs/{number:run}/items")
    def items_json(request: HttpRequest, query: Query[ItemsQuery], run: RunNumber) -> Items:

A view is declared once: by its signature, what it takes and returns, and by its docstring. What it returns is sent as
it is: types of answers are for the description of the API, and tests compare them with real answers.
"""

from collections.abc import Callable, Collection
from functools import wraps
from hashlib import sha256
from typing import Any, TypeVar, get_type_hints

from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.http.request import UnreadablePostError
from django.urls import URLPattern, path
from django.utils.cache import get_conditional_response
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI, P, PathEx, Router
from ninja.decorators import decorate_view
from ninja.errors import HttpError, ValidationError
from ninja.operation import Operation
from ninja.parser import Parser

from leaderboard.api.parameters import refuse_unknown
from leaderboard.data_version import data_version
from leaderboard.intake.quotas import OverQuota
from leaderboard.pages.submission_page import unlisted
from leaderboard.serving.errors import TOO_LARGE, problem, read_object, too_large, with_retry_after
from leaderboard.serving.page_cache import kept
from probing.errors import ProbingError
from probing.extras import package_version
from probing.files.folders import space

READ = ("GET", "HEAD")
SEE = "See /api/ for all routes."
SECRETS = "submissions"  # below this, the address or the answer is a secret
DESCRIPTION = (
    "Everything that pages show, as JSON. No field of version 1 will ever be removed; fields may be added. "
    "Every error has the shape Problem. Parameters and keys that a route does not have are refused by name."
)
View = Callable[..., Any]
ViewT = TypeVar("ViewT", bound=View)
RunNumber = PathEx[int, P(description="Number of the run.", ge=0, le=10**18 - 1)]
BenchmarkPath = PathEx[str, P(description="Name of the benchmark.", pattern="^[-a-zA-Z0-9_]+(?::[a-z_]+)?$")]


class Routes(Router):
    """The routes of one group."""

    def read(self, path: str, *, answer: Any = None, live: bool = False, **facts: Any) -> Callable[[ViewT], ViewT]:
        """Return a decorator that makes a view the route that reads this path.

        `answer`: the type of an answer that the view writes itself. `live`: whether the answer has more than the data
        whose version is known, such as the progress of a run, so that it is not kept.
        """

        def declare(view: ViewT) -> ViewT:
            types = get_type_hints(view)
            served = view if "query" in types else _without_parameters(view)
            if not live:
                served = decorate_view(kept, by_version)(served)
            self.api_operation(list(READ), path, response=answer or types["return"], **facts)(served)
            return view

        return declare


def _without_parameters(view: View) -> View:
    @wraps(view)
    def served(request: HttpRequest, **values: Any) -> Any:
        refuse_unknown([name for name, value in request.GET.items() if value], [])
        return view(request, **values)

    return served


def by_version(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Give answers the version of the data as their ETag, so that whoever has one is told with one query.

    The version is read first: data that change in between cost a reader one more request, and never hide.
    """

    @wraps(view)
    def answered(request: HttpRequest, **values: Any) -> HttpResponseBase:
        version = data_version()
        if not version:
            return view(request, **values)
        parts = (package_version(), version, request.scheme, request.get_host(), request.get_full_path())
        etag = f'W/"{sha256(repr(parts).encode()).hexdigest()[:32]}"'
        if (unchanged := get_conditional_response(request, etag=etag)) is not None:
            return unchanged
        response = view(request, **values)
        if response.status_code == 200:
            response["ETag"] = etag
        return response

    return answered


class JsonBodies(Parser):
    """Reads bodies with our own limits of what JSON may hold."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        return read_object(request)


class Interface(NinjaAPI):
    """The API, whose routes have the names of their views."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__.removesuffix("_json")


api = Interface(
    title="Clozeboard",
    version=package_version(),
    description=DESCRIPTION,
    parser=JsonBodies(),
    openapi_url=None,  # leaderboard.api.documentation adds what ninja does not know
)


def patterns() -> list[URLPattern]:
    """Return the addresses of all routes; without the root of ninja, which comes last, and without names."""
    routes = [(str(route.pattern), route.callback) for route in api.urls[0][:-1] if isinstance(route, URLPattern)]
    return [path(name, unlisted(_served(view)) if name.startswith(SECRETS) else _served(view)) for name, view in routes]


def _served(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Answer other methods in the shape of all errors, for which ninja has no handler."""

    @wraps(view)
    def served(request: HttpRequest, **values: Any) -> HttpResponseBase:
        response = view(request, **values)
        if response.status_code == 405:
            return not_allowed(request, sorted(response["Allow"].split(", ")))
        return response

    return served


def not_allowed(request: HttpRequest, methods: Collection[str]) -> JsonResponse:
    message = f"{request.path} does not answer {request.method}, only {' and '.join(methods)}."
    response = problem(405, "method-not-allowed", message, SEE)
    response["Allow"] = ", ".join(methods)
    return response


@csrf_exempt
def no_such_route(request: HttpRequest, rest: str = "") -> JsonResponse:
    return problem(404, "not-found", f"/api/v1/{rest} is not a route.", SEE)


def _sent(view: View) -> View:
    """Send what a view returns as it is; ninja would check and convert every value of it first."""

    @wraps(view)
    def answered(request: HttpRequest, **values: Any) -> HttpResponseBase:
        with space("what was sent"):
            answer = view(request, **values)
        return answer if isinstance(answer, HttpResponseBase) else JsonResponse(answer)

    return answered


api.add_decorator(_sent)


@api.exception_handler(ProbingError)
def _refused(request: HttpRequest, error: ProbingError) -> HttpResponse:
    status = 400 if error.permanent else 503
    if isinstance(error, OverQuota):
        status = 429
    return with_retry_after(problem(status, error.code, error.message, error.next_step), error)


@api.exception_handler(HttpError)
@api.exception_handler(ValidationError)
def _unread(request: HttpRequest, error: Exception) -> HttpResponse:
    """Answer to a body that is no JSON object: ninja hides the error of its parser, and parses no empty body."""
    try:
        read_object(request)
    except ProbingError as refusal:
        return _refused(request, refusal)
    raise error


@api.exception_handler(Http404)
def _missing(request: HttpRequest, error: Http404) -> HttpResponse:
    return problem(404, "not-found", str(error), SEE)


@api.exception_handler(Exception)
def _unforeseen(request: HttpRequest, error: Exception) -> HttpResponse:
    raise error  # Django logs it and answers with `leaderboard.serving.errors.server_error`


@api.exception_handler(SuspiciousOperation)
@api.exception_handler(MultiPartParserError)
@api.exception_handler(UnreadablePostError)
def _unreadable(request: HttpRequest, error: Exception) -> HttpResponse:
    if isinstance(error, TOO_LARGE):
        return too_large(request)
    return problem(400, "bad-input", "The body of this request cannot be read.", SEE)
