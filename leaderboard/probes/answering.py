"""The pages of answering: those of ranking, with the texts that models wrote in answer to questions."""

from dataclasses import replace

from leaderboard.figures.runs import finished_runs
from leaderboard.models import Benchmark
from leaderboard.probes.culture.pair_sections import predicates_by_pair, run_sections
from leaderboard.probes.culture.pairs import PairInLanguage, rows_in_one_language
from leaderboard.probes.culture.sides import sides
from leaderboard.probes.items import ItemColumns, ItemRow, RunAnswer, facts_table
from leaderboard.probes.ranking import PAGES as RANKING
from leaderboard.probes.wording import FREE_TEXT
from leaderboard.ui.sections import Section
from probing.analysis.responses import DECLINED

ITEM_COLUMNS = ItemColumns(("subject", "statement", "answer_label", "prediction_label", "correct"))


def run_answer(item: ItemRow) -> RunAnswer:
    """Return everything that is stored of the answer to a question."""
    return RunAnswer("parts/answer_facts.html", {}, [facts_table(item, ITEM_COLUMNS)])


def benchmark_sections(benchmark: Benchmark, pair: PairInLanguage | None) -> list[Section]:
    """Return the predicates where all figures are of single ones, which the rows of models do not show."""
    of_pairs, of_predicates = sides(list(finished_runs(benchmark)))
    if rows_in_one_language(of_pairs, pair):
        return []
    return predicates_by_pair(rows_in_one_language(of_predicates, pair))


PAGES = replace(
    RANKING,
    metric_labels={**RANKING.metric_labels, DECLINED: "Declined"},
    topic="Facts",
    asked_by="questions, answered in writing",
    offers_options=False,
    option_labels={
        "pair": "Culture pair",
        "questions": "Questions of",
        "chat": "Use the chat template",
        "tokens": "Tokens to write",
        "may_decline": "May decline to answer",
    },
    item_columns=ITEM_COLUMNS,
    run_answer=run_answer,
    question_form=FREE_TEXT,
    run_sections=run_sections,
    benchmark_sections=benchmark_sections,
)
