"""The pages of ranking: culture pairs with both sides of each predicate, gaps, prompt languages, variety of answers."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import pandas as pd

from leaderboard.figures import benchmarks
from leaderboard.figures.runs import finished_runs
from leaderboard.models import Benchmark, Run
from leaderboard.probes.culture.pair_sections import comparison_sections, predictions
from leaderboard.probes.culture.pair_sections import run_sections as culture_sections
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.probes.culture.sides import (
    GAP,
    MAIN_METRICS,
    Sides,
    languages_cell,
    objects_of,
    pair_title,
    predicate_cell,
    sides,
)
from leaderboard.probes.probe_pages import Json, ProbePages
from leaderboard.probes.probe_pages import relation_slice as usual_relation_slice
from leaderboard.ui import cells
from leaderboard.ui.sections import Section, section
from leaderboard.ui.tables import Column, Table
from probing.analysis.breakdowns import ALL, BY_CULTURE, BY_LANGUAGE, CROSSED, CULTURE, join_group, split_group
from probing.analysis.culture_metrics import ENTROPY_COLUMNS, entropies, totals, west_last
from probing.benchmark import Relation
from probing.errors import ProbingError

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


# How varied the right answers to a pair are (section 4.4 of the methods), beside the best that a model reached.


VARIETY_NOTE = (
    "An entropy of 0 means that one object is right for all items, so a model need not know the subject. "
    "The best P@1 is the best of the models that were measured here."
)
VARIETY_LEAD = "How easy the right answers of each relation are to guess, beside the best that a model reached."
BestScores = Mapping[tuple[str, str, str, str, str], float]  # pair, language, objects, relation, culture


class Variety(NamedTuple):
    """A relation, or all of them, in the languages in which its items are the same.

    `sides`: culture, number of items and entropy in bits, the West last.
    """

    pair: str
    objects: str
    relation: str
    sides: tuple[tuple[str, int, float], ...]
    languages: list[str]


def variety_section(benchmark: Benchmark, rows: Sequence[Sides], pair: PairInLanguage | None) -> Section | None:
    """Return the section with items, entropies and the best P@1 of both cultures; None without the files.

    It is about the relations of the chosen pair, or of all pairs where none is chosen.
    """
    varieties, notes = variety(benchmark.pk) if benchmark.path else ([], ())
    if pair is not None:
        varieties = [row for row in varieties if row.pair == pair.name and pair.language in row.languages]
    if not varieties:
        return None
    best = _best_scores(rows)

    def relation(row: Variety) -> cells.Cell:
        return predicate_cell(benchmark, (row.pair, row.languages[0], row.objects, row.relation))

    columns = [
        *_differing_columns(varieties),
        Column("relation", "Relation", relation, align="head"),
        *_side_columns("first", 0, varieties, best),
        *_side_columns("second", 1, varieties, best),
    ]
    table = Table("entropies", "How varied the answers are", columns, varieties, page_size=60)
    return replace(section(table, note=" ".join([VARIETY_NOTE, *notes])), lead=VARIETY_LEAD)


def _differing_columns(rows: Sequence[Variety]) -> list[Column[Variety]]:
    """Return what tells items of several pairs and languages apart; a page has the columns in which rows differ."""
    columns: list[Column[Variety]] = [
        Column("pair", "Pair", lambda row: cells.text(pair_title(row.pair)), align="kind", folded=True),
        Column("language", "Language", lambda row: languages_cell(row.languages), folded=True),
        Column("objects", "Objects", lambda row: cells.text(row.objects), folded=True),
    ]
    return [replace(column, shown=len({column.cell(row).value for row in rows}) > 1) for column in columns]


def _side_columns(name: str, side: int, rows: Sequence[Variety], best: BestScores) -> list[Column[Variety]]:
    """Return number of items, entropy and best P@1 of one side."""
    title = _only_name({row.sides[side][0] for row in rows}, ("First culture", "West")[side])

    def best_of(row: Variety) -> float | None:
        relation, culture = row.relation.replace(ALL, ""), row.sides[side][0]
        values = (best.get((row.pair, language, row.objects, relation, culture)) for language in row.languages)
        return max((value for value in values if value is not None), default=None)

    return [
        Column(
            f"{name}_items",
            f"{title}, questions",
            lambda row: cells.number(row.sides[side][1]),
            align="number",
            folded=True,
        ),
        Column(
            f"{name}_entropy",
            f"{title}, entropy in bits",
            lambda row: cells.number(row.sides[side][2], 1),
            align="number",
        ),
        Column(f"{name}_best", f"{title}, best P@1", lambda row: cells.number(best_of(row)), align="number"),
    ]


def _only_name(names: Set[str], otherwise: str) -> str:
    """Return the one name if all rows have the same."""
    return next(iter(names)) if len(names) == 1 else otherwise


def _best_scores(rows: Sequence[Sides]) -> BestScores:
    """Map pair, language, objects, relation and culture to the best P@1 measured here."""
    best: dict[tuple[str, str, str, str, str], float] = {}
    for row in rows:
        for culture, score in row.cultures.items():
            key = (row.pair, row.language, objects_of(row.run), row.relation, culture)
            if row.run.provenance == Run.Provenance.MEASURED and score.value is not None:
                best[key] = max(best.get(key, 0.0), score.value)
    return best


@lru_cache(maxsize=8)
def variety(benchmark: int) -> tuple[list[Variety], tuple[str, ...]]:
    """Return a row per relation, with all relations together last, and the benchmark's notes on what was left out.

    It is cached, as a version of a benchmark never changes.
    """
    try:
        content = benchmarks.read(Benchmark.objects.get(pk=benchmark))
    except ProbingError:
        return [], ()
    relations = entropies(content)
    rows: dict[tuple[object, ...], Variety] = {}
    table = pd.concat([relations, totals(relations)])
    for names, part in table.groupby(ENTROPY_COLUMNS[:4], sort=False):
        pair, language, objects, relation = map(str, names)
        both = zip(part.culture, part["items"], part.entropy, strict=True)
        sides = tuple(sorted(both, key=lambda side: west_last(side[0])))
        if len(sides) == 2:
            row = rows.setdefault((pair, objects, relation, sides), Variety(pair, objects, relation, sides, []))
            row.languages.append(language)
    return list(rows.values()), content.notes


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
