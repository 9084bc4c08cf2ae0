"""Figures of the two cultures of a pair, over all relations and of each, in one prompt language (methods 4.5)."""

from collections.abc import Iterable, Mapping, Sequence

from leaderboard.figures import benchmarks
from leaderboard.figures.scores import group_url, scores_of
from leaderboard.models import Benchmark, Entry, Score
from leaderboard.tables import ENDS, Row, values_of
from leaderboard.ui import charts, labels
from leaderboard.ui.charts.basics import Chart, Point
from probing.analysis.breakdowns import ALL, BY_CULTURE, CULTURE, split_group
from probing.analysis.culture_metrics import west_last
from probing.errors import ProbingError
from probing.formats.dlama import natural
from probing.probes.answering import Answering
from probing.probes.ranking import Ranking

AUGMENTED = "augmented"
# The metrics that are compared between cultures, with their titles: those of answers by ranking and by generation.
MAIN_METRICS = {Ranking.main_metric: "P@1", Answering.main_metric: "Substring accuracy"}
GAP, GAP_P = "culture_gap", "culture_gap_p"  # the figure of the first culture minus that of the West, and its p-value
SIDES = ("first", "second")
COLUMNS = (
    *("relation", "model", *SIDES, "gap", "p"),
    *(f"{name}_{end}" for name in ("gap", *SIDES) for end in ENDS),
    *("first_n", "second_n"),
)
Version = tuple[str, str, str, str]  # of a predicate: pair, language, objects, predicate


def sides(runs: Sequence[Entry]) -> list[Row]:
    """Return a row for each relation in each pair and language, and for all of its relations, the latter first.

    A row without figures of both cultures is left out. One query.
    """
    by_run = {run.pk: run for run in runs}
    by_group: dict[tuple[int, str, str, str], dict[str, Score]] = {}
    for score in scores_of(runs, (*MAIN_METRICS, GAP, GAP_P)):
        if names := _group_names(score):
            pair, language, relation, culture = names
            by_group.setdefault((score.run_id, pair, language, relation), {})[culture or score.metric] = score
    rows = [_row(by_run[run], group, scores) for (run, *group), scores in by_group.items()]
    both = [row for row in rows if len(row["cultures"]) == len(SIDES)]
    return sorted(both, key=lambda row: (row["relation"] != ALL, natural(row["relation"])))


def _row(run: Entry, group: Sequence[str], scores: Mapping[str, Score]) -> Row:
    pair, language, relation = group
    cultures = sorted((name for name, score in scores.items() if score.metric in MAIN_METRICS), key=west_last)
    values = {side: scores[culture] for side, culture in zip(SIDES, cultures, strict=False)} | {"gap": scores.get(GAP)}
    return {
        **dict.fromkeys(COLUMNS),
        **values_of(values),
        "p": scores[GAP_P].value if GAP_P in scores else None,
        "run": run,
        "pair": pair,
        "language": language,
        "relation": relation or ALL,
        "model": run.model.hub_id.rpartition("/")[2],
        "cultures": cultures,
        "scores": values,
    }


def _group_names(score: Score) -> tuple[str, str, str, str] | None:
    """Return pair, language, relation and culture of a score; relation and culture are empty where it is about all.

    Scores of other dimensions, and figures of both cultures together, have none.
    """
    tags = BY_CULTURE.get(score.dimension, ())
    if tags[:2] != ("culture_pair", "language") or (score.metric in MAIN_METRICS) != (CULTURE in tags):
        return None
    values = dict(zip(tags, split_group(score.dimension, score.group), strict=True))
    return values["culture_pair"], values["language"], values.get("relation", ""), values.get(CULTURE, "")


def objects_of(run: Entry) -> str:
    """Return the kind of objects that a run was asked about."""
    return str(run.option("objects", AUGMENTED))


def pair_title(pair: str) -> str:
    """Return a pair's name for people: south-america-west becomes South America and West."""
    *first, second = pair.split("-")
    return f"{' '.join(first).title()} and {second.title()}"


def legend(runs: Iterable[Entry]) -> str:
    """Return what the summary of a chart with figures of these runs says about hollow markers, with a space first."""
    return " Hollow markers are published figures." if any(run.is_published for run in runs) else ""


def named(rows: Sequence[Row], benchmark: Benchmark) -> list[Row]:
    """Return rows with their relations in words, the address of the relation, and an example of its sentences.

    Several runs are told apart by the names of their models, and by their numbers where these are the same.
    """
    links = versions(benchmark)
    models = labels.distinct({row["run"].pk: row["model"] for row in rows})
    for row in rows:
        version = (row["pair"], row["language"], objects_of(row["run"]), row["relation"])
        address, template = links.get(version, ("", ""))
        title = "All relations" if row["relation"] == ALL else labels.relation(row["relation"])
        row.update(title=title, href=address, template=template, model=models[row["run"].pk])
    return list(rows)


def versions(benchmark: Benchmark) -> dict[Version, tuple[str, str]]:
    """Map versions of predicates to their pages and their sentences, in English if there is one.

    It is empty where the files are not here.
    """
    try:
        relations = benchmarks.read(benchmark).relations if benchmark.path else ()
    except ProbingError:
        return {}
    english = {relation.label: relation.templates[0] for relation in relations if relation.tags.get("language") == "en"}
    by_version = {}
    for relation in relations:
        pair, language, objects = (str(relation.tags.get(name)) for name in ("culture_pair", "language", "objects"))
        template = english.get(relation.label, relation.templates[0])
        address = group_url(benchmark, "relation", relation.id)
        by_version[pair, language, objects, relation.label] = (address, template)
    return by_version


def both_sides(name: str, title: str, rows: Sequence[Row]) -> Chart:
    """Draw the figures of both cultures in each of the named rows, filled where they were measured here.

    Several runs stand below each other under their relation.
    """
    several = len({row["run"].pk for row in rows}) > 1
    heads, names, published, points = {}, {}, [], []
    for row in rows:
        below = (row["title"], row["model"]) if several else (row["title"],)
        label = ", ".join(filter(None, [*below, row["template"] or row["relation"]]))
        heads[label], names[label] = below[0] if several else "", below[-1]
        published += [label] if row["run"].is_published else []
        for side, culture in zip(SIDES, row["cultures"], strict=True):
            score = row["scores"][side]
            value = float("nan") if score.value is None else score.value
            address = row["href"] or row["run"].get_absolute_url()
            points.append(Point(label, value, score.low, score.high, group=culture, href=address))
    metric = MAIN_METRICS[rows[0]["scores"]["first"].metric]
    of_relations = [row["gap"] or 0 for row in rows if row["relation"] != ALL]
    ahead = labels.ahead_in(of_relations, "row" if several else "relation")
    words = f"The model is better on facts about {labels.culture(rows[0]['cultures'][0])} {ahead}."
    figure = charts.beside(points, heads, labels.within(metric), names, published)
    return Chart(name, title, f"{words}{legend(row['run'] for row in rows)}", figure)
