"""The pages of ranking: culture pairs with both sides of each predicate, gaps, prompt languages."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from leaderboard.figures.runs import finished_runs
from leaderboard.models import Benchmark, Run
from leaderboard.probes.culture.pair_sections import comparison_sections, predictions
from leaderboard.probes.culture.pair_sections import run_sections as culture_sections
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.probes.culture.sides import GAP, MAIN_METRICS, sides
from leaderboard.probes.culture.variety import variety_section
from leaderboard.probes.probe_pages import Json, ProbePages
from leaderboard.probes.probe_pages import relation_slice as usual_relation_slice
from leaderboard.ui.sections import Section
from probing.analysis.breakdowns import BY_CULTURE, BY_LANGUAGE, CROSSED, CULTURE, join_group, split_group
from probing.analysis.culture_metrics import west_last
from probing.benchmark import Relation

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


def run_sections(run: Run, pair: PairInLanguage | None) -> list[Section]:
    """Return the sections about cultures, and the predictions of the chosen pair."""
    most_common = predictions(run, pair)
    return [*culture_sections(run, pair), *([most_common] if most_common else [])]


def benchmark_sections(benchmark: Benchmark, pair: PairInLanguage | None) -> list[Section]:
    """Return how varied the answers to the chosen pair are, or to each."""
    of_pairs, of_predicates = sides(list(finished_runs(benchmark)))
    variety = variety_section(benchmark, [*of_pairs, *of_predicates], pair)
    return [variety] if variety else []


def relation_slice(relation: Relation | None, name: str) -> tuple[str, str]:
    """Return the scores of a predicate, or of one version of it where an address names that (methods 4)."""
    if relation and name == relation.id != relation.label:
        tags = [tag for tag in ("culture_pair", "language") if tag in relation.tags]
        return "_".join([*tags, "relation"]), join_group([*(str(relation.tags[tag]) for tag in tags), relation.label])
    return usual_relation_slice(relation, name)


# Published figures of culture pairs under the names that the scores of measured runs have.


def published_scores(settings: Json, scores: Iterable[Json]) -> Iterator[Json]:
    """Yield figures of cultures and pairs under the groups of measured runs, and gaps of pairs without an interval.

    Nothing is yielded for figures that are not of one culture pair.
    """
    if "pair" not in settings:
        return
    pair, language = settings["pair"], settings["language"]
    both = join_group([pair, language])
    beginnings = {  # of the names of groups, by the dimension that they begin
        CULTURE: {"culture_pair": pair, "culture_pair_language": both},
        "relation_culture": {"culture_pair_language_relation": both},
    }
    sides: dict[tuple[str, str], dict[str, Json]] = defaultdict(dict)
    for score in [score for score in scores if score["metric"] in MAIN_METRICS]:
        if score["dimension"] == "culture_pair":
            yield {**score, "dimension": "culture_pair_language", "group": both}
        *relation, culture = split_group(score["dimension"], score["group"])
        for dimension, beginning in beginnings.get(score["dimension"], {}).items():
            yield {**score, "dimension": f"{dimension}_culture", "group": join_group([beginning, score["group"]])}
            sides[dimension, join_group([beginning, *relation])][culture] = score
    for (dimension, group), by_culture in sides.items():
        if len(by_culture) == 2:
            first, second = (by_culture[culture] for culture in sorted(by_culture, key=west_last))
            gap = {"metric": "culture_gap", "dimension": dimension, "group": group, "low": None, "high": None}
            yield {**gap, "value": first["value"] - second["value"], "n": first["n"] + second["n"]}


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
    topic="Cultures",
    of_parts=True,
    asked_by="all answers of a relation, ranked",
    published_scores=published_scores,
    relation_slice=relation_slice,
    run_sections=run_sections,
    benchmark_sections=benchmark_sections,
    comparison_sections=comparison_sections,
)
