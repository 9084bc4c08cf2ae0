"""The culture pair and the language that a reader chose."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count
from django.http import QueryDict

from leaderboard.figures.scores import PART_SETTINGS, PARTS, Slice, part_of, parts_among
from leaderboard.models import Entry, Run, Score
from leaderboard.probes.culture.sides import GAP, pair_title
from leaderboard.tables import Row
from leaderboard.ui import labels
from leaderboard.ui.links import PageLink, link
from probing.analysis.breakdowns import CROSSED, join_group, split_group
from probing.analysis.culture_metrics import west_last
from probing.benchmark import Relation

PARAMETER = "part"
BY_SIDE = "culture_pair_language_culture"


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
        return dict(zip(CROSSED.get(self.part.dimension, (self.part.dimension,)), split_group(*self.part), strict=True))

    def has(self, relation: Relation) -> bool:
        return all(relation.tags.get(tag) == value for tag, value in self.tags.items())

    @property
    def limits(self) -> dict[str, str]:
        """The settings of a run that was asked nothing else."""
        return dict(zip(PART_SETTINGS, (self.name, self.language), strict=True))

    @property
    def title(self) -> str:
        language = f"asked in {labels.language(self.language)}"
        return f"{pair_title(self.name)}, {language}" if self.name else labels.sentence(language)

    @property
    def cultures(self) -> list[str]:
        return [split_group(side.dimension, side.group)[-1] for side in self.sides]


def part_in_words(score: Score) -> str:
    """Return what pair and language a score is about, such as "Arab and West, asked in English"; else nothing."""
    return PairInLanguage(part_of(score)).title if score.dimension in PARTS else ""


def with_part(text: str, score: Score) -> str:
    """Return a text with the pair and the language that a score is about, if it is about one."""
    return ", ".join(filter(None, [text, part_in_words(score)]))


def settings_in_words(run: Entry) -> str:
    """Return what sets a run apart from those with the usual settings, its culture pair and language by their names."""
    pair, language = run.settings.get("options", {}).get("pair"), run.settings.get("language")
    if not pair:
        return run.settings_group
    title = f"{pair_title(pair)}, asked in {labels.language(language)}" if language else pair_title(pair)
    return ", ".join(filter(None, [title, run.group_without(("pair", "language"))]))


def variant_in_words(run: Entry) -> str:
    """Return what tells a run apart from others of its model, its culture pair and language by their names."""
    return settings_in_words(run) if run.option("pair", "") else run.variant


def offered_pairs(slices: Sequence[Slice]) -> list[PairInLanguage]:
    """Return the pairs and languages of which any run has figures, English first in each pair."""
    return [PairInLanguage(part, _sides(part, slices)) for part in parts_among(slices)]


def _sides(part: Slice, slices: Sequence[Slice]) -> tuple[Slice, ...]:
    sides = [side for side in slices if side.dimension == BY_SIDE and side.group.startswith(f"{part.group} ")]
    return tuple(sorted(sides, key=lambda side: west_last(split_group(side.dimension, side.group)[-1])))


def parts_asked(relations: Iterable[Relation]) -> list[Slice]:
    """Return the pairs of cultures in their languages that relations ask about, or else their languages."""
    tags = [relation.tags for relation in relations if "language" in relation.tags]
    pairs = [join_group([str(of["culture_pair"]), str(of["language"])]) for of in tags if "culture_pair" in of]
    groups, dimension = (pairs, PARTS[0]) if pairs else ([str(of["language"]) for of in tags], PARTS[1])
    return [Slice(dimension, group) for group in dict.fromkeys(groups)]


def pairs_of(runs: Collection[Run]) -> list[PairInLanguage]:
    """Return the pairs and languages of which all of these runs have figures. One query."""
    metrics = {run.benchmark.main_metric for run in runs}
    scores = Score.objects.filter(run__in=runs, metric__in=metrics, dimension__in=PARTS)
    groups = scores.order_by().values_list("dimension", "group")
    counted = groups.annotate(runs=Count("run", distinct=True)).filter(runs=len(runs))
    return offered_pairs([Slice(dimension, group) for dimension, group, _ in counted])


def chosen_pair(query: QueryDict, offered: Sequence[PairInLanguage]) -> PairInLanguage | None:
    """Return the pair that the query string asks for, or else the first; None where there are no pairs."""
    group = query.get(PARAMETER, "")
    return next((pair for pair in offered if pair.part.group == group), next(iter(offered), None))


def rows_of(rows: Sequence[Row], pair: PairInLanguage | None) -> list[Row]:
    """Return the rows of the chosen pair in its language; all rows where none is chosen."""
    return [row for row in rows if pair is None or (row["pair"], row["language"]) == (pair.name, pair.language)]


def switches(
    query: QueryDict, offered: Sequence[PairInLanguage], chosen: PairInLanguage | None
) -> list[list[PageLink]]:
    """Return the links to the pairs, and those to the languages of the chosen pair; nothing where there is only one."""
    if len(offered) < 2:
        return []
    names = list(dict.fromkeys(pair.name for pair in offered if pair.name))
    by_pair = [_link(query, pair_title(name), _with_name(offered, name, chosen), chosen, name) for name in names]
    languages = [pair for pair in offered if not pair.name or (chosen and pair.name == chosen.name)]
    by_language = [_link(query, labels.language(pair.language), pair, chosen, pair.name) for pair in languages]
    return [by_pair, by_language]


def _with_name(offered: Sequence[PairInLanguage], name: str, chosen: PairInLanguage | None) -> PairInLanguage:
    """Return a pair in the language that is chosen already, or else in its first language."""
    pairs = [pair for pair in offered if pair.name == name]
    return next((pair for pair in pairs if chosen and pair.language == chosen.language), pairs[0])


def _link(query: QueryDict, title: str, to: PairInLanguage, chosen: PairInLanguage | None, name: str) -> PageLink:
    is_pair = bool(name) and title == pair_title(name)
    current = chosen is not None and (chosen.name == name if is_pair else chosen == to)
    return PageLink(title, link(query, **{PARAMETER: to.part.group}), current)


def sides_and_gap(figures: Mapping[tuple[str, Slice], Any], metric: str, pair: PairInLanguage | None) -> dict[str, Any]:
    """Return the figures of both cultures of a pair, and the first minus the second with the interval that is stored.

    `figures`: those of a run by metric and slice; published gaps have no interval. A missing figure is None, and
    nothing is returned where no pair is chosen or it has no cultures.
    """
    if pair is None or len(pair.sides) < 2:
        return {}
    first, second = (figures.get((metric, side)) for side in pair.sides)
    stored, gap = figures.get((GAP, pair.part)), None
    if first and second and first.value is not None and second.value is not None:
        ends = {"low": stored.low, "high": stored.high} if stored else {}
        gap = Score(metric=GAP, value=first.value - second.value, **ends)
    return {"first": first, "second": second, "gap": gap}
