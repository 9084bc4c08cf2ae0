"""The pages of specificity: what they are made of, and the page of a pair (methods 2)."""

from leaderboard.display.sections import Section
from leaderboard.lists.runs import finished_runs, runs_beside
from leaderboard.lists.scores import figures
from leaderboard.models import Benchmark, Run
from leaderboard.probe_pages.items import ItemColumns, ItemRow, RunAnswer, answer_among_options, answer_in_template
from leaderboard.probe_pages.pages import CountColumn, ProbePages
from leaderboard.probe_pages.questions_in_words import FINER
from leaderboard.probe_pages.specificity_models import CHANGE, alike, changes
from leaderboard.probe_pages.specificity_promptings import PromptedRun, promptings_section
from leaderboard.probe_pages.specificity_runs import by_prompting_order, comparable_settings, settings_in_words
from leaderboard.probe_pages.specificity_sections import FACTORS, by_factor, by_prompting

METRIC_LABELS = {
    **FACTORS,
    "acc_at_10_either": "Acc@10, either answer",
    "acc_at_10_fine": "Acc@10, fine answer",
    CHANGE: "Change of Acc@10, fine answer",
    "specificity_all_pairs": "Specificity, all pairs",
    "specificity_whole_clause": "Specificity, whole clause",
}
AT_THE_BLANK = "Log-probability at the blank. Empty where the answer is not a single token of the model's vocabulary."
ITEM_NOTE = (
    "Specific: at the blank, the finer answer is more probable than the coarser one. The specificity of the run counts "
    "the pairs that have a yes or no there: both answers are single tokens of the model's vocabulary. "
    "Specific, all pairs: the whole answers are compared, whatever their length."
)
ITEM_TITLES = {
    "answer_label": "Finer",
    "coarse_label": "Coarser",
    "correct": "Specific, all pairs",
    "fine_log_prob": "log P, finer",
    "coarse_log_prob": "log P, coarser",
}


def run_sections(run: Run) -> list[Section]:
    """Return the sections with the run beside other runs of its model, and with its factors."""
    runs = by_prompting_order(runs_beside(run))
    scores = figures(runs)
    return [by_prompting(run, runs, scores), by_factor(run, scores[run.pk])]


def benchmark_sections(benchmark: Benchmark) -> list[Section]:
    """Return the sections on what prompting changes and on how similar models are."""
    finished = [run for run in finished_runs(benchmark) if run.provenance != Run.Provenance.BASELINE]
    runs = by_prompting_order(finished)
    scores = figures(runs)
    prompted = [PromptedRun.of(run, settings_in_words(run), scores[run.pk]) for run in runs]
    sections = [changes(runs, scores), *promptings_section(prompted, comparable_settings, FACTORS), alike(runs, scores)]
    return [section for section in sections if section]


def run_answer(item: ItemRow) -> RunAnswer:
    """Return the answer to a pair; a cascade has a template of its own."""
    if item.row["prompting"] == "cascade":
        return answer_in_template(item, item.relation.cascades[item.row["template"]])
    return answer_among_options(item)


PAGES = ProbePages(
    metric_labels=METRIC_LABELS,
    option_labels={"shots": "Demonstrations"},
    secondary_metrics=("acc_at_10_either", "acc_at_10_fine"),
    topic="Precision",
    asked_by="a finer and a coarser answer, both true",
    count_column=CountColumn(
        "Pairs",
        "Pairs whose two answers are single tokens of the model. A comparison of runs counts the pairs common to them.",
    ),
    item_columns=ItemColumns(
        (
            *("subject", "answer_label", "coarse_label", "prediction_label", "specific", "correct"),
            *("fine_log_prob", "coarse_log_prob"),
        ),
        titles=lambda run, values: ITEM_TITLES,
        help={"fine_log_prob": AT_THE_BLANK, "coarse_log_prob": AT_THE_BLANK},
        note=lambda run, values: ITEM_NOTE,
        yes_no={"specific": "Specific", "correct": "Specific, all pairs"},
        file_only=("scores", "exact", "best"),
    ),
    run_answer=run_answer,
    question_form=FINER,
    run_sections=run_sections,
    benchmark_sections=benchmark_sections,
)
