"""Sections of runs and comparisons: predicates with both sides, gaps of whole pairs, languages, and answers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import pandas as pd
from django.http import QueryDict

from leaderboard.figures import benchmarks, item_rows
from leaderboard.figures.comparisons import records
from leaderboard.figures.item_rows import Row
from leaderboard.figures.runs import runs_beside
from leaderboard.figures.scores import Slice
from leaderboard.models import Run
from leaderboard.probes.culture.pairs import PairInLanguage, rows_in_all_languages, rows_in_one_language
from leaderboard.probes.culture.sides import (
    AUGMENTED,
    ChartLine,
    Sides,
    both_sides,
    comma_separated,
    culture_names,
    gaps_forest,
    languages_cell,
    legend,
    objects_of,
    pair_title,
    predicate_cell,
    run_names,
    side_columns,
    sides,
    version_of,
)
from leaderboard.ui import cells, labels
from leaderboard.ui.cells import Cell
from leaderboard.ui.sections import Fold, Section, TextForm, section
from leaderboard.ui.tables import Column, Table, citation, source_column
from probing.analysis.breakdowns import join_group
from probing.analysis.culture_metrics import NEARNESS, common_predictions, nearness, prediction_shares
from probing.errors import ProbingError
from probing.formats.dlama import natural, parse_merged

PAIR_LANGUAGE = "culture_pair_language"
PREDICATES_LEAD = "Both cultures of each relation, run by run."
PREDICTIONS_LEAD = "Right and wrong, by relation and culture."
LANGUAGES_LEAD = "Both cultures in each language in which the pair is asked."


def run_sections(run: Run, pair: PairInLanguage | None) -> list[Section]:
    """Return the gaps of all pairs, and of the chosen pair the predicates and the other languages.

    Published figures may be of single predicates only, which makes no pair to choose.
    """
    of_pairs, of_predicates = sides([run])
    beside, _ = sides(runs_beside(run))
    of_chosen = (
        [predicates(pair, rows_in_one_language(of_predicates, pair))] if pair else predicates_by_pair(of_predicates)
    )
    by_language = languages(rows_in_all_languages(beside, pair))
    sections = [gaps(of_pairs), *of_chosen, by_language and replace(by_language, lead=LANGUAGES_LEAD)]
    return [section for section in sections if section]


def comparison_sections(runs: Sequence[Run], pair: PairInLanguage | None) -> list[Section]:
    """Return the predicates and the languages of runs beside each other."""
    of_pairs, of_predicates = sides(runs)
    by_relation = predicates(pair, rows_in_one_language(of_predicates, pair))
    by_language = languages(rows_in_all_languages(of_pairs, pair))
    sections = [
        by_relation and replace(by_relation, lead=PREDICATES_LEAD, switched=False),
        by_language and replace(by_language, lead=LANGUAGES_LEAD),
    ]
    return [section for section in sections if section]


def predicates_by_pair(rows: Sequence[Sides]) -> list[Section]:
    """Return the section of predicates for each pair and language, English first in each pair, with the models."""
    groups = sorted({(row.pair, row.language != "en", row.language) for row in rows})
    pairs = [PairInLanguage(Slice(PAIR_LANGUAGE, join_group([name, language]))) for name, _, language in groups]
    return [section for pair in pairs if (section := _predicates_of_models(pair, rows_in_one_language(rows, pair)))]


def _predicates_of_models(pair: PairInLanguage, rows: Sequence[Sides]) -> Section | None:
    """Return the section of predicates with a note that names the models and where their figures come from."""
    section = predicates(pair, rows, f"predicates-{pair.name}-{pair.language}")
    sources = dict.fromkeys(f"{row.run.model.title} ({citation(row.run)})" for row in rows)
    return replace(section, note=f"Figures of {', '.join(sources)}.") if section else None


def predicates(pair: PairInLanguage | None, rows: Sequence[Sides], name: str = "predicates") -> Section | None:
    """Return the section with both cultures of each predicate; those of several runs stand below each other."""
    if pair is None or not rows:
        return None
    title = pair.title
    rows = sorted(rows, key=lambda row: natural(row.relation))
    names = run_names(rows)
    columns = [
        Column("relation", "Relation", lambda row: predicate_cell(row.run.benchmark, version_of(row)), align="head"),
        *([Column("model", "Model", lambda row: cells.text(names[row.run.pk]), align="kind")] if names else []),
        *side_columns(rows),
    ]
    table = Table(name=name, caption=f"{title}: {rows[0].metric} by relation and culture", columns=columns, rows=rows)
    ahead_in = labels.ahead_in((row.difference or 0 for row in rows), "row" if names else "relation")
    summary = f"The model is better on facts about {labels.culture(rows[0].ordered[0][0])} {ahead_in}.{_legend(rows)}"
    figure = both_sides([_predicate_line(row, names) for row in rows], [culture for culture, _ in rows[0].ordered])
    return section(table, (summary, figure), title=title, switched=True)


def _predicate_line(row: Sides, names: Mapping[int, str]) -> ChartLine:
    """Return the chart's line of a predicate, or of one of several runs under it."""
    model, cell = names.get(row.run.pk), predicate_cell(row.run.benchmark, version_of(row))
    head, name = (cell.text, model) if model else ("", cell.text)
    return ChartLine(row, head, name, cell.note or row.relation, cell.href)


def gaps(rows: Sequence[Sides]) -> Section | None:
    """Return the section with the gap of each pair and language with its interval."""
    if not rows:
        return None
    columns = [
        Column("pair", "Pair", lambda row: cells.text(pair_title(row.pair)), align="head"),
        Column("language", "Language", lambda row: languages_cell([row.language])),
        *side_columns(rows),
    ]
    table = Table(name="gaps", caption=f"{rows[0].metric} by pair, language and culture", columns=columns, rows=rows)
    lines = [
        ChartLine(row, pair_title(row.pair), labels.language(row.language))
        for row in rows
        if row.difference is not None
    ]
    drawing = (_gaps_summary(rows), gaps_forest(lines)) if len(lines) > 1 else None
    return section(table, drawing, title="The gap between cultures")


def _gaps_summary(rows: Sequence[Sides]) -> str:
    """Return a sentence that describes the gaps, with the number of intervals that exclude zero."""
    intervals = [
        (row.gap.low, row.gap.high) for row in rows if row.gap and row.gap.low is not None and row.gap.high is not None
    ]
    clear = sum(low * high > 0 for low, high in intervals)
    clear_text = f"; {clear} of {len(intervals)} intervals exclude zero" if intervals else ""
    return f"{rows[0].metric} of the first culture minus that of the West{clear_text}.{_legend(rows)}"


def _legend(rows: Sequence[Sides]) -> str:
    return legend(row.run for row in rows)


def languages(rows: Sequence[Sides]) -> Section | None:
    """Return the section with each model in each prompt language; None where there is only one row."""
    if len(rows) < 2:
        return None
    names = run_names(rows)

    def run(row: Sides) -> cells.Cell:
        name = names.get(row.run.pk, f"run {row.run.pk}")
        return cells.Cell(row.run.pk, name, href=row.run.get_absolute_url())

    columns = [
        Column("pair", "Pair", lambda row: cells.text(pair_title(row.pair)), align="head"),
        Column("language", "Language", lambda row: languages_cell([row.language])),
        Column("run", "Run", run, align="kind"),
        *side_columns(rows),
        source_column(lambda row: row.run),
    ]
    table = Table(name="languages", caption="Prompt languages side by side", columns=columns, rows=rows)
    lines = [
        ChartLine(
            row, pair_title(row.pair), comma_separated(labels.language(row.language), _source_name(row.run, names))
        )
        for row in rows
    ]
    language_names = sorted({labels.language(row.language) for row in rows})
    summary = f"{rows[0].metric} of either culture, asked in {', '.join(language_names)}.{_legend(rows)}"
    return section(table, (summary, both_sides(lines, culture_names(rows))))


def _source_name(run: Run, names: Mapping[int, str]) -> str | None:
    """Return what tells a run apart in the chart; published figures are told apart by their kind of objects."""
    if not run.is_published:
        return names.get(run.pk)
    return "published" if objects_of(run) == AUGMENTED else f"published, {objects_of(run)}"


# The predictions that a model makes most often, right and wrong (the DLAMA paper's Table 3).


PREDICTION_GROUP = ["culture_pair", "language", "relation", "culture"]
PREDICTIONS_TITLE = "Most common predictions"
PREDICTION_COLUMNS = [*PREDICTION_GROUP, "correct", "prediction_label", "prediction_cultures"]
PREDICTIONS_NOTE = (
    "The three most common predictions for each relation and culture, each with its share of all predictions there. "
    "A wrong prediction comes with the culture in which it is right."
)


def predictions(run: Run, pair: PairInLanguage | None) -> Section | None:
    """Return the section about the chosen pair; None where the run has no stored items with cultures."""
    if pair is None or not run.artefact or not set(PREDICTION_COLUMNS) <= set(item_rows.names(run)):
        return None

    def relation(row: Row) -> cells.Cell:
        version = (row["culture_pair"], row["language"], objects_of(run), row["relation"])
        return predicate_cell(run.benchmark, version)

    group_columns = [
        Column("pair", "", lambda row: cells.text(pair_title(row["culture_pair"])), shown=False),
        Column("language", "", lambda row: cells.text(row["language"]), shown=False),
        Column("relation", "Relation", relation, align="head"),
        Column("culture", "Facts", lambda row: cells.text(row["culture"])),
    ]
    prediction_columns: list[Column[Row]] = [
        Column("right", "Right", lambda row: _prediction_list(row, row["right"]), align="wide"),
        Column("wrong", "Wrong", lambda row: _prediction_list(row, row["wrong"]), align="wide"),
    ]
    pair_language = (pair.name, pair.language)
    rows = [row for row in predicted(run.pk, run.artefact) if (row["culture_pair"], row["language"]) == pair_language]
    table = Table(
        name="predictions",
        caption=PREDICTIONS_TITLE,
        columns=[*group_columns, *prediction_columns],
        rows=rows,
        page_size=10,
        export=_one_per_row(group_columns, rows),
    )
    return replace(section(table, note=f"{pair.title}. {PREDICTIONS_NOTE}"), lead=PREDICTIONS_LEAD)


def _one_per_row(group_columns: Sequence[Column[Row]], rows: Sequence[Row]) -> Table[Row]:
    """Return the table for the CSV, which has one prediction per row."""
    columns = [
        *group_columns,
        Column("prediction", "Prediction", lambda row: cells.text(row["prediction_label"])),
        Column("correct", "Right", lambda row: cells.yes_no(row["correct"])),
        Column("share", "Share", lambda row: cells.share(row["share"])),
        Column("right_in", "Right in", lambda row: cells.text(", ".join(sorted(row["prediction_cultures"])))),
    ]
    single = [prediction for row in rows for prediction in (*row["right"], *row["wrong"])]
    return Table(name="predictions", caption=PREDICTIONS_TITLE, columns=columns, rows=single)


def _prediction_list(row: Row, predictions: Sequence[Row]) -> cells.Cell:
    def remark(prediction: Row) -> str:
        cultures = [] if prediction["correct"] else sorted(prediction["prediction_cultures"])
        return ", ".join([f"{100 * prediction['share']:.1f} %", *cultures])

    names = [(prediction["prediction_label"], remark(prediction)) for prediction in predictions]
    return cells.several(names, lang=row["language"])


@lru_cache(maxsize=32)
def predicted(run: int, folder: str) -> list[Row]:
    """Return a row for each relation and culture. It is cached, as the folder of a result never changes."""
    row = Run.objects.get(pk=run)
    stored = item_rows.rows(row, item_rows.find(row, item_rows.ItemFilter()), PREDICTION_COLUMNS)
    common = common_predictions(pd.DataFrame(stored))
    return [
        dict(zip(PREDICTION_GROUP, names, strict=True))
        | {"right": records(part[part.correct]), "wrong": records(part[~part.correct])}
        for names, part in common.groupby(PREDICTION_GROUP, sort=False)
    ]


# The fold of a run on its answers: which it gives, merged as readers wish, and how near they are to right ones.
#
# The answers by language are those of DLAMA's Figure 1, their nearness is that of the colours of its Table 3.


MERGE = "merge"  # of the fold, and of the parameter with the answers that count as one
ANSWERS_TITLE = "Which answers it gives, and how near they are"
ANSWERS_LEAD = (
    "The most common answers by relation and language, and whether wrong ones are in the right country or next to it."
)
MERGE_WORDS = {
    "label": "Answers that count as one",
    "hint": "In each line stands a name with a list of labels or ids of Wikidata; P@1 is then computed again.",
    "example": 'Islam = ["Q432", "Muslim"]',
    "button": "Score with these merged",
    "methods": "culture/#predictions-and-entropy",
}
MOST_ANSWERS = 5  # answers for each relation and language
ANSWER_COLUMNS = ["relation", "index", "prediction", "language"]
PAIR = "culture_pair"
ANSWER_SHARES = {
    "share": ("Given", "The share of this answer among all that the model gives."),
    "correct_share": ("Rightly", "The part of that share which is right."),
    "right_share": ("Right", "The share of this answer among all right ones."),
}
NEARNESS_NOTE = (
    "Countries and their neighbours are those that the facts of this benchmark state; relations without answers of a "
    "known country are left out."
)


def answers_fold(run: Run, query: QueryDict, pair: PairInLanguage | None) -> Fold | None:
    """Return the fold on the chosen pair, in all languages; None where the files or single predictions are not here."""
    if not run.benchmark.path or not set(ANSWER_COLUMNS) <= set(item_rows.names(run)):
        return None
    form, chosen = TextForm.of(query, MERGE, **MERGE_WORDS), pair.name if pair else ""
    try:
        answers, near = answers_given(run.pk, run.artefact, chosen), distances(run.pk, run.artefact, chosen)
    except ProbingError:  # the files of the benchmark have changed
        return None
    sections: list[Section] = []
    if form.text:
        try:
            merged = answers_given(run.pk, run.artefact, chosen, form.text)
            sections, answers = [_merged_section(run, chosen, answers, merged)], merged
        except ProbingError as error:
            form = replace(form, error=error)
    most = answers.groupby(["relation", "language"], sort=False).head(MOST_ANSWERS)
    sections.append(section(_answers_table(run, chosen, records(most))))
    if len(near):
        sections.append(section(_nearness_table(run, chosen, records(near)), note=NEARNESS_NOTE))
    return Fold(MERGE, ANSWERS_TITLE, ANSWERS_LEAD, sections, form)


@lru_cache(maxsize=32)
def answers_given(run: int, folder: str, pair: str, merged: str = "") -> pd.DataFrame:
    """Return the shares of a run's answers (`prediction_shares`), those of the text being merged.

    It is cached, as the folder of a result never changes.
    """
    names: Mapping[str, str] = parse_merged(merged, "The list")
    row = Run.objects.select_related("benchmark").get(pk=run)
    return prediction_shares(_answer_rows(row, pair), benchmarks.read(row.benchmark), names)


@lru_cache(maxsize=32)
def distances(run: int, folder: str, pair: str) -> pd.DataFrame:
    """Return how near a run's answers are to right ones (`nearness`); cached like `answers_given`."""
    row = Run.objects.select_related("benchmark").get(pk=run)
    return nearness(_answer_rows(row, pair), benchmarks.read(row.benchmark))


def _answer_rows(run: Run, pair: str) -> pd.DataFrame:
    rows = item_rows.frame(run, [*ANSWER_COLUMNS, PAIR])
    return rows[rows[PAIR] == pair] if pair else rows


def _answers_table(run: Run, pair: str, rows: list[Row]) -> Table[Row]:
    def share(name: str) -> Column[Row]:
        title, help_text = ANSWER_SHARES[name]
        return Column(name, title, lambda row: cells.share(row[name]), help_text, align="score")

    columns: list[Column[Row]] = [
        *_group_columns(run, pair),
        Column("answer", "Answer", lambda row: cells.text(row["answer"])),
        *map(share, ANSWER_SHARES),
    ]
    caption = f"The {MOST_ANSWERS} most common answers by relation and language"
    return Table("answers", caption, columns, rows, sortable=False, page_size=15)


def _group_columns(run: Run, pair: str) -> list[Column[Row]]:
    def relation(row: Row) -> Cell:
        return predicate_cell(run.benchmark, (pair, row["language"], objects_of(run), row["relation"]))

    def language(row: Row) -> Cell:
        return replace(cells.text(row["language"]), text=labels.language(row["language"]))

    return [Column("relation", "Relation", relation, align="head"), Column("language", "Language", language)]


def _merged_section(run: Run, pair: str, answers: pd.DataFrame, merged: pd.DataFrame) -> Section:
    """Return P@1 by relation and language as it is, and with answers that count as one."""
    keys = ["relation", "language"]
    both = {
        name: table.groupby(keys, sort=False)["correct_share"].sum()
        for name, table in (("p_at_1", answers), ("p_at_1_merged", merged))
    }
    columns = [
        *_group_columns(run, pair),
        Column("p_at_1", "P@1", lambda row: cells.share(row["p_at_1"]), align="score"),
        Column("p_at_1_merged", "P@1, merged", lambda row: cells.share(row["p_at_1_merged"]), align="score"),
    ]
    rows = records(pd.DataFrame(both).reset_index())
    return section(Table("merged", "P@1 with answers that count as one", columns, rows, page_size=15))


def _nearness_table(run: Run, pair: str, rows: list[Row]) -> Table[Row]:
    def share(name: str) -> Column[Row]:
        title = labels.sentence(name)
        return Column(name.replace(" ", "_"), title, lambda row: cells.share(row[name]), align="score")

    columns = [
        *_group_columns(run, pair),
        *map(share, NEARNESS),
        Column("predictions", "Answers", lambda row: cells.number(row["predictions"]), align="number"),
    ]
    return Table("nearness", "How near answers are to right ones", columns, rows, page_size=15)
