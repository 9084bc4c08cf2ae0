"""/robots.txt and /sitemap.xml: what search engines and archives should read, and what they should leave alone."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.contrib.sitemaps import Sitemap
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from leaderboard.lists.runs import runs_with_figures
from leaderboard.models import Benchmark, Run

if TYPE_CHECKING:  # Django's class takes no type when the site runs
    Pages = Sitemap[str]
    Benchmarks = Sitemap[Benchmark]
    Runs = Sitemap[Run]
else:
    Pages = Benchmarks = Runs = Sitemap

# Other choices of the same rows, pages of one person, and what only programs ask for.
LEFT_ALONE = ("/*?", "/admin/", "/api/v1/", "/submissions/", "/suggestions/", "/snapshots/new/")


class SitePages(Pages):
    """The pages of the site that are about no single benchmark, model or run."""

    def items(self) -> list[str]:
        return ["overview", "benchmarks", "methods", "api", "compare", "submit", "queue", "changes", "snapshots"]

    def location(self, item: str) -> str:
        return reverse(item)


class BenchmarkPages(Benchmarks):
    def items(self) -> QuerySet[Benchmark]:
        return Benchmark.objects.filter(current=True).order_by("slug")


class ModelPages(Pages):
    def items(self) -> QuerySet[Run, str]:
        return runs_with_figures().order_by("model__hub_id").values_list("model__hub_id", flat=True).distinct()

    def location(self, item: str) -> str:
        return reverse("model", args=item.split("/", 1))


class RunPages(Runs):
    def items(self) -> QuerySet[Run]:
        return runs_with_figures().order_by("pk")

    def lastmod(self, item: Run) -> datetime | None:
        return item.finished


SITEMAPS = {"pages": SitePages, "benchmarks": BenchmarkPages, "models": ModelPages, "runs": RunPages}


def robots_view(request: HttpRequest) -> HttpResponse:
    rules = [f"Disallow: {path}" for path in LEFT_ALONE]
    lines = ["User-agent: *", *rules, "", f"Sitemap: {request.build_absolute_uri(reverse('sitemap'))}", ""]
    return HttpResponse("\n".join(lines), content_type="text/plain; charset=utf-8")
