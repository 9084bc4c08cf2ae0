"""The pages of ranking: culture pairs with both sides of each predicate, gaps, prompt languages and predictions."""

from collections.abc import Sequence

from leaderboard.display import cells, labels
from leaderboard.display.columns import interval_columns
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column
from leaderboard.lists.ranked_rows import Standing
from leaderboard.lists.runs import finished_runs
from leaderboard.lists.scores import Slice
from leaderboard.models import Benchmark, Run
from leaderboard.probe_pages.culture.entropies import variety_section
from leaderboard.probe_pages.culture.places import Place, rows_in_place
from leaderboard.probe_pages.culture.predictions import predictions
from leaderboard.probe_pages.culture.published import published_scores
from leaderboard.probe_pages.culture.sections import comparison_sections, models
from leaderboard.probe_pages.culture.sections import run_sections as culture_sections
from leaderboard.probe_pages.culture.sides import GAP, MAIN_METRICS, sides
from leaderboard.probe_pages.pages import ProbePages, Split, slice_columns
from leaderboard.probe_pages.pages import relation_slice as usual_relation_slice
from leaderboard.probe_pages.questions_in_words import group_title
from probing.analysis.crossed import BY_CULTURE, BY_LANGUAGE, CROSSED, join_group
from probing.analysis.culture import WITH_GAP
from probing.benchmark import Relation
from probing.probes.ranking import Ranking

METRIC = Ranking.main_metric
GAP_HELP = "The figure of the first culture minus that of the West."
HIDDEN = frozenset({*BY_CULTURE, *BY_LANGUAGE})  # tags crossed with each other, which the sections show
METRIC_LABELS = {
    **MAIN_METRICS,
    "p_at_1_statement": "P@1, whole statement",
    "p_at_5": "P@5",
    GAP: "Gap between cultures",
    "culture_gap_p": "p-value of the gap",
    "wrong_own_culture": "Wrong, own culture",
    "wrong_other_culture": "Wrong, other culture",
    "wrong_both_cultures": "Wrong, both cultures",
    "wrong_no_culture": "Wrong, neither culture",
    # Answers by generation, which the paper reports beside the rankings.
    "accuracy_substring_normalised": "Substring accuracy, normalised",
    "accuracy_exact": "Exact accuracy",
}


def run_sections(run: Run, place: Place | None) -> list[Section]:
    """Return the sections about cultures, and the predictions of the chosen place."""
    of_place = predictions(run, place)
    return [*culture_sections(run, place), *([of_place] if of_place else [])]


def benchmark_sections(benchmark: Benchmark, place: Place | None) -> list[Section]:
    """Return all models on the chosen pair, or on each, and how varied the answers are."""
    of_pairs, of_predicates = sides(list(finished_runs(benchmark)))
    sections = [models(rows_in_place(of_pairs, place)), variety_section(benchmark, [*of_pairs, *of_predicates], place)]
    return [section for section in sections if section]


def related_slices(chosen: Slice, slices: Sequence[Slice]) -> list[Slice]:
    """Put the slices of its two cultures before the slice of a culture pair."""
    of_sides = f"{chosen.dimension}_culture" if chosen.dimension in WITH_GAP else ""
    return [
        *(part for part in slices if part.dimension == of_sides and part.group.startswith(f"{chosen.group} ")),
        chosen,
    ]


def culture_columns(part: Slice, metric: str) -> list[Column[Standing]]:
    """Return the columns of a slice; those of a culture pair begin with the gap between its cultures."""
    score = slice_columns(part, metric)
    return [*_gap_columns(part), *score] if part.dimension in WITH_GAP else score


def _gap_columns(part: Slice) -> list[Column[Standing]]:
    def gap(row: Standing) -> cells.Cell:
        score = row.score(GAP, part)
        return cells.signed(score.value if score else None)

    name, title = labels.column_name(GAP, part.group), group_title(part.dimension, part.group, {})
    return [
        Column(name, f"Gap: {title}", gap, GAP_HELP, align="number"),
        *interval_columns(lambda row: row.score(GAP, part), name),
    ]


def relation_slice(relation: Relation | None, name: str) -> tuple[str, str]:
    """Return the scores of a predicate, or of one version of it where an address names that (methods 4)."""
    if relation and name == relation.id != relation.label:
        tags = [tag for tag in ("culture_pair", "language") if tag in relation.tags]
        return "_".join([*tags, "relation"]), join_group([*(str(relation.tags[tag]) for tag in tags), relation.label])
    return usual_relation_slice(relation, name)


PAGES = ProbePages(
    metric_labels=METRIC_LABELS,
    option_labels={
        "pair": "Culture pair",
        "few_shot": "Examples before each item",
        "chat": "Use the chat template",
    },
    hidden_dimensions=HIDDEN,
    fine_dimensions=frozenset(name for name in HIDDEN if "relation" in CROSSED[name]),
    default_dimensions=("culture_pair",),
    slice_metrics=(GAP,),
    slice_columns=culture_columns,
    related_slices=related_slices,
    topic="Cultures",
    split=Split("culture_pair_language", ("pair", "language")),
    asked_by="all answers of a relation, ranked",
    published_scores=published_scores,
    relation_slice=relation_slice,
    run_sections=run_sections,
    benchmark_sections=benchmark_sections,
    comparison_sections=comparison_sections,
)
