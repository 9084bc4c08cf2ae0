"""Sections of a comparison of perplexity runs: how alike they order the sentences, and which they order differently."""

from collections.abc import Sequence
from functools import lru_cache
from math import isnan

from leaderboard.display import cells
from leaderboard.display.cells import Cell
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.lists.compared_runs import compared_rows, records, short_names, stored_results
from leaderboard.models import Run
from leaderboard.probe_pages.breakdowns import titled_cell
from leaderboard.probe_pages.items import item_url
from leaderboard.probe_pages.questions_in_words import group_title, relation_names
from leaderboard.stored.item_rows import Row
from probing.analysis.comparison import RESULT_NAMES
from probing.analysis.perplexity_comparison import rank_summary, sentence_ranks

SENTENCES_PER_PAGE = 20
RANKS_NOTE = (
    "Perplexities of models with different tokenizers are not compared, only the order in which each model puts the "
    "same sentences: rank 0 is the least perplexing of them to a model, rank 1 the most."
)


def comparison_sections(runs: Sequence[Run]) -> list[Section]:
    """Return the ranks of true and of false sentences by run, and the sentences whose ranks differ most."""
    summary, sentences = ranks(*stored_results([run.pk for run in runs]))
    names = short_names(runs)
    return [
        Section("ranks", "How alike the runs order the sentences", _summary_table(names, summary), note=RANKS_NOTE),
        Section("sentences", "Sentences that the runs order differently", _sentences_table(runs, names, sentences)),
    ]


@lru_cache(maxsize=8)
def ranks(*stored: tuple[int, str]) -> tuple[list[Row], list[Row]]:
    """Return a row for each run, and one for each shared sentence, of runs by `stored_results`."""
    numbers = [number for number, _ in stored]
    runs = Run.objects.select_related("benchmark").in_bulk(numbers)
    sentences = sentence_ranks(compared_rows([runs[number] for number in numbers]))
    return records(rank_summary(sentences, list(RESULT_NAMES[: len(numbers)]))), records(sentences)


def _summary_table(names: Sequence[str], rows: Sequence[Row]) -> Table[Row]:
    by_key = dict(zip(RESULT_NAMES, names, strict=False))

    def column(name: str, title: str, help_text: str = "") -> Column[Row]:
        return Column(name, title, lambda row: _share(row[name]), help_text, align="number")

    first = f"Spearman's correlation of the ranks with those of {names[0]}."
    return Table(
        name="ranks",
        caption="Mean ranks of true and of false sentences, and correlations of ranks",
        columns=[
            Column("name", "Run", lambda row: cells.text(by_key[row["result"]]), align="head"),
            Column("result", "", lambda row: cells.text(row["result"]), shown=False),
            column("true", "Mean rank, true"),
            column("false", "Mean rank, false"),
            column("correlation", f"Correlation with {names[0]}", first),
            column("correlation_true", "Among true", f"{first} Only true sentences."),
            column("correlation_false", "Among false", f"{first} Only false sentences."),
        ],
        rows=rows,
        sortable=False,
    )


def _sentences_table(runs: Sequence[Run], names: Sequence[str], rows: Sequence[Row]) -> Table[Row]:
    relations = relation_names(runs[0])

    def statement(row: Row) -> Cell:
        address = item_url(runs[0], row)
        return cells.text(row["statement"], href=address)

    relations = relation_names(runs[0])

    def relation(row: Row) -> Cell:
        return titled_cell(row["relation"], group_title("relation", row["relation"], relations))

    def rank_column(key: str, name: str) -> Column[Row]:
        return Column(key, name, lambda row: cells.number(row[key]), align="number")

    return Table(
        name="sentences",
        caption="Rank of each sentence by its perplexity, from 0 to 1, the most different first",
        columns=[
            Column("statement", "Statement", statement, align="head"),
            Column("relation", "Relation", relation),
            Column("true", "True", lambda row: cells.yes_no(bool(row["true"]))),
            *(rank_column(key, name) for key, name in zip(RESULT_NAMES, names, strict=False)),
            Column(
                "spread",
                "Spread",
                lambda row: cells.number(row["spread"]),
                "The highest minus the lowest of the ranks.",
                align="number",
            ),
        ],
        rows=rows,
        page_size=SENTENCES_PER_PAGE,
    )


def _share(value: float) -> Cell:
    """Show a number; one that is not defined as a dash."""
    return cells.number(None if isnan(value) else value)
