"""The tables of a training: its points, its groups, items learned and forgotten, and all of it in sentences."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.urls import reverse

from leaderboard.figures.questions import question_id, question_url
from leaderboard.figures.training import ChangeShare, Difference, Percent, StepScore, paired_differences
from leaderboard.models import Benchmark, Run
from leaderboard.probes.breakdowns import titled_cell
from leaderboard.probes.probe_pages import ProbePages
from leaderboard.probes.wording import language_of, relation_name
from leaderboard.ui import cells, labels
from leaderboard.ui.cells import Cell, figure
from leaderboard.ui.tables import Column, Table, interval_columns, source_column
from probing.analysis.intervals import recovered
from probing.benchmark import Item, Relation

SLACK = 1e-6  # by which two figures may differ that count the same answers
NAMED_GROUPS = 3  # in a sentence
PAGE_SIZE = 25  # rows, as the page has several tables
TRAINING_METHODS = "comparing/#during-training"  # the heading of docs/methods/ that explains these tables
PERCENT = "% of first"
PERCENT_HELP = "The score in percent of that at the first step."
ABOVE_CHANCE = "% of first above chance"
ABOVE_CHANCE_HELP = "What lies above chance, in percent of what did so at the first step."
CHANCE_HELP = "What guessing reaches in this group: what is learned lies above it."
LEAST_QUESTIONS = 10  # of a group whose change is called clear


class PointRow(NamedTuple):
    """A point of a curve, and what the curve is called."""

    curve: str
    point: StepScore


class GroupRow(NamedTuple):
    """A group of items with its scores at the first and at the last step, and what guessing reaches if it is known."""

    name: str
    title: str
    first: StepScore
    last: StepScore
    chance: float | None = None

    @property
    def change(self) -> float:
        return self.last.value - self.first.value

    @property
    def is_clear(self) -> bool:
        """Tell whether the change is certain: of enough questions, and with an interval that excludes zero."""
        interval = interval_of_difference(self.last, self.first)
        return interval is not None and interval[0] * interval[1] > 0 and self.last.score.n >= LEAST_QUESTIONS

    @property
    def is_above_chance(self) -> bool:
        """Tell whether the last score is clearly above what guessing reaches."""
        low = self.last.score.low
        return self.chance is not None and low is not None and low > self.chance


class StepDifference(NamedTuple):
    """The scores of two series at a step that both have."""

    first: StepScore
    second: StepScore

    @property
    def value(self) -> float:
        return self.second.value - self.first.value

    def interval(self, difference: Difference | None) -> tuple[float, float] | None:
        """Return the interval of the difference of the answers where it is also that of the figures, else None."""
        if difference is None or abs(difference.value - self.value) > SLACK:
            return None
        return difference.low, difference.high


def points_table(rows: Sequence[PointRow], metric: str, percentages: Collection[str], nouns: str) -> Table[PointRow]:
    """Return every point of the curves; the name of its curve stands above its rows where there are several.

    `nouns`: what the benchmark's items are called, here and in the other tables.
    """
    has_headings = len({row.curve for row in rows}) > 1
    return Table(
        name="points",
        caption=f"{metric} at every step",
        columns=[
            _step_column(lambda row: row.point),
            Column("tokens", "Tokens read", lambda row: cells.parameters(_model(row).tokens), align="number"),
            Column("revision", "Revision", lambda row: cells.text(_model(row).revision)),
            Column("commit", "Commit", lambda row: cells.text(_model(row).commit[:7])),
            Column("score", metric, lambda row: marked_score(row.point), align="score"),
            *interval_columns(lambda row: row.point.score),
            *_percent_columns(percentages),
            Column("n", nouns.capitalize(), lambda row: cells.items(row.point.score.n), align="number"),
            Column("run", "", lambda row: cells.number(row.point.run.pk), shown=False),
            Column("model", "", lambda row: cells.text(_model(row).hub_id), shown=False),
            source_column(lambda row: row.point.run, shown=False),
        ],
        rows=rows,
        main=True,
        heading=lambda row: row.curve if has_headings else "",
        page_size=PAGE_SIZE,
        order="" if has_headings else "step",
    )


def _model(row: PointRow) -> Any:
    return row.point.run.model


def _step_column(point: Callable[[Any], StepScore]) -> Column[Any]:
    def cell(row: Any) -> Cell:
        step = point(row).step
        return Cell(step, f"{step:,}", point(row).run.get_absolute_url(), kind="number")

    return Column("step", "Step", cell, align="head")


def marked_score(point: StepScore) -> Cell:
    """Show a score as measured here (filled) or elsewhere (hollow)."""
    return cells.of_run(cells.of_score(point.score), point.run)


def _percent_columns(percentages: Collection[str]) -> list[Column[PointRow]]:
    """Return both percentages with their intervals for the CSV, of which a page shows those of these names."""
    return [
        *_columns_of("percent", PERCENT, PERCENT_HELP, shown="percent" in percentages),
        *_columns_of("above_chance", ABOVE_CHANCE, ABOVE_CHANCE_HELP, shown="above_chance" in percentages),
    ]


def _columns_of(name: str, title: str, help_text: str, *, shown: bool) -> list[Column[PointRow]]:
    def percent(row: PointRow) -> Percent:
        return row.point.percent if name == "percent" else row.point.above_chance

    return [
        Column(
            *(name, title, lambda row: _percent_cell(percent(row)), help_text),
            align="number",
            shown=shown,
            methods_heading=TRAINING_METHODS,
        ),
        Column(f"{name}_low", "", lambda row: cells.number(percent(row).low), shown=False),
        Column(f"{name}_high", "", lambda row: cells.number(percent(row).high), shown=False),
    ]


def _percent_cell(percent: Percent) -> Cell:
    shown = cells.number(percent.value, 1)
    if percent.value is None:
        return shown
    return replace(shown, uncertainty=cells.uncertainty(percent.value, percent.low, percent.high, 1))


def benchmarks_table(
    rows: Sequence[PointRow], percentages: Collection[str], head: Column[PointRow] | None = None
) -> Table[PointRow]:
    """Return every point of a training on all benchmarks, in percent of the first one of each.

    `head`: what names a point in place of its step.
    """
    return Table(
        name="benchmarks",
        caption="Every benchmark, in percent of the first point",
        columns=[
            head or _step_column(lambda row: row.point),
            Column("benchmark", "", lambda row: cells.text(row.point.run.benchmark.name), shown=False),
            Column("score", "Score", lambda row: marked_score(row.point), align="score"),
            *_percent_columns(percentages),
            Column("run", "", lambda row: cells.number(row.point.run.pk), shown=False),
        ],
        rows=rows,
        heading=lambda row: row.curve,
        page_size=PAGE_SIZE,
    )


def group_rows(
    groups: Mapping[str, Sequence[StepScore]], titles: Mapping[str, str], chance: Mapping[str, float]
) -> list[GroupRow]:
    """Return a row for each group with several points, those that changed most first.

    `chance`: what guessing reaches in the groups where that is known.
    """
    rows = [
        GroupRow(name, titles[name], points[0], points[-1], chance.get(name))
        for name, points in groups.items()
        if len(points) > 1
    ]
    return sorted(rows, key=lambda row: -abs(row.change))


def groups_table(rows: Sequence[GroupRow], dimension: str, nouns: str) -> Table[GroupRow]:
    """Return the groups with their first and last scores and the change between them."""

    def last_percent(row: GroupRow) -> Cell:
        return cells.number(row.last.percent.value, 1)

    def change(row: GroupRow) -> Cell:
        low, high = interval_of_difference(row.last, row.first) or (None, None)
        return cells.signed(row.change, low=low, high=high)

    return Table(
        name="groups",
        caption=f"Change from the first to the last step by {dimension}",
        columns=[
            Column("group", dimension.capitalize(), lambda row: titled_cell(row.name, row.title), align="head"),
            Column("first_step", "", lambda row: cells.number(row.first.step), shown=False),
            Column("last_step", "", lambda row: cells.number(row.last.step), shown=False),
            Column("first", "First step", lambda row: cells.of_score(row.first.score), align="score"),
            Column("last", "Last step", lambda row: cells.of_score(row.last.score), align="score"),
            Column("chance", "Chance", lambda row: cells.number(row.chance), CHANCE_HELP, align="number"),
            Column("change", "Change", change, align="number"),
            *_bounds(lambda row: interval_of_difference(row.last, row.first)),
            Column("percent", PERCENT, last_percent, PERCENT_HELP, align="number", methods_heading=TRAINING_METHODS),
            Column("n", nouns.capitalize(), lambda row: cells.items(row.last.score.n), align="number"),
        ],
        rows=rows,
        page_size=PAGE_SIZE,
    )


def _bounds(interval: Callable[[Any], tuple[float, float] | None]) -> list[Column[Any]]:
    """Return the columns of the CSV with the ends of the interval of a difference."""

    def column(end: int, name: str) -> Column[Any]:
        return Column(name, "", lambda row: cells.number((interval(row) or (None, None))[end]), shown=False)

    return [column(0, "low"), column(1, "high")]


def curves_table(
    groups: Mapping[str, Sequence[StepScore]], titles: Mapping[str, str], percentages: Collection[str], nouns: str
) -> Table[PointRow]:
    """Return every point of every group."""
    rows = [PointRow(name, point) for name, points in groups.items() for point in points]
    return Table(
        name="curves",
        caption="Every group at every step",
        columns=[
            Column("group", "Group", lambda row: titled_cell(row.curve, titles[row.curve]), align="head"),
            replace(_step_column(lambda row: row.point), align="number"),
            Column("value", "Score", lambda row: marked_score(row.point), align="score"),
            *interval_columns(lambda row: row.point.score),
            *_percent_columns(percentages),
            Column("n", nouns.capitalize(), lambda row: cells.items(row.point.score.n), align="number"),
            Column("run", "", lambda row: cells.number(row.point.run.pk), shown=False),
        ],
        rows=rows,
        page_size=PAGE_SIZE,
    )


def common_steps(first: Sequence[StepScore], second: Sequence[StepScore]) -> list[StepDifference]:
    """Return the scores of two series at the steps that both have."""
    by_step = {point.step: point for point in second}
    return [StepDifference(point, by_step[point.step]) for point in first if point.step in by_step]


def differences_table(rows: Sequence[StepDifference], names: tuple[str, str], noun: str) -> Table[StepDifference]:
    """Return the difference of the second series from the first at each common step.

    Its interval is that for the same items where the answers to these are stored, and that for two independent samples
    where they are not.
    """
    paired: dict[int, tuple[float, float] | None] = {}

    def prepare(shown: Sequence[StepDifference]) -> None:
        differences = paired_differences([(row.first.run, row.second.run) for row in shown])
        paired.update({row.first.step: row.interval(of) for row, of in zip(shown, differences, strict=True)})

    def interval(row: StepDifference) -> tuple[float, float] | None:
        return paired.get(row.first.step) or interval_of_difference(row.second, row.first)

    def cell(row: StepDifference) -> Cell:
        low, high = interval(row) or (None, None)
        return cells.signed(row.value, low=low, high=high)

    def compare(row: StepDifference) -> Cell:
        runs = [row.first.run.pk, row.second.run.pk]
        address = f"{reverse('compare')}?{urlencode({'m': runs}, doseq=True)}"
        return Cell(" ".join(map(str, runs)), "Compare", address)

    first, second = names
    return Table(
        name="differences",
        caption=f"{second} against {first} at the steps that both have",
        columns=[
            Column("step", "Step", lambda row: cells.number(row.first.step), align="head"),
            Column("first", first, lambda row: marked_score(row.first), align="score"),
            Column("second", second, lambda row: marked_score(row.second), align="score"),
            Column("difference", "Difference", cell, align="number", methods_heading=TRAINING_METHODS),
            *_bounds(interval),
            Column("runs", f"{noun.capitalize()} by {noun}", compare),
        ],
        rows=rows,
        page_size=PAGE_SIZE,
        prepare=prepare,
        empty="They have no step in common.",
    )


# The tables of items that were learned or forgotten between two steps of a training: how many, and which.


CHANGE_TITLES = {"learned": "Learned", "forgotten": "Forgotten", "kept": "Kept", "unknown": "Unknown in both"}


class ChangedItem(NamedTuple):
    """An item of two runs: what became of it, and the shares of its wordings that are right in each.

    `number` is its index in the relation. `question` is its relation and item in the benchmark, None where the
    benchmark's files are not here.
    """

    relation: str
    number: int
    before: float
    after: float
    change: str
    question: tuple[Relation, Item] | None


def shares_table(rows: Sequence[ChangeShare], href: Callable[[str], str]) -> Table[ChangeShare]:
    """Return how many items were learned, forgotten, kept and unknown; `href` leads to the list of them."""

    def title(row: ChangeShare) -> Cell:
        return replace(cells.text(row.change, href(row.change)), text=CHANGE_TITLES[row.change])

    return Table(
        name="changes",
        caption="What became of the questions",
        columns=[
            Column("change", "Questions", title, align="head"),
            Column("items", "Number", lambda row: cells.number(row.items), align="number"),
            Column("share", "Share", lambda row: cells.score(row.share, row.low, row.high), align="score"),
            *interval_columns(lambda row: row)[:2],
            Column("n", "", lambda row: cells.number(row.n), shown=False),
        ],
        rows=rows,
        sortable=False,
    )


def items_table(rows: Sequence[ChangedItem], benchmark: Benchmark, pages: ProbePages) -> Table[ChangedItem]:
    """Return the items with what became of them; each question links to its page where it has one."""

    def question(row: ChangedItem) -> Cell:
        if row.question is None:
            return cells.text(f"{row.relation} {row.number}")
        relation, item = row.question
        text = str(pages.question_form.sentence(relation, item, 0))
        href = question_url(benchmark, relation, item) if benchmark.current else ""
        return cells.text(text, href, lang=language_of(relation))

    def item_id(row: ChangedItem) -> Cell:
        return cells.text(question_id(*row.question) if row.question else f"{row.relation}-{row.number}")

    def relation_cell(row: ChangedItem) -> Cell:
        return titled_cell(row.relation, relation_name(row.question[0]) if row.question else row.relation)

    return Table(
        name="items",
        caption="Questions that changed",
        columns=[
            Column("id", "", item_id, shown=False),
            Column("question", "Question", question, align="head"),
            Column("relation", "Relation", relation_cell, folded=True),
            Column("change", "Change", lambda row: replace(cells.text(row.change), text=CHANGE_TITLES[row.change])),
            Column("before", "Right before", lambda row: cells.number(row.before, 2), align="number", folded=True),
            Column("after", "Right after", lambda row: cells.number(row.after, 2), align="number", folded=True),
        ],
        rows=rows,
        page_size=PAGE_SIZE,
        empty="No question has changed in this way.",
    )


def groups_in_words(rows: Sequence[GroupRow], dimension: str, nouns: str) -> str:
    """Say how many groups change clearly, and how many are above what guessing reaches in the end."""
    clear = [row for row in rows if row.is_clear]
    groups = f"of {len(rows)} groups by {dimension}"
    if not clear:
        sentences = [f"No change is certain {groups}: each interval includes zero or rests on few {nouns}."]
    else:
        ends = [f"{row.title} (from {row.first.value:.3f} to {row.last.value:.3f})" for row in clear[:NAMED_GROUPS]]
        more = f" and {len(clear) - len(ends)} more" if len(clear) > len(ends) else ""
        sentences = [f"{len(clear)} {groups} change clearly: {', '.join(ends)}{more}."]
    if any(row.chance is not None for row in rows):
        above = sum(row.is_above_chance for row in rows)
        sentences.append(f"At the last step {above} of {len(rows)} are clearly above chance.")
    return " ".join(sentences)


# What a trajectory shows, in sentences: where a score begins and ends, and when half of the change is reached.


def headline(metric: str, points: Sequence[StepScore]) -> str:
    """Return one or two sentences on a series of scores in a metric of this title; empty without two points."""
    if len(points) < 2:
        return ""
    first, last = points[0], points[-1]
    title = labels.sentence(metric)
    ends = f"from {at(first)} to {at(last)}"
    change = interval_of_difference(last, first)
    if change is None or change[0] <= 0 <= change[1]:
        sentence = f"{title} does not change clearly {ends}."
    else:
        verb, noun = ("rises", "rise") if last.value > first.value else ("falls", "fall")
        sentence = f"{title} {verb} {ends}{_half_way(points, noun)}."
    return " ".join(filter(None, [sentence, _peak(points)]))


def at(point: StepScore) -> str:
    """Return a score with its step, such as "0.440 at step 143,000"."""
    return f"{figure(point.value)} at {point.run.model.step_in_words}"


def interval_of_difference(first: StepScore, second: StepScore) -> tuple[float, float] | None:
    """Return the 95 % interval of `first` - `second` from their own intervals, None where one has none.

    Where both were asked the same questions it is wider than necessary, as their correlation is not used.
    """
    one, other = first.score, second.score
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return None
    return recovered(first.value, (one.low, one.high), second.value, (other.low, other.high))


def _half_way(points: Sequence[StepScore], noun: str) -> str:
    """Say by which step half of the change is reached; nothing for a series of only two points."""
    if len(points) == 2:
        return ""
    first, last = points[0].value, points[-1].value
    share = [(point.value - first) / (last - first) for point in points]
    half = next(number for number, part in enumerate(share) if part >= 0.5)
    if half == len(points) - 1:
        return f"; more than half of the {noun} comes after {points[-2].run.model.step_in_words}"
    return f"; half of the {noun} is there by {points[half].run.model.step_in_words}"


def _peak(points: Sequence[StepScore]) -> str:
    """Name the highest score where it is clearly above those of both ends."""
    best = max(points, key=lambda point: point.value)
    changes = [interval_of_difference(best, end) for end in (points[0], points[-1])]
    is_clear = all(change is not None and change[0] > 0 for change in changes)
    return f"It is highest with {at(best)}." if is_clear else ""


def changes_in_words(
    before: Run, after: Run, shares: Sequence[ChangeShare], percent: tuple[float, float, float] | None
) -> str:
    """Say how many questions were learned and forgotten between two runs, and how much of the score is left.

    `percent`: the later score in percent of the earlier one, and the ends of its interval.
    """
    by_change = {row.change: row for row in shares}
    learned, forgotten = by_change["learned"], by_change["forgotten"]
    sentence = (
        f"From {before.model.step_in_words} to {after.model.step_in_words}, {_counted(learned)} learned and "
        f"{_counted(forgotten)} forgotten, of {learned.n:,} questions that both answered."
    )
    if percent is None:
        return sentence
    value, low, high = percent
    return f"{sentence} The later score is {value:.0f} % of the earlier one (95 % interval {low:.0f} to {high:.0f} %)."


def _counted(row: ChangeShare) -> str:
    return f"{row.items:,} {'was' if row.items == 1 else 'were'}"
