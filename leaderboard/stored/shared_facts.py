"""Facts that two benchmarks share, counted when one of them is imported and kept with both."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from leaderboard.models import Benchmark
from probing.analysis.breakdown import ALL
from probing.analysis.diversity import UNKNOWN, Fact, facts_of, overlap
from probing.benchmark import Benchmark as Content

Stored = tuple[str, int, int]  # a culture, its facts, and those of them that the other benchmark has as well


class SharedFacts(NamedTuple):
    """The facts of a benchmark about a culture, and how many of them another benchmark has as well.

    `culture` is empty where the benchmark names none, and the facts are all that it has.
    """

    other: Benchmark
    culture: str
    facts: int
    shared: int


def store_shared_facts(slug: str, content: Content, others: Iterable[tuple[Benchmark, Content]]) -> None:
    """Count what a benchmark shares with each of the others, and those with it; keep it with all their probes."""
    facts = facts_of(content)
    counts: dict[str, Sequence[Stored]] = {}
    for other, other_content in others:
        other_facts = facts_of(other_content)
        counts[other.slug] = _shared(facts, other_facts)
        theirs = (other.shared_facts or {}) | {slug: _shared(other_facts, facts)}
        _keep(other.slug, theirs)
    _keep(slug, counts)


def shared_facts(benchmark: Benchmark, versions: Iterable[Benchmark]) -> list[SharedFacts]:
    """Return the stored counts of the benchmarks of which one of these versions is the current one, by title."""
    stored = benchmark.shared_facts or {}
    others = [other for other in versions if other.current and other.main and other.slug in stored]
    others.sort(key=lambda other: other.title)
    return [SharedFacts(other, *row) for other in others for row in stored[other.slug]]


def _shared(facts: Sequence[Fact], others: Sequence[Fact]) -> list[Stored]:
    """Return the counts of all predicates together by culture; nothing where no fact is shared."""
    table = overlap(facts, others)
    table = table[table["relation"] == ALL]
    if not table["shared"].any():
        return []
    columns = (table[name].tolist() for name in ("group", "facts", "shared"))
    return [("" if group == UNKNOWN else group, number, shared) for group, number, shared in zip(*columns, strict=True)]


def _keep(slug: str, counts: Mapping[str, Sequence[Stored]]) -> None:
    kept = {name: rows for name, rows in counts.items() if rows}
    Benchmark.objects.filter(slug=slug, current=True).exclude(path="").update(shared_facts=kept)
