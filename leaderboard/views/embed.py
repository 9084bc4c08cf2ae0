"""/embed/<page> : one chart or table of a page, for a frame of another site."""

from copy import copy
from inspect import unwrap

from django.http import Http404, HttpRequest, HttpResponseBase, QueryDict
from django.urls import Resolver404, resolve, reverse
from django.views.decorators.http import require_safe

from leaderboard.display.links import link
from leaderboard.operations.freezing import PAGES


@require_safe
def embed_view(request: HttpRequest, page: str) -> HttpResponseBase:
    """Answer as the page would, whose function `show` then returns the part that the query string names."""
    try:
        match = resolve(f"/{page}")
    except Resolver404 as error:
        raise Http404(f"There is no page /{page}.") from error
    if match.url_name not in PAGES:
        raise Http404(f"Parts of the page /{page} cannot be shown on other sites.")
    inner = copy(request)
    inner.path, inner.path_info = f"{reverse('overview')}{page}", f"/{page}"
    inner.GET = QueryDict(link(request.GET, format=None).removeprefix("?"))
    response: HttpResponseBase = unwrap(match.func)(inner, *match.args, **match.kwargs)
    if "Location" in response.headers:  # the model has another name now
        response.headers["Location"] = reverse("embed", args=[response.headers["Location"].lstrip("/")])
    return response
