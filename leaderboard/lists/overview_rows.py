"""What the overview is made of: measures, figures, columns and rows."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from leaderboard.lists.listed_models import ListedModel, ModelKey
from leaderboard.lists.scores import Slice
from leaderboard.models import Benchmark, Run


@dataclass(frozen=True)
class Measure:
    """What the overview shows of one benchmark.

    `versions`: those that figures may be about, the current one first. `metrics`: the first of them that any run has is
    shown. `part`: the group of items that the figures are about. `narrowed_by`: options of a run that choose such a
    group, so that a run with them is still comparable.
    """

    title: str
    topic: str
    versions: Sequence[Benchmark]
    metrics: Sequence[str]
    part: Slice
    narrowed_by: Collection[str] = ()

    @property
    def slug(self) -> str:
        return self.versions[0].slug


class Figure(NamedTuple):
    """The stored score of a run, with what tells whose it is. `finished` is a time as the database writes it."""

    run: int
    benchmark: int
    provenance: str
    settings: str
    finished: str | None
    model: ListedModel
    metric: str
    value: float
    low: float | None
    high: float | None
    n: float

    @property
    def is_measured(self) -> bool:
        return self.provenance == Run.Provenance.MEASURED


class OpenRun(NamedTuple):
    """A run that waits or is being measured; `percent` of its work is done."""

    run: int
    state: str
    percent: int


class Mention(NamedTuple):
    """A model with a published or an open run on a benchmark, whether or not it has a figure there."""

    model: ListedModel
    is_open: bool


@dataclass(frozen=True)
class BenchmarkColumn:
    """A column: a benchmark with the metric that it shows, the version that it is about, and what guessing reaches.

    `human`: the figure of people, where authors have published one.
    `without_figure`: the models that wait to be measured, or whose published figures cannot stand in the column, as
    they are in other metrics, about other settings, or about another group of items.
    """

    measure: Measure
    metric: str
    version: Benchmark
    chance: float | None
    figures: Mapping[ModelKey, Figure]
    without_figure: Mapping[ModelKey, Mention] = field(default_factory=dict)
    human: Figure | None = None

    @property
    def slug(self) -> str:
        return self.measure.slug

    @cached_property
    def highest(self) -> float | None:
        """The highest of several shares about the items of this column; None where more is not better, or for one."""
        values = [figure.value for figure in self.figures.values() if not self.is_about_other_items(figure)]
        return max(values) if len(values) > 1 and all(0 <= value <= 1 for value in values) else None

    def is_about_other_items(self, figure: Figure) -> bool:
        """Tell whether a figure is about other items than the rest of the column."""
        return figure.benchmark != self.version.pk


@dataclass(frozen=True)
class ModelRow:
    """A model with its figures by the slug of the benchmark, and its open runs where it has no figure.

    `published_apart`: the benchmarks whose column its published figures cannot stand in.
    """

    key: ModelKey
    kind: str
    parameters: int | None
    figures: Mapping[str, Figure]
    published_apart: Collection[str] = ()
    open_runs: Mapping[str, OpenRun] = field(default_factory=dict)

    @property
    def hub_id(self) -> str:
        return self.key.hub_id

    @property
    def coverage(self) -> int:
        """The number of benchmarks on which it has a figure."""
        return len(self.figures)

    @property
    def measured(self) -> int:
        """The number of benchmarks on which it was measured here."""
        return sum(figure.is_measured for figure in self.figures.values())


@dataclass(frozen=True)
class Overview:
    """The columns by topic, the rows in their default order, and the time at which the last run finished."""

    columns: Sequence[BenchmarkColumn]
    rows: Sequence[ModelRow]
    updated: datetime | None = None
