"""The culture pair and the language that a reader chose."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from django.db.models import Count
from django.http import QueryDict

from leaderboard.figures.scores import PART_SETTINGS, PARTS, Slice, part_of, parts_among
from leaderboard.figures.standings import Standing
from leaderboard.models import Run, Score
from leaderboard.probes.culture.sides import GAP, legend, pair_title
from leaderboard.tables import Row
from leaderboard.ui import cells, charts, labels
from leaderboard.ui.charts.basics import Chart, Point
from leaderboard.ui.links import PageLink, link
from leaderboard.ui.tables import Column, interval_columns, score_cell, score_columns
from probing.analysis.breakdowns import CROSSED, join_group, split_group
from probing.analysis.culture_metrics import west_last
from probing.benchmark import Relation

PARAMETER, EVERYTHING = "part", "all"
BY_SIDE = "culture_pair_language_culture"
MOST_MODELS = 25  # rows of a chart


class Scored(Protocol):
    """A row about a run, which has a score for each metric and slice; `metric` is the name of its main metric."""

    @property
    def run(self) -> Run: ...

    @property
    def metric(self) -> str: ...

    def score(self, metric: str, part: Slice) -> Score | None: ...


RowT = TypeVar("RowT", bound=Scored)


@dataclass(frozen=True)
class PairInLanguage:
    """A culture pair in one language, with the slices of its two cultures, the West last.

    Where a benchmark has languages and no pairs, it is one of the languages, and its name is empty.
    """

    part: Slice
    sides: tuple[Slice, ...] = ()

    @property
    def name(self) -> str:
        """The pair as it is stored, such as arab-west."""
        return join_group(split_group(*self.part)[:-1])

    @property
    def language(self) -> str:
        return split_group(*self.part)[-1]

    @property
    def tags(self) -> dict[str, str]:
        """The tags of its items."""
        return dict(zip(CROSSED.get(self.part.dimension, (self.part.dimension,)), split_group(*self.part), strict=True))

    def has(self, relation: Relation) -> bool:
        """Tell whether the items of a relation are of this part."""
        return all(relation.tags.get(tag) == value for tag, value in self.tags.items())

    @property
    def limits(self) -> dict[str, str]:
        """The settings of a run that was asked nothing else."""
        return dict(zip(PART_SETTINGS, (self.name, self.language), strict=True))

    @property
    def title(self) -> str:
        asked = f"asked in {labels.language(self.language)}"
        return f"{pair_title(self.name)}, {asked}" if self.name else labels.sentence(asked)

    @property
    def cultures(self) -> list[str]:
        return [split_group(side.dimension, side.group)[-1] for side in self.sides]


def part_in_words(score: Score) -> str:
    """Return what pair and language a score is about, such as "Arab and West, asked in English"; else nothing."""
    return PairInLanguage(part_of(score)).title if score.dimension in PARTS else ""


def with_part(text: str, score: Score) -> str:
    """Return a text with the pair and the language that a score is about, if it is about one."""
    return ", ".join(filter(None, [text, part_in_words(score)]))


def settings_in_words(run: Run) -> str:
    """Return what sets a run apart from those with the usual settings, its culture pair and language by their names."""
    pair, language = run.settings.get("options", {}).get("pair"), run.settings.get("language")
    if not pair:
        return run.settings_group
    title = f"{pair_title(pair)}, asked in {labels.language(language)}" if language else pair_title(pair)
    return ", ".join(filter(None, [title, run.group_without(("pair", "language"))]))


def variant_in_words(run: Run) -> str:
    """Return what tells a run apart from others of its model, its culture pair and language by their names."""
    return settings_in_words(run) if run.option("pair", "") else run.variant


def offered_pairs(slices: Sequence[Slice]) -> list[PairInLanguage]:
    """Return the pairs and languages of which any run has figures, English first in each pair."""
    return [PairInLanguage(part, _sides(part, slices)) for part in parts_among(slices)]


def _sides(part: Slice, slices: Sequence[Slice]) -> tuple[Slice, ...]:
    sides = [side for side in slices if side.dimension == BY_SIDE and side.group.startswith(f"{part.group} ")]
    return tuple(sorted(sides, key=lambda side: west_last(split_group(side.dimension, side.group)[-1])))


def pairs_of(runs: Collection[Run]) -> list[PairInLanguage]:
    """Return the pairs and languages of which all of these runs have figures. One query."""
    metrics = {run.benchmark.main_metric for run in runs}
    scores = Score.objects.filter(run__in=runs, metric__in=metrics, dimension__in=PARTS)
    groups = scores.order_by().values_list("dimension", "group")
    counted = groups.annotate(runs=Count("run", distinct=True)).filter(runs=len(runs))
    return offered_pairs([Slice(dimension, group) for dimension, group, _ in counted])


def chosen_pair(query: QueryDict, offered: Sequence[PairInLanguage]) -> PairInLanguage | None:
    """Return the pair that the query string asks for, or else the first; None for all, which stand in groups."""
    group = query.get(PARAMETER, "")
    if group == EVERYTHING:
        return None
    return next((pair for pair in offered if pair.part.group == group), next(iter(offered), None))


def one_pair(query: QueryDict, offered: Sequence[PairInLanguage]) -> PairInLanguage | None:
    """Return the pair that the query string asks for, or else the first, on a page that never shows all of them."""
    return chosen_pair(query, offered) or next(iter(offered), None)


def rows_of(rows: Sequence[Row], pair: PairInLanguage | None) -> list[Row]:
    """Return the rows of the chosen pair in its language; all rows where none is chosen."""
    return [row for row in rows if pair is None or (row["pair"], row["language"]) == (pair.name, pair.language)]


def switches(
    query: QueryDict, offered: Sequence[PairInLanguage], chosen: PairInLanguage | None, *, everything: str = ""
) -> list[list[PageLink]]:
    """Return the links to the pairs, and those to the languages of the chosen pair; nothing where there is only one.

    `everything`: the title of one more link, the last, that leads to all pairs; none without it.
    """
    if len(offered) < 2:
        return []
    names = list(dict.fromkeys(pair.name for pair in offered if pair.name))
    by_pair = [_link(query, pair_title(name), _with_name(offered, name, chosen), chosen, name) for name in names]
    languages = [pair for pair in offered if not pair.name or (chosen and pair.name == chosen.name)]
    by_language = [_link(query, labels.language(pair.language), pair, chosen, pair.name) for pair in languages]
    if everything:
        (by_pair or by_language).append(PageLink(everything, link(query, **{PARAMETER: EVERYTHING}), chosen is None))
    return [by_pair, by_language]


def _with_name(offered: Sequence[PairInLanguage], name: str, chosen: PairInLanguage | None) -> PairInLanguage:
    """Return a pair in the language that is chosen already, or else in its first language."""
    pairs = [pair for pair in offered if pair.name == name]
    return next((pair for pair in pairs if chosen and pair.language == chosen.language), pairs[0])


def _link(query: QueryDict, title: str, to: PairInLanguage, chosen: PairInLanguage | None, name: str) -> PageLink:
    is_pair = bool(name) and title == pair_title(name)
    current = chosen is not None and (chosen.name == name if is_pair else chosen == to)
    return PageLink(title, link(query, **{PARAMETER: to.part.group}), current)


def pair_columns(pair: PairInLanguage | None, title: str) -> list[Column[RowT]]:
    """Return the columns with the main metric of both cultures, which has this title, and the gap between them."""
    if pair is None or len(pair.sides) < 2:
        return []
    first, second = map(labels.culture, pair.cultures)
    return [
        *_side_columns("first", pair.cultures[0], pair.sides[0], title),
        *_side_columns("second", pair.cultures[1], pair.sides[1], title),
        Column(
            "gap",
            "Gap",
            lambda row: _gap_cell(row, pair),
            f"{title} on facts about {first} minus that on facts about {second}.",
            align="number",
        ),
        *interval_columns(lambda row: row.score(GAP, pair.part), "gap"),
    ]


def _side_columns(name: str, culture: str, side: Slice, title: str) -> list[Column[RowT]]:
    def score(row: Scored) -> Score | None:
        return row.score(row.metric, side)

    help_text = f"{title} on facts about {labels.culture(culture)}."
    return score_columns(name, culture, score, lambda row: score_cell(row.run, score(row)), help_text)


def _gap_cell(row: Scored, pair: PairInLanguage) -> cells.Cell:
    """Show the gap with its interval, which published figures lack."""
    stored = row.score(GAP, pair.part)
    low, high = (stored.low, stored.high) if stored else (None, None)
    return cells.signed(gap(row, pair), low=low, high=high)


def gap(row: Scored, pair: PairInLanguage) -> float | None:
    """Return the main metric of the first culture minus that of the second."""
    first, second = (_value(row.score(row.metric, side)) for side in pair.sides)
    return None if first is None or second is None else first - second


def _value(score: Score | None) -> float | None:
    return score.value if score else None


def gaps_chart(pair: PairInLanguage | None, rows: Sequence[Standing], title: str) -> Chart | None:
    """Return a row for each model, the widest gap in favour of the first culture on top."""
    if pair is None or len(pair.sides) < 2:
        return None
    with_gap = [(row, difference) for row in rows if (difference := gap(row, pair)) is not None]
    if not with_gap:
        return None
    shown = sorted(with_gap, key=lambda entry: -abs(entry[1]))[:MOST_MODELS]
    shown.sort(key=lambda entry: -entry[1])
    names = _names([row.run for row, _ in shown])
    points = [point for row, _ in shown for point in _points(row, pair, names[row.run.pk])]
    published = [names[row.run.pk] for row, _ in shown if row.run.is_published]
    first, second = pair.cultures
    better, level = sum(gap > 0 for _, gap in with_gap), sum(not gap for _, gap in with_gap)
    number = f"{better} of {len(with_gap)} models know" if len(with_gap) > 1 else f"{better} of 1 model knows"
    ours, theirs = map(labels.culture, pair.cultures)
    also = f", and {labels.number_of(level, 'model')} as much of both" if level else ""
    summary = f"{pair.title}: {number} more of the facts about {ours} than of those about {theirs}{also}."
    summary += f" The {len(shown)} widest gaps are drawn." if len(shown) < len(with_gap) else ""
    summary += legend(row.run for row, _ in shown)
    figure = charts.beside(points, {point.label: "" for point in points}, title, published=published)
    return Chart("scatter", f"{first} and {second}", summary, figure)


def _points(row: Standing, pair: PairInLanguage, name: str) -> list[Point]:
    """Return the figures of both cultures, which a row with a gap has."""
    address = row.run.get_absolute_url()
    sides = zip(pair.cultures, (row.score(row.metric, side) for side in pair.sides), strict=True)
    return [
        Point(name, score.value or 0.0, score.low, score.high, group=culture, href=address)
        for culture, score in sides
        if score
    ]


def _names(runs: Sequence[Run]) -> dict[int, str]:
    """Map each run to its model's name, and to what tells several runs of one model apart."""
    names = {run.pk: run.model.hub_id.removeprefix("published/") for run in runs}
    times = Counter(names.values())
    for run in runs:
        if run.is_published and times[names[run.pk]] > 1:
            names[run.pk] += ", published"
    return labels.distinct(names)
