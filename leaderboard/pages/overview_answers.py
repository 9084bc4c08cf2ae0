"""The first lines of the overview: who knows most, as sentences, for each class of sizes and for each topic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from leaderboard.figures.board import ends
from leaderboard.figures.leaders import SIZE_CLASSES, Leader, Ranked, fullest, leader, ranked
from leaderboard.figures.overview import BenchmarkColumn, Figure, Overview
from leaderboard.models.run import run_url
from leaderboard.probes.benchmark_words import TOPICS
from leaderboard.ui import cells
from leaderboard.ui.labels import number_of
from leaderboard.ui.links import model_address

LEVEL_NAMED = 2  # models that are level with the best; of more, their number is said
# What the best model of a topic does best.
BEST_AT = {
    "Facts": "knows most",
    "Cultures": "knows most",
    "Precision": "prefers the more specific answer most often",
    "Plausibility": "tells true from false best",
}


@dataclass(frozen=True)
class Standing:
    """A model with its figure in words.

    `uncertainty` stands behind the figure. `origin` says whether it was measured here, or who published it.
    """

    name: str
    full_name: str
    address: str
    figure: str
    run: str
    is_measured: bool
    has_interval: bool
    uncertainty: str
    origin: str


@dataclass(frozen=True)
class Answer:
    """Who is best among `title`, on a benchmark or in a topic.

    `verb` says at what. `level` names the models that cannot be told from the best, or the next one where it is not
    known which can. `doubt` says where even the best is not clearly better than guessing. `beside` is the best of the
    other provenance.
    """

    title: str
    href: str
    verb: str
    best: Standing
    level: str = ""
    doubt: str = ""
    beside: Standing | None = None

    @property
    def remarks(self) -> str:
        """Where the figure is from, what is level with it, and what makes it doubtful, without the stop at its end."""
        return "; ".join(filter(None, [self.best.origin, self.level, self.doubt])).removesuffix(".")


Sources = Mapping[int, str]  # what published figures are cited from, by run


class SizeClass(NamedTuple):
    """The best models below a number of parameters, overall and of the provenance that the best one is not of."""

    title: str
    best: Leader
    beside: Leader | None


def size_classes(overview: Overview, column: BenchmarkColumn) -> list[SizeClass]:
    """Return the best of a column in each class of sizes that has any, neighbouring classes with the same ones once."""
    limits: dict[str, int | None] = {**SIZE_CLASSES, "": None}
    figures = ranked(overview.rows, column)
    classes = [size_class for title, below in limits.items() if (size_class := _size_class(title, figures, below))]
    return [_together(list(alike)) for _, alike in groupby(classes, _leading_runs)]


def _leading_runs(size_class: SizeClass) -> list[int]:
    return [one.figure.run for one in (size_class.best, size_class.beside) if one]


def _together(alike: Sequence[SizeClass]) -> SizeClass:
    """Return one class for several with the same best models; the largest has all that are level."""
    sizes = [size_class.title for size_class in alike if size_class.title]
    if not sizes:
        return alike[-1]._replace(title="Of any size")
    limits = sizes if len(sizes) == len(alike) else [*sizes, "of any size"]
    *others, last = limits
    return alike[-1]._replace(title=f"Below {', '.join(others)} and {last}" if others else f"Below {last}")


def _size_class(title: str, figures: Ranked, below: int | None = None) -> SizeClass | None:
    best = leader(figures, below)
    if best is None:
        return None
    return SizeClass(title, best, leader(figures, below, measured=not best.figure.is_measured))


def other_topics(overview: Overview, topic: str) -> list[tuple[BenchmarkColumn, SizeClass]]:
    """Return the best model of each topic but one, on the benchmark of the topic that most models have figures on."""
    columns = [fullest([column for column in overview.columns if column.measure.topic == name]) for name in TOPICS]
    others = [column for column in columns if column and column.measure.topic != topic]
    bests = [(column, _size_class(column.measure.topic, ranked(overview.rows, column))) for column in others]
    return [(column, best) for column, best in bests if best]


def measured_beside(overview: Overview, main: BenchmarkColumn) -> list[tuple[BenchmarkColumn, SizeClass]]:
    """Return the best on the topic's most measured benchmark, where the main benchmark has published figures only.

    The result of a site's first run is then among the first lines, as the best or beside a better published one.
    """
    columns = [column for column in overview.columns if column.measure.topic == main.measure.topic]
    column = max(columns, key=_number_measured)
    best = _size_class(column.measure.title, ranked(overview.rows, column))
    return [(column, best)] if best and _number_measured(column) and not _number_measured(main) else []


def _number_measured(column: BenchmarkColumn) -> int:
    return sum(figure.is_measured for figure in column.comparable.values())


def published_of(classes: Sequence[SizeClass]) -> list[Figure]:
    """Return the figures that are named, except those that were measured here."""
    figures = [one.figure for size_class in classes for one in (size_class.best, size_class.beside) if one]
    return [figure for figure in figures if not figure.is_measured]


def answer(size_class: SizeClass, column: BenchmarkColumn, sources: Sources, href: str = "") -> Answer:
    """Return the answer of a class of sizes."""
    return Answer(
        size_class.title,
        href,
        _verb(size_class.best, column),
        _standing(size_class.best, sources),
        _level(size_class),
        _doubt(size_class.best, column),
        _standing(size_class.beside, sources) if size_class.beside else None,
    )


def _verb(best: Leader, column: BenchmarkColumn) -> str:
    return BEST_AT[column.measure.topic] if best.models > 1 else "is the only one with a figure"


def _standing(best: Leader, sources: Sources) -> Standing:
    row, figure = best.row, best.figure
    interval = cells.uncertainty(figure.value, figure.low, figure.high)
    name = row.hub_id.rpartition("/")[2]
    return Standing(
        f"{name} ({row.key.weights})" if row.key.weights else name,
        row.hub_id,
        model_address(row.hub_id),
        cells.figure(figure.value),
        run_url(figure.run),
        figure.is_measured,
        bool(interval),
        interval or (f"standard error over wordings {figure.error:.3f}" if figure.error else "no interval stated"),
        "measured here" if figure.is_measured else sources.get(figure.run, "published"),
    )


def _level(size_class: SizeClass) -> str:
    """Name the models that are level with the best, or the next one where no interval tells; nothing without any.

    The best of the other provenance has a sentence of its own.
    """
    best, beside = size_class.best, size_class.beside
    if best.next and not (beside and beside.figure is best.next[0]):
        figure, row = best.next
        return f"next is {row.hub_id.rpartition('/')[2]}, {cells.figure(figure.value)}"
    names = [row.hub_id.rpartition("/")[2] for row in best.level]
    if not names:
        return ""
    if len(names) > LEVEL_NAMED:
        return f"level with {number_of(len(names), 'other')} of {number_of(best.models, 'model')}"
    return f"level with {' and '.join(names)}"


def _doubt(best: Leader, column: BenchmarkColumn) -> str:
    interval = ends(best.figure)
    lowest = interval[0] if interval else best.figure.value
    if column.chance is None or lowest > column.chance:
        return ""
    return f"not clearly better than guessing, {cells.figure(column.chance)}"
