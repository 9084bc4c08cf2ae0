"""/feed.atom, /robots.txt and /sitemap.xml: what readers of feeds, search engines and archives read."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.contrib.sitemaps import Sitemap
from django.contrib.syndication.views import Feed
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import escape

from leaderboard.exports.references import run_reference
from leaderboard.figures.runs import measured_runs, models_with_figures, runs_with_figures
from leaderboard.figures.scores import main_scores
from leaderboard.models import Benchmark, Model, Run, Score
from leaderboard.pages.methods_page import NAMES, methods_address
from leaderboard.probes import pages_of
from leaderboard.probes.culture.pairs import variant_in_words, with_part
from leaderboard.ui.labels import within
from leaderboard.ui.spelled import figure
from leaderboard.ui.visible import visible
from probing.papers.declarations import NAMES as PAPERS

# /feed.atom : the newest results of all benchmarks.


NEWEST = 50  # results of the feed
Result = tuple[Run, Score | None]  # a run with the score that stands for it
if TYPE_CHECKING:  # Django's class takes no types when the site runs
    Results = Feed[Result, None]
else:
    Results = Feed


class ResultsFeed(Results):
    """The newest results that were measured here."""

    feed_type = Atom1Feed
    author_name = "Clozeboard"
    title = "Clozeboard: results"

    def link(self) -> str:
        return reverse("overview")

    def items(self) -> list[Result]:
        runs = list(measured_runs()[:NEWEST])
        scores = main_scores(runs)
        return [(run, scores.get(run.pk)) for run in runs]

    def item_title(self, item: Result) -> str:
        """Return the model, the benchmark, what was unusual about the measurement, and the score with its metric."""
        run, score = item
        variant = variant_in_words(run)
        how, score_text = f" ({variant})" if variant else "", ""
        if score and score.value is not None:
            metric = within(with_part(pages_of(run.benchmark).metric_label(score.metric), score))
            score_text = f": {metric} {figure(score.value)}"
        return visible(f"{run.model.title} on {run.benchmark.title}{how}{score_text}")

    def item_link(self, item: Result) -> str:
        return item[0].get_absolute_url()

    def item_pubdate(self, item: Result) -> datetime | None:
        return item[0].finished

    def item_updateddate(self, item: Result) -> datetime | None:
        return item[0].finished

    def item_description(self, item: Result) -> str:
        """Return the figure with everything that pins it; readers of feeds take the text for HTML."""
        run, score = item
        pinned = run_reference(run, pages_of(run.benchmark), score, run.get_absolute_url()).details if score else ""
        return escape(visible(pinned))


# /robots.txt and /sitemap.xml: what search engines and archives should read, and what they should leave alone.


if TYPE_CHECKING:  # Django's class takes no type when the site runs
    Pages = Sitemap[str]
    Benchmarks = Sitemap[Benchmark]
    Runs = Sitemap[Run]
else:
    Pages = Benchmarks = Runs = Sitemap
# Other choices of the same rows, pages of one person, and what only programs ask for.
LEFT_ALONE = ("/*?", "/admin/", "/api/v1/", "/submissions/", "/suggestions/")


class SitePages(Pages):
    """The pages of the site that are about no single benchmark, model or run."""

    def items(self) -> list[str]:
        names = ["overview", "benchmarks", "api", "compare", "submit", "queue", "papers"]
        papers = [reverse("paper", args=[name]) for name in PAPERS]
        return [*map(reverse, names), *map(methods_address, NAMES), *papers]

    def location(self, item: str) -> str:
        return item


class BenchmarkPages(Benchmarks):
    def items(self) -> QuerySet[Benchmark]:
        return Benchmark.objects.filter(current=True).order_by("slug")


class ModelPages(Pages):
    def items(self) -> QuerySet[Model, str]:
        return models_with_figures().order_by("hub_id").values_list("hub_id", flat=True).distinct()

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
