"""Culture pairs: both sides of each predicate, the gap between them, prompt languages, predictions (methods 4.5)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go

from leaderboard.display import cells, charts, labels
from leaderboard.display.charts import Chart, Point
from leaderboard.display.sections import Section, Sections
from leaderboard.display.tables import Column, Table
from leaderboard.lists import queries
from leaderboard.models import Benchmark, Run, Score
from leaderboard.stored import benchmarks, item_rows
from probing.analysis.culture import common_predictions, west_last
from probing.analysis.entropy import ALL, COLUMNS, entropies, totals
from probing.errors import ProbingError
from probing.formats.dlama import natural

PREDICTIONS = [
    *("culture_pair", "language", "relation", "culture", "correct", "prediction_label", "prediction_cultures"),
]
AUGMENTED = "augmented"
MOST_GAPS = 30  # rows of a chart
Row = dict[str, Any]


class Sides(NamedTuple):
    """A predicate, or a whole pair, in one language: P@1 of either culture and the gap between them."""

    run: Run
    pair: str
    language: str
    relation: str
    cultures: Mapping[str, Score]
    gap: Score | None
    p: Score | None

    @property
    def named(self) -> list[tuple[str, Score]]:
        """Culture and score, the West last."""
        return sorted(self.cultures.items(), key=lambda side: west_last(side[0]))

    @property
    def difference(self) -> float | None:
        return self.gap.value if self.gap else None


class Line(NamedTuple):
    """A row of a chart: its name under its heading, and `more` that only its label says."""

    row: Sides
    head: str
    name: str
    more: str | None = None

    @property
    def label(self) -> str:
        return _joined(self.head, self.name, self.more)


def of_run(run: Run) -> list[Section]:
    whole, by_relation = sides([run])
    beside, _ = sides(queries.runs_beside(run))
    found = [gaps(whole), *_by_pair(by_relation), languages(beside), *predictions(run)]
    return [section for section in found if section]


def of_benchmark(benchmark: Benchmark) -> list[Section]:
    whole, by_relation = sides(queries.finished_runs(benchmark))
    return [section for section in (models(whole), answers(benchmark, [*whole, *by_relation])) if section]


def of_comparison(runs: Sequence[Run]) -> list[Section]:
    whole, by_relation = sides(runs)
    return [section for section in (models(whole), languages(whole), *_by_pair(by_relation)) if section]


def _by_pair(rows: Sequence[Sides]) -> list[Section]:
    """The predicates of each pair in each language; those of several runs stand below each other."""
    groups: dict[tuple[str, str], list[Sides]] = {}
    for row in rows:
        groups.setdefault((row.pair, row.language), []).append(row)
    return [
        predicates(pair, language, sorted(found, key=lambda row: natural(row.relation)))
        for (pair, language), found in groups.items()
    ]


def sides(runs: Sequence[Run]) -> tuple[list[Sides], list[Sides]]:
    """Whole pairs, and predicates; one query."""
    by_run = {run.pk: run for run in runs}
    found: dict[tuple[int, str, str, str], dict[str, Score]] = {}
    wanted = ("p_at_1", "culture_gap", "culture_gap_p")
    for score in Score.objects.filter(run__in=by_run, metric__in=wanted).order_by("pk"):
        if place := _place(score):
            *key, culture = place
            found.setdefault((score.run_id, *key), {})[culture or score.metric] = score
    rows = [_sides(by_run[run], where, scores) for (run, *where), scores in found.items()]
    kept = [row for row in rows if len(row.cultures) == 2]
    return [row for row in kept if not row.relation], [row for row in kept if row.relation]


def _sides(run: Run, where: Sequence[str], scores: Mapping[str, Score]) -> Sides:
    cultures = {name: score for name, score in scores.items() if score.metric == "p_at_1"}
    return Sides(run, *where, cultures, scores.get("culture_gap"), scores.get("culture_gap_p"))


def _place(score: Score) -> tuple[str, ...] | None:
    """Pair, language, relation and culture that a score is about, empty where it is about all."""
    of_culture = score.metric == "p_at_1"
    if score.dimension == f"culture_pair_language{'_culture' * of_culture}":
        pair, language, *culture = score.group.split(" ", 2)
        return pair, language, "", *(culture or [""])
    if score.dimension == f"culture_pair_language_relation{'_culture' * of_culture}":
        pair, language, relation, *culture = score.group.split(" ", 3)
        return pair, language, relation, *(culture or [""])
    return None


def predicates(pair: str, language: str, rows: Sequence[Sides]) -> Section:
    """The two cultures of each predicate."""
    name = f"sides-{pair}-{language}"
    title = f"{title_of(pair)}, asked in {labels.language(language)}"
    names = _run_names(rows)
    columns = [
        Column("relation", "Relation", lambda row: _asked(row.run.benchmark, *_version(row)), align="head"),
        *([Column("model", "Model", lambda row: cells.text(names[row.run.pk]), align="kind")] if names else []),
        *_figures(rows),
    ]
    table = Table(name=name, caption=f"{title}: P@1 by relation and culture", columns=columns, rows=rows)
    better = sum((row.difference or 0) > 0 for row in rows)
    first = rows[0].named[0][0]
    summary = f"{first} facts are known better in {better} of {len(rows)} {'rows' if names else 'relations'}."
    lines = [_line(row, names) for row in rows]
    figure = _beside(lines, [culture for culture, _ in rows[0].named])
    return Section(name, title, table, Chart(name, title, summary, figure))


def _line(row: Sides, names: Mapping[int, str]) -> Line:
    """A predicate, or one of several runs under it."""
    model = names.get(row.run.pk)
    head, name = (row.relation, model) if model else ("", row.relation)
    return Line(row, head, name, _asked(row.run.benchmark, *_version(row)).note)


def _beside(lines: Sequence[Line], sides: Sequence[str]) -> go.Figure:
    """P@1 of both cultures in each line, whatever `sides` calls them."""
    points = [
        Point(line.label, float("nan") if score.value is None else score.value, score.low, score.high, group=side)
        for line in lines
        for side, (_, score) in zip(sides, line.row.named, strict=True)
    ]
    return charts.beside(points, _heads(lines), "P@1", _names(lines))


def _heads(lines: Sequence[Line]) -> dict[str, str]:
    return {line.label: line.head for line in lines}


def _names(lines: Sequence[Line]) -> dict[str, str]:
    return {line.label: line.name for line in lines}


def _joined(*said: str | None) -> str:
    return ", ".join(filter(None, said))


def _version(row: Sides) -> tuple[str, ...]:
    return row.pair, row.language, _objects(row.run), row.relation


def _asked(benchmark: Benchmark, *version: str) -> cells.Cell:
    """A predicate, which links to the page of that version of it and says on demand what it asks."""
    id_, template = versions(benchmark.pk).get(version, ("", ""))
    return cells.text(version[-1], queries.group_url(benchmark, "relation", id_) if id_ else "", template)


@lru_cache(maxsize=8)
def versions(benchmark: int) -> dict[tuple[str, ...], tuple[str, str]]:
    """By pair, language, objects and predicate, the relation's id and its template, in English if there is one.

    Nothing where the files are not here. A version of a benchmark never changes.
    """
    on = Benchmark.objects.get(pk=benchmark)
    try:
        relations = benchmarks.read(on).relations if on.path else ()
    except ProbingError:
        return {}
    english = {each.label: each.templates[0] for each in relations if each.tags.get("language") == "en"}
    found = {}
    for each in relations:
        pair, language, objects = (str(each.tags.get(name)) for name in ("culture_pair", "language", "objects"))
        found[pair, language, objects, each.label] = (each.id, english.get(each.label, each.templates[0]))
    return found


def _run_names(rows: Sequence[Sides]) -> dict[int, str]:
    """By run, its model's name, with the run's number where several runs are of one model; none of a single run."""
    runs = {row.run.pk: row.run for row in rows}
    one_each = len({run.model.hub_id for run in runs.values()}) == len(runs)
    names = {pk: run.model.hub_id.rpartition("/")[2] for pk, run in runs.items()}
    return {pk: name if one_each else f"{name}, run {pk}" for pk, name in names.items()} if len(runs) > 1 else {}


def title_of(pair: str) -> str:
    """south-america-west becomes South America and West."""
    *first, second = pair.split("-")
    return f"{' '.join(first).title()} and {second.title()}"


def gaps(rows: Sequence[Sides]) -> Section | None:
    """The gap of each pair and language with its interval."""
    if not rows:
        return None
    columns = [
        Column("pair", "Pair", lambda row: cells.text(title_of(row.pair)), align="head"),
        Column("language", "Language", lambda row: cells.text(row.language)),
        *_figures(rows),
    ]
    table = Table(name="gaps", caption="P@1 by pair, language and culture", columns=columns, rows=rows, cards=True)
    title = "The gap between cultures"
    lines = [Line(row, title_of(row.pair), row.language) for row in rows if row.difference is not None]
    chart = Chart("gaps", title, _clear(rows), _forest(lines)) if len(lines) > 1 else None
    return Section("gaps", title, table, chart)


def _clear(rows: Sequence[Sides]) -> str:
    """What the gaps are, and of how many the interval, where they have one, leaves out zero."""
    intervals = [(row.gap.low, row.gap.high) for row in rows if row.gap and row.gap.low is not None]
    clear = sum(low * high > 0 for low, high in intervals)
    said = f"; {clear} of {len(intervals)} intervals leave out zero" if intervals else ""
    return f"P@1 of the first culture minus that of the West{said}."


def _forest(lines: Sequence[Line]) -> go.Figure:
    """The gap of each line; filled where it was measured here."""
    points = [
        Point(line.label, gap.value, gap.low, gap.high, group="" if _is_published(line.row.run) else "measured")
        for line in lines
        if (gap := line.row.gap) and gap.value is not None
    ]
    return charts.forest(points, _heads(lines), "first culture minus West", _names(lines))


def _figures(rows: Sequence[Sides]) -> list[Column[Sides]]:
    """Either side's score and the gap, then intervals; called after the cultures where all rows have the same."""
    names = {tuple(name for name, _ in row.named) for row in rows}
    first, second = names.pop() if len(names) == 1 else ("First culture", "West")

    def side(place: int) -> Callable[[Sides], Score]:
        return lambda row: row.named[place][1]

    return [
        Column("first", first, lambda row: cells.of_score(side(0)(row)), align="score"),
        Column("second", second, lambda row: cells.of_score(side(1)(row)), align="score"),
        Column("gap", "Gap", lambda row: _signed(row.difference), f"{first} minus {second}.", align="number"),
        Column("p", "p", lambda row: _p(row.p), "Two-sided z-test of the gap.", align="number"),
        *_bounds("gap", "Gap", lambda row: row.gap, _signed),
        *_bounds("first", first, side(0), cells.bound),
        *_bounds("second", second, side(1), cells.bound),
        _items("first", first, side(0)),
        _items("second", second, side(1)),
    ]


def _bounds(
    name: str, title: str, score: Callable[[Sides], Score | None], cell: Callable[[float | None], cells.Cell]
) -> list[Column[Sides]]:
    return [
        Column(
            f"{name}_{end}",
            f"{title}, 95 % {end}",
            lambda row, end=end: cell(getattr(score(row), end, None)),
            align="number bound",
        )
        for end in ("low", "high")
    ]


def _items(name: str, title: str, score: Callable[[Sides], Score]) -> Column[Sides]:
    return Column(f"{name}_n", f"{title}, items", lambda row: cells.items(score(row).n), align="number")


def _signed(value: float | None) -> cells.Cell:
    return cells.number(None) if value is None else cells.signed(value)


def _p(score: Score | None) -> cells.Cell:
    return cells.p_value(score.value) if score and score.value is not None else cells.number(None)


def languages(rows: Sequence[Sides]) -> Section | None:
    """Each model asked in each language, in one run or several and in papers; nothing where it is only one."""
    if len(rows) < 2:
        return None
    title = "Prompt languages side by side"
    names = _run_names(rows)

    def run(row: Sides) -> cells.Cell:
        return cells.text(names.get(row.run.pk, f"run {row.run.pk}"), href=row.run.get_absolute_url())

    columns = [
        Column("pair", "Pair", lambda row: cells.text(title_of(row.pair)), align="head"),
        Column("language", "Language", lambda row: cells.text(row.language)),
        Column("run", "Run", run, align="kind"),
        *_figures(rows),
        Column("provenance", "Source", lambda row: cells.text(row.run.get_provenance_display())),
    ]
    table = Table(name="languages", caption=title, columns=columns, rows=rows, cards=True)
    lines = [Line(row, title_of(row.pair), _joined(row.language, _source(row.run, names))) for row in rows]
    asked = sorted({labels.language(row.language) for row in rows})
    summary = f"P@1 of either culture, asked in {', '.join(asked)}."
    figure = _beside(lines, ("first culture", "West"))
    return Section("languages", title, table, Chart("languages", title, summary, figure))


def _source(run: Run, names: Mapping[int, str]) -> str | None:
    return _published(run) if _is_published(run) else names.get(run.pk)


def _apart(run: Run) -> str:
    """What sets a run apart from others of its model."""
    return _objects(run) if _is_published(run) else run.variant


def _is_published(run: Run) -> bool:
    return run.provenance == Run.Provenance.PUBLISHED


def _published(run: Run) -> str:
    """Published figures are told apart by their kind of objects."""
    return "published" if _objects(run) == AUGMENTED else f"published, {_objects(run)}"


def predictions(run: Run) -> list[Section]:
    """What the model says most often, right and wrong (the paper's Table 3)."""
    if not run.artefact or not set(PREDICTIONS) <= set(item_rows.names(run)):
        return []
    title = "Most common predictions"

    def relation(row: Row) -> cells.Cell:
        return _asked(run.benchmark, row["culture_pair"], row["language"], _objects(run), row["relation"])

    about = [
        Column("pair", "Pair", lambda row: cells.text(title_of(row["culture_pair"])), align="kind"),
        Column("language", "Language", lambda row: cells.text(row["language"])),
        Column("relation", "Relation", relation, align="head"),
        Column("culture", "Facts", lambda row: cells.text(row["culture"])),
    ]
    said = [
        Column("right", "Right", lambda row: _said(row, row["right"]), align="wide"),
        Column("wrong", "Wrong", lambda row: _said(row, row["wrong"]), align="wide"),
    ]
    rows = predicted(run.pk)
    table = Table(
        name="predictions",
        caption=title,
        columns=[*about, *said],
        rows=rows,
        page_size=20,
        cards=True,
        export=_one_by_one(about, rows),
    )
    note = (
        "The three most common ones of each relation and culture, each with its share of all predictions of these, "
        "and for wrong ones the culture in which they are right."
    )
    return [Section("predictions", title, table, note=note)]


def _one_by_one(about: Sequence[Column[Row]], rows: Sequence[Row]) -> Table[Row]:
    """A prediction a row."""
    columns = [
        *about,
        Column("prediction", "Prediction", lambda row: cells.text(row["prediction_label"])),
        Column("right", "Right", lambda row: cells.yes_no(row["correct"])),
        Column("share", "Share", lambda row: cells.share(row["share"])),
        Column("right_in", "Right in", lambda row: cells.text(", ".join(sorted(row["prediction_cultures"])))),
    ]
    each = [one for row in rows for one in (*row["right"], *row["wrong"])]
    return Table(name="predictions", caption="Most common predictions", columns=columns, rows=each)


def _said(row: Row, found: Sequence[Row]) -> cells.Cell:
    def remark(each: Row) -> str:
        cultures = [] if each["correct"] else sorted(each["prediction_cultures"])
        return ", ".join([f"{100 * each['share']:.1f} %", *cultures])

    return cells.several([(each["prediction_label"], remark(each)) for each in found], lang=row["language"])


@lru_cache(maxsize=32)
def predicted(run: int) -> list[Row]:
    """A row for each relation and culture. A finished run never changes."""
    found = Run.objects.get(pk=run)
    keys = PREDICTIONS[:4]
    common = common_predictions(
        pd.DataFrame(item_rows.rows(found, item_rows.find(found, item_rows.ItemFilter()), PREDICTIONS))
    )
    return [
        dict(zip(keys, names, strict=True))
        | {"right": part[part.correct].to_dict("records"), "wrong": part[~part.correct].to_dict("records")}
        for names, part in common.groupby(keys, sort=False)
    ]


def models(rows: Sequence[Sides]) -> Section | None:
    """Every run on every pair, measured and published."""
    if not rows:
        return None
    title = "Models on each pair"
    kinds = {_objects(row.run) for row in rows}
    columns = [
        Column("model", "Model", lambda r: cells.text(r.run.model.hub_id, href=r.run.get_absolute_url()), align="head"),
        Column("pair", "Pair", lambda row: cells.text(title_of(row.pair)), align="kind"),
        Column("language", "Language", lambda row: cells.text(row.language)),
        *([Column("objects", "Objects", lambda row: cells.text(_objects(row.run)))] if len(kinds) > 1 else []),
        *_figures(rows),
        Column("provenance", "Source", lambda row: cells.text(row.run.get_provenance_display())),
    ]
    table = Table(name="pairs", caption=title, columns=columns, rows=rows, page_size=50, cards=True)
    chart = _widest([row for row in rows if row.difference is not None])
    return Section("pairs", title, table, chart)


def _widest(rows: Sequence[Sides]) -> Chart | None:
    """The widest gaps under the pair and language that they are of; nothing where there is only one."""
    if len(rows) < 2:
        return None
    kept = sorted(rows, key=lambda row: -abs(row.difference or 0))[:MOST_GAPS]
    kept.sort(key=lambda row: (row.pair, row.language, -(row.difference or 0)))
    shown = f"The widest {len(kept)} of {len(rows)} gaps" if len(kept) < len(rows) else "Gaps"
    opened = " Open: published." if any(_is_published(row.run) for row in kept) else ""
    summary = f"{shown} between cultures, P@1 of the first minus that of the West.{opened}"
    return Chart("pairs", "Models on each pair", summary, _forest(_of_models(kept)))


def _of_models(rows: Sequence[Sides]) -> list[Line]:
    """Under each heading models by the last part of their names, where that is one run's."""
    heads = [f"{title_of(row.pair)}, {row.language}" for row in rows]
    short = [row.run.model.hub_id.rpartition("/")[2] for row in rows]
    times = Counter(zip(heads, short, strict=True))
    return [
        Line(row, head, name if times[head, name] == 1 else _joined(name, _apart(row.run)), row.run.model.hub_id)
        for row, head, name in zip(rows, heads, short, strict=True)
    ]


def _objects(run: Run) -> str:
    return str({**run.settings, **run.settings.get("options", {})}.get("objects", AUGMENTED))


def answers(benchmark: Benchmark, known: Sequence[Sides]) -> Section | None:
    """Items and entropies of both cultures, and how well they are known at best (the paper's Table 2)."""
    rows, notes = varied(benchmark.pk) if benchmark.path else ([], ())
    if not rows:
        return None
    title = "How varied the answers are"
    best = _best(known)

    def relation(row: Varied) -> cells.Cell:
        return _asked(benchmark, row.pair, row.languages[0], row.objects, row.relation)

    columns = [
        Column("pair", "Pair", lambda row: cells.text(title_of(row.pair)), align="kind"),
        Column("language", "Language", lambda row: cells.text(", ".join(row.languages))),
        Column("objects", "Objects", lambda row: cells.text(row.objects)),
        Column("relation", "Relation", relation, align="head"),
        *_varied_columns("first", 0, rows, best),
        *_varied_columns("second", 1, rows, best),
    ]
    table = Table(name="entropies", caption=title, columns=columns, rows=rows, page_size=60, cards=True)
    note = (
        "An entropy of 0 means that one object is right for all items: a model need not know the subject. "
        "The best P@1 is that of the models measured here."
    )
    return Section("entropies", title, table, note=" ".join([note, *notes]))


class Varied(NamedTuple):
    """A relation, or all of them, in the languages in which its items are the same; cultures with the West last."""

    pair: str
    objects: str
    relation: str
    sides: tuple[tuple[str, int, float], ...]
    languages: list[str]


def _varied_columns(
    name: str, place: int, rows: Sequence[Varied], best: Mapping[tuple[str, ...], float]
) -> list[Column[Varied]]:
    """Number of items, entropy and best P@1 of one side."""
    title = _common({row.sides[place][0] for row in rows}, ("First culture", "West")[place])

    def known(row: Varied) -> float | None:
        relation, culture = row.relation.replace(ALL, ""), row.sides[place][0]
        found = (best.get((row.pair, language, row.objects, relation, culture)) for language in row.languages)
        return max((value for value in found if value is not None), default=None)

    return [
        Column(f"{name}_items", f"{title}, items", lambda row: cells.number(row.sides[place][1]), align="number"),
        Column(f"{name}_entropy", "Entropy, bits", lambda row: cells.number(row.sides[place][2], 1), align="number"),
        Column(f"{name}_best", "Best P@1", lambda row: cells.number(known(row)), align="number"),
    ]


def _common(names: Set[str], otherwise: str) -> str:
    """What a column is called after: the one culture that all of its rows have, if so."""
    return next(iter(names)) if len(names) == 1 else otherwise


def _best(rows: Sequence[Sides]) -> dict[tuple[str, ...], float]:
    """By pair, language, objects, relation and culture, the best P@1 measured here."""
    found: dict[tuple[str, ...], float] = {}
    for row in rows:
        for culture, score in row.cultures.items():
            key = (row.pair, row.language, _objects(row.run), row.relation, culture)
            if row.run.provenance == Run.Provenance.MEASURED and score.value is not None:
                found[key] = max(found.get(key, 0.0), score.value)
    return found


@lru_cache(maxsize=8)
def varied(benchmark: int) -> tuple[list[Varied], tuple[str, ...]]:
    """With all relations together last, and what was left out. A version of a benchmark never changes."""
    try:
        content = benchmarks.read(Benchmark.objects.get(pk=benchmark))
    except ProbingError:
        return [], ()
    found = entropies(content)
    rows: dict[tuple[Any, ...], Varied] = {}
    table = pd.concat([found, totals(found)])
    for (pair, language, objects, relation), part in table.groupby(COLUMNS[:4], sort=False):
        both = zip(part.culture, part["items"], part.entropy, strict=True)
        sides = tuple(sorted(both, key=lambda side: west_last(side[0])))
        if len(sides) == 2:
            row = rows.setdefault((pair, objects, relation, sides), Varied(pair, objects, relation, sides, []))
            row.languages.append(language)
    return list(rows.values()), content.notes


SECTIONS = Sections(of_run, of_benchmark, of_comparison)
