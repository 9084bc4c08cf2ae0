"""What the overview shows of each benchmark: its topic, its metrics, and the group of items that a reader chose."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from leaderboard.display import labels
from leaderboard.lists.overview import groups
from leaderboard.lists.overview_rows import Measure
from leaderboard.lists.scores import OVERALL, Slice
from leaderboard.models import Benchmark
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.culture.sides import pair_title
from leaderboard.probe_pages.pages import Split
from leaderboard.probe_pages.topics import TOPICS
from probing.analysis.crossed import split_group


@dataclass(frozen=True)
class PartChoice:
    """A group of items of which one is shown at a time, such as a culture pair in one language."""

    value: str
    title: str
    chosen: bool


def parts_offered(versions: Mapping[str, Sequence[Benchmark]], part: str) -> list[PartChoice]:
    """Return the groups between which a reader chooses; that of the most runs unless another is asked for."""
    split, metrics = _split(rows[0] for rows in versions.values())
    if split is None:
        return []
    offered = groups(split.dimension, metrics)
    chosen = part if part in offered else next(iter(offered), "")
    return [PartChoice(group, part_title(split, group), group == chosen) for group in sorted(offered)]


def measures(versions: Mapping[str, Sequence[Benchmark]], part: str) -> list[Measure]:
    """Return what is shown of each benchmark, by topic; of those that are split by groups, only the group `part`."""
    chosen = [_measure(rows, part) for rows in versions.values()]
    return sorted(chosen, key=lambda measure: list(TOPICS).index(measure.topic))


def _measure(rows: Sequence[Benchmark], part: str) -> Measure:
    current = rows[0]
    pages = pages_of(current)
    metrics = [pages.ranking_metric(current), *pages.metrics_beside(current)]
    if pages.split is None:
        return Measure(current.title, pages.topic, rows, metrics, OVERALL)
    return Measure(
        current.title, pages.topic, rows, metrics[:1], Slice(pages.split.dimension, part), pages.split.options
    )


def _split(benchmarks: Iterable[Benchmark]) -> tuple[Split | None, list[str]]:
    """Return by what benchmarks are split, if any are, and their metrics."""
    split = [(pages.split, pages.ranking_metric(row)) for row in benchmarks if (pages := pages_of(row)).split]
    return (split[0][0] if split else None), list(dict.fromkeys(metric for _, metric in split))


def part_title(split: Split, group: str) -> str:
    pair, language = split_group(split.dimension, group)
    return f"{pair_title(pair)}, in {labels.language(language)}"
