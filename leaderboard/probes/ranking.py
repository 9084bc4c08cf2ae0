"""The pages of ranking: both cultures of a pair, what a model predicts for each, and how varied right answers are."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from django.http import QueryDict

from leaderboard.figures import benchmarks, item_rows
from leaderboard.figures.comparisons import records
from leaderboard.figures.scores import Slice, parts_among
from leaderboard.models import Benchmark, Entry, Run
from leaderboard.probes.culture.pairs import PairInLanguage, chosen_pair, rows_of, switches
from leaderboard.probes.culture.sides import (
    COLUMNS,
    GAP,
    GAP_P,
    MAIN_METRICS,
    SIDES,
    both_sides,
    named,
    objects_of,
    pair_title,
    sides,
    versions,
)
from leaderboard.probes.probe_pages import Json, Parts, ProbePages, parts
from leaderboard.probes.probe_pages import relation_slice as usual_relation_slice
from leaderboard.tables import File, Row, page_in
from leaderboard.ui import labels
from leaderboard.ui.charts.basics import Chart
from probing.analysis.breakdowns import ALL, BY_CULTURE, BY_LANGUAGE, CULTURE, join_group, split_group
from probing.analysis.culture_metrics import (
    PAIR_IN_LANGUAGE,
    common_predictions,
    entropies,
    totals,
    west_last,
)
from probing.benchmark import Relation
from probing.errors import ProbingError

HIDDEN = frozenset({*BY_CULTURE, *BY_LANGUAGE})  # tags crossed with each other, which the parts show
METRIC_LABELS = {
    **MAIN_METRICS,
    "p_at_1_statement": "P@1, whole statement",
    "p_at_5": "P@5",
    GAP: "Gap between cultures",
    GAP_P: "p-value of the gap",
    "wrong_own_culture": "Wrong, own culture",
    "wrong_other_culture": "Wrong, other culture",
    "wrong_both_cultures": "Wrong, both cultures",
    "wrong_no_culture": "Wrong, neither culture",
    # Answers by generation, which the paper reports beside the rankings.
    "accuracy_substring_normalised": "Substring accuracy, normalised",
    "accuracy_exact": "Exact accuracy",
}

# A run and a comparison: both cultures of each relation of the part that the reader chose, with the gap between them.


def run_parts(run: Run, query: QueryDict, pair: PairInLanguage | None) -> Parts:
    part, tables, words = both_cultures([run], query, pair)
    if part is None:
        return {}
    predicted = predictions(run, part)
    singles = [prediction for row in predicted for prediction in (*row["right"], *row["wrong"])]
    tables["predictions"] = (PREDICTIONS, singles)
    found = parts(query, tables, drawn(tables, part), **words)
    if singles:
        found["pages"]["predictions"] = page_in(predicted, query, "predictions", PREDICTIONS_ON_A_PAGE)
    return found


def comparison_parts(runs: Sequence[Entry], query: QueryDict, pair: PairInLanguage | None) -> Parts:
    part, tables, words = both_cultures(runs, query, pair)
    return parts(query, tables, drawn(tables, part), **words)


def both_cultures(
    runs: Sequence[Entry], query: QueryDict, pair: PairInLanguage | None
) -> tuple[PairInLanguage | None, dict[str, File], dict[str, Any]]:
    """Return the part that the reader chose, the table of both cultures in it, and what the template says of them.

    Runs with printed figures of single relations only offer no part on their page, so that it is chosen here.
    """
    rows = sides(runs)
    offered = [] if pair else parts_among_rows(rows)
    pair = pair or chosen_pair(query, offered)
    shown = named(rows_of(rows, pair), runs[0].benchmark) if pair else []
    several = len({row["run"].pk for row in shown}) > 1
    words = {
        "title": pair.title if pair else "",
        "switches": [links for links in switches(query, offered, pair) if links],
        "cultures": shown[0]["cultures"] if shown else [],
        "about": [labels.culture(name) for name in shown[0]["cultures"]] if shown else [],
        "metric": MAIN_METRICS[shown[0]["scores"]["first"].metric] if shown else "",
        "several": several,
        "sources": list(dict.fromkeys(row["run"] for row in shown if row["run"].is_published)),
    }
    columns = [name for name in COLUMNS if several or name != "model"]
    return pair, {"predicates": (columns, shown)}, words


def parts_among_rows(rows: Sequence[Row]) -> list[PairInLanguage]:
    groups = {Slice(PAIR_IN_LANGUAGE, join_group([row["pair"], row["language"]])) for row in rows}
    return list(map(PairInLanguage, parts_among(groups)))


def drawn(tables: Mapping[str, File], pair: PairInLanguage | None) -> list[Chart]:
    """Return the chart of both cultures, where there is more than the figure of all relations together."""
    _, rows = tables["predicates"]
    has_relations = any(row["relation"] != ALL for row in rows)
    return [both_sides("predicates", pair.title, rows)] if pair and has_relations else []


# What a model predicts: its most common answers, right and wrong (the DLAMA paper's Table 3).


PREDICTION_GROUP = ["culture_pair", "language", "relation", "culture"]
PREDICTION_COLUMNS = [*PREDICTION_GROUP, "correct", "prediction_label", "prediction_cultures"]
PREDICTIONS = ("pair", "language", "relation", "culture", "prediction", "correct", "share", "right_in")
PREDICTIONS_ON_A_PAGE = 5


def predictions(run: Run, pair: PairInLanguage) -> list[Row]:
    """Return the most common predictions for each relation and culture of a part; nothing without stored items."""
    if not run.artefact or not set(PREDICTION_COLUMNS) <= set(item_rows.names(run)):
        return []
    stored = item_rows.frame(run, PREDICTION_COLUMNS)
    common = common_predictions(stored[(stored["culture_pair"] == pair.name) & (stored["language"] == pair.language)])
    links = versions(run.benchmark)
    rows = []
    for names, group in common.groupby(PREDICTION_GROUP, sort=False):
        name, language, relation, culture = map(str, names)
        href, template = links.get((name, language, objects_of(run), relation), ("", ""))
        of_group = {"pair": pair_title(name), "language": language, "relation": relation, "culture": culture}
        single = [
            of_group
            | {
                "prediction": row["prediction_label"],
                "correct": row["correct"],
                "share": row["share"],
                "percent": f"{100 * row['share']:.1f}",
                "right_in": ", ".join(sorted(row["prediction_cultures"])),
            }
            for row in records(group)
        ]
        right, wrong = ([row for row in single if row["correct"] is kind] for kind in (True, False))
        rows.append(
            {
                **of_group,
                "title": labels.relation(relation),
                "href": href,
                "template": template,
                "right": right,
                "wrong": wrong,
            }
        )
    return rows


# A benchmark: how varied the right answers to a part are (section 4.4 of the methods).


ENTROPY_WORDS = {"items": "questions", "entropy": "entropy in bits"}
ENTROPIES = (
    *("pair", "language", "objects", "relation"),
    *(f"{side}_{name}" for side in SIDES for name in ENTROPY_WORDS),
)


def benchmark_parts(benchmark: Benchmark, query: QueryDict, pair: PairInLanguage | None) -> Parts:
    varied, notes = varieties(benchmark, pair) if pair else ([], "")
    if not varied or pair is None:
        return {}
    links = versions(benchmark)
    for row in varied:
        key = (pair.name, pair.language, row["objects"], row["relation"])
        href, template = links.get(key, ("", ""))
        title = "All relations" if row["relation"] == ALL else labels.relation(row["relation"])
        row.update(title=title, href=href, template=template)
    several = len({row["objects"] for row in varied}) > 1
    return parts(
        query,
        {"entropies": (ENTROPIES, varied)},
        title=pair.title,
        note=notes,
        has_objects=several,
        entropies=[
            (f"{side}_{name}", f"{culture}, {words}")
            for side, culture in zip(SIDES, varied[0]["cultures"], strict=True)
            for name, words in ENTROPY_WORDS.items()
        ],
    )


def varieties(benchmark: Benchmark, pair: PairInLanguage) -> tuple[list[Row], str]:
    """Return the number of items and the entropy in bits of both cultures for each relation, and for all of them last.

    With them come the benchmark's notes on what was left out. Nothing without its files.
    """
    try:
        content = benchmarks.read(benchmark) if benchmark.path else None
    except ProbingError:
        content = None
    if content is None:
        return [], ""
    of_part = entropies(replace(content, relations=tuple(filter(pair.has, content.relations))))
    rows = []
    for (objects, relation), both in pd.concat([of_part, totals(of_part)]).groupby(["objects", "relation"], sort=False):
        of_sides = sorted(records(both), key=lambda row: west_last(row["culture"]))
        if len(of_sides) == len(SIDES):
            figures = {
                f"{side}_{name}": row[name]
                for side, row in zip(SIDES, of_sides, strict=True)
                for name in ("items", "entropy")
            }
            group = {"pair": pair_title(pair.name), "language": pair.language, "objects": objects, "relation": relation}
            rows.append(
                {**dict.fromkeys(ENTROPIES), **group, **figures, "cultures": [row["culture"] for row in of_sides]}
            )
    return rows, " ".join(content.notes)


# Names of scores, and published figures of culture pairs under the names that the scores of measured runs have.


def relation_slice(relation: Relation | None, name: str) -> tuple[str, str]:
    """Return the scores of a predicate, or of one version of it where an address names that (methods 4)."""
    if relation and name == relation.id != relation.label:
        tags = [tag for tag in ("culture_pair", "language") if tag in relation.tags]
        return "_".join([*tags, "relation"]), join_group([*(str(relation.tags[tag]) for tag in tags), relation.label])
    return usual_relation_slice(relation, name)


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
    default_dimensions=("culture_pair",),
    topic="Cultures",
    asked_by="all answers of a relation, ranked",
    published_scores=published_scores,
    relation_slice=relation_slice,
    template="probes/ranking.html",
    run_parts=run_parts,
    benchmark_parts=benchmark_parts,
    comparison_parts=comparison_parts,
)
