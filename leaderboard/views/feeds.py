"""/feeds/ : Atom feeds of the newest results, of all benchmarks or of one, and of the log of changes."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.contrib.syndication.views import Feed
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed

from leaderboard.display.visible import visible
from leaderboard.exports.figure_references import score_reference
from leaderboard.lists.ended_runs import NEWEST, RecentResult, newest_results
from leaderboard.models import Benchmark, Change, Score
from leaderboard.models.benchmark import named
from leaderboard.models.run import run_url
from leaderboard.probe_pages import pages_of

if TYPE_CHECKING:  # Django's class takes no types when the site runs
    Results = Feed[RecentResult, Benchmark | None]
    Changes = Feed[Change, None]
else:
    Results = Changes = Feed


class ResultsFeed(Results):
    """The newest results that were measured here; those of one benchmark where its name is in the address."""

    feed_type = Atom1Feed
    author_name = "Clozeboard"
    description_template = "feed_entry.html"

    def get_object(self, request: HttpRequest, name: str = "") -> Benchmark | None:
        return get_object_or_404(Benchmark, named(name), current=True) if name else None

    def title(self, benchmark: Benchmark | None) -> str:
        return f"Clozeboard: results on {benchmark.title}" if benchmark else "Clozeboard: results"

    def link(self, benchmark: Benchmark | None) -> str:
        return benchmark.get_absolute_url() if benchmark else reverse("overview")

    def items(self, benchmark: Benchmark | None) -> list[RecentResult]:
        return newest_results(benchmark.name if benchmark else "")

    def item_title(self, item: RecentResult) -> str:
        score = main_score(item)
        figure = "" if score is None or score.value is None else f": {score.value:.3f}"
        return visible(f"{item.run.model.title} on {item.run.benchmark.title}{figure}")

    def item_link(self, item: RecentResult) -> str:
        return item.run.get_absolute_url()

    def item_pubdate(self, item: RecentResult) -> datetime | None:
        return item.run.finished

    def item_updateddate(self, item: RecentResult) -> datetime | None:
        return item.run.finished

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Return what the template of an entry shows: how its figure is cited."""
        result, score = kwargs["item"], main_score(kwargs["item"])
        address = kwargs["request"].build_absolute_uri(self.item_link(result))
        pages = pages_of(result.run.benchmark)
        text = score_reference(result.run, pages, score, address).text if score else ""
        return {**super().get_context_data(**kwargs), "text": text}


def main_score(result: RecentResult) -> Score | None:
    """Return a result's score in the main metric of its benchmark, None if it has none."""
    return result.scores.get(pages_of(result.run.benchmark).main_metric(result.run.benchmark))


class ChangesFeed(Changes):
    """The newest changes of results: those that were added, scored again or withdrawn, with the reason."""

    feed_type = Atom1Feed
    author_name = "Clozeboard"
    title = "Clozeboard: changes of results"

    def link(self) -> str:
        return reverse("changes")

    def items(self) -> list[Change]:
        return list(Change.objects.all()[:NEWEST])

    def item_title(self, item: Change) -> str:
        about = " on ".join(filter(None, [item.model, item.benchmark]))
        return visible(f"{about}: {item.get_kind_display()}")

    def item_description(self, item: Change) -> str:
        return visible(item.text)

    def item_link(self, item: Change) -> str:
        withdrawn = item.kind == Change.Kind.WITHDRAWN
        return reverse("changes") if item.run is None or withdrawn else run_url(item.run)

    def item_guid(self, item: Change) -> str:
        return f"change-{item.pk}"

    def item_updateddate(self, item: Change) -> datetime:
        return item.time
