"""How readers narrow lists of models: classes of size, sources, and the names near to a search."""

from collections.abc import Iterable
from difflib import get_close_matches
from urllib.parse import unquote

from django.db.models import Q
from django.urls import reverse

from leaderboard.models import Benchmark, Model

SIZE_TITLES = {"100m": "below 100 M", "1b": "100 M to 1 B", "10b": "1 B to 10 B", "more": "10 B and more"}


# Models and benchmarks whose names are near to a text, for pages that do not exist and searches without a result.


SUGGESTIONS = 5
NEAR = 0.6  # the least similarity, as difflib counts it
LONGEST = 200  # letters of an address that are compared
PREFIXES = ("models/", "benchmarks/")


def near_names(path: str) -> list[tuple[str, str]]:
    """Return the names and addresses of models and benchmarks to which an address is near, the nearest first.

    Names are compared without regard to case, models with and without their owner.
    """
    text = unquote(path).strip("/").lower()[:LONGEST]
    for prefix in PREFIXES:
        text = text.removeprefix(prefix)
    addresses = _addresses()
    near = get_close_matches(text, addresses, n=3 * SUGGESTIONS, cutoff=NEAR)
    return list(dict.fromkeys(addresses[name] for name in near))[:SUGGESTIONS]


def near_models(text: str, hub_ids: Iterable[str]) -> list[str]:
    """Return the ids of models to which a text is near, with or without their owner, the nearest first."""
    ids = {text: hub_id for hub_id in hub_ids for text in (hub_id.lower(), hub_id.rpartition("/")[2].lower())}
    near = get_close_matches(text.lower()[:LONGEST], ids, n=2 * SUGGESTIONS, cutoff=NEAR)
    return list(dict.fromkeys(ids[name] for name in near))[:SUGGESTIONS]


def models_of(benchmark: Benchmark) -> Iterable[str]:
    """Return the ids of models with runs or printed figures on a benchmark. One query."""
    models = Model.objects.filter(Q(runs__benchmark=benchmark) | Q(printed__benchmark=benchmark))
    return models.values_list("hub_id", flat=True).distinct()


def _addresses() -> dict[str, tuple[str, str]]:
    """Map every text under which a model or a benchmark may be sought to its name and its address."""
    pages = {}
    for hub_id in Model.objects.order_by("hub_id").values_list("hub_id", flat=True).distinct():
        org, _, name = hub_id.partition("/")
        if name:
            page = (hub_id, reverse("model", args=[org, name]))
            pages[hub_id.lower()] = page
            pages.setdefault(name.lower(), page)
    for benchmark in Benchmark.objects.filter(current=True).order_by("slug"):
        page = (benchmark.title, benchmark.get_absolute_url())
        pages[benchmark.slug.lower()] = pages[benchmark.title.lower()] = page
    return pages
