"""What pages call the groups of a breakdown, and where they lead."""

from collections.abc import Iterable, Mapping
from urllib.parse import urlencode

from django.urls import reverse

from leaderboard.figures.scores import OVERALL_SLICE, group_url
from leaderboard.models import Run
from leaderboard.probes.wording import group_title, read_relations, relation_names, wording, wording_names
from probing.analysis.breakdowns import CROSSED, split_group


def group_names(run: Run, dimension: str, groups: Iterable[str]) -> dict[str, str]:
    """Return what a page calls each group; wordings are called by their sentences."""
    if dimension == "template":
        sentences = wording_names(read_relations(run.benchmark))
        return {group: sentences.get(group) or wording(group) for group in groups}
    names = relation_names(run)
    return {group: group_title(dimension, group, names) for group in groups}


def hover_label(name: str, title: str) -> str:
    """Return a title with the stored name behind it, for the hover of a point."""
    return title if title == name else f"{title} ({name})"


def group_href(run: Run, dimension: str, group: str, part: Mapping[str, str] | None = None) -> str:
    """Return the address of a group: that of the relation, or that of the run's items in it; empty without either.

    `part`: further tags that its items have.
    """
    page = "" if part and run.artefact else group_url(run.benchmark, dimension, group)
    if page or dimension == OVERALL_SLICE.dimension or not run.artefact:
        return page
    tags = dict(zip(CROSSED.get(dimension, (dimension,)), split_group(dimension, group), strict=True))
    return f"{reverse('items', args=[run.pk])}?{urlencode({**(part or {}), **tags})}"
