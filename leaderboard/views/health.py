"""/healthz : tells load balancers and monitors which parts of the site work.

The status is 200 while the site can serve pages, which needs the database alone: a load balancer must not take a site
offline only because it has no worker. Any failing part gives 503 where the request says `strict=1`.
"""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache

from leaderboard.operations.health import watch

TYPES = ["application/json", "text/plain"]


@never_cache
def health_view(request: HttpRequest) -> HttpResponse:
    parts = watch.health()
    serves = parts["database"].ok
    healthy = all(part.ok for part in parts.values())
    word = "ok" if healthy else "degraded" if serves else "failing"
    status = 200 if healthy or (serves and not request.GET.get("strict")) else 503
    if request.get_preferred_type(TYPES) == "text/plain":
        return HttpResponse(f"{word}\n", content_type="text/plain", status=status)
    described = {
        name: {"state": "ok" if part.ok else "failing", "message": part.message, "age_seconds": part.seconds}
        for name, part in parts.items()
    }
    return JsonResponse({"state": word, "parts": described}, status=status)
