"""The pages of answering: those of ranking, with the texts that models wrote in answer to questions."""

from dataclasses import replace

from django.http import QueryDict

from leaderboard.figures.runs import with_printed
from leaderboard.models import Benchmark
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.probes.items import ItemColumns, ItemRow, RunAnswer, facts_table, stored_answer
from leaderboard.probes.probe_pages import Parts
from leaderboard.probes.ranking import PAGES as RANKING
from leaderboard.probes.ranking import comparison_parts
from leaderboard.probes.wording import FREE_TEXT
from probing.analysis.breakdowns import ALL

ITEM_COLUMNS = ItemColumns(("subject", "statement", "answer_label", "prediction_label", "correct"))


def run_answer(item: ItemRow) -> RunAnswer:
    return stored_answer([facts_table(item, ITEM_COLUMNS)])


def benchmark_parts(benchmark: Benchmark, query: QueryDict, pair: PairInLanguage | None) -> Parts:
    """Return both cultures of each relation where all figures are of single ones, which no row of a model shows."""
    if pair is not None:
        return {}
    found = comparison_parts(with_printed(benchmark), query, None)
    rows = found["files"]["predicates"][1] if found else []
    return {} if any(row["relation"] == ALL for row in rows) else found


PAGES = replace(
    RANKING,
    topic="Facts",
    asked_by="questions, answered in writing",
    option_labels={
        "pair": "Culture pair",
        "questions": "Questions of",
        "chat": "Use the chat template",
        "tokens": "Tokens to write",
    },
    item_columns=ITEM_COLUMNS,
    run_answer=run_answer,
    question_form=FREE_TEXT,
    benchmark_parts=benchmark_parts,
)
