"""Published figures of culture pairs under the names that the scores of measured runs have."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from leaderboard.probe_pages.culture.sides import MAIN_METRICS
from leaderboard.probe_pages.pages import Json
from probing.analysis.crossed import CULTURE, join_group, split_group
from probing.analysis.culture import west_last


def published_scores(settings: Json, scores: Iterable[Json]) -> Iterator[Json]:
    """Yield figures of cultures and pairs under the groups of measured runs, and gaps of pairs without an interval.

    Nothing is yielded for figures that are not of one culture pair.
    """
    if "pair" not in settings:
        return
    pair, language = settings["pair"], settings["language"]
    both = join_group([pair, language])
    places = {
        CULTURE: {"culture_pair": pair, "culture_pair_language": both},
        "relation_culture": {"culture_pair_language_relation": both},
    }
    sides: dict[tuple[str, str], dict[str, Json]] = defaultdict(dict)
    for score in [score for score in scores if score["metric"] in MAIN_METRICS]:
        if score["dimension"] == "culture_pair":
            yield {**score, "dimension": "culture_pair_language", "group": both}
        *relation, culture = split_group(score["dimension"], score["group"])
        for dimension, place in places.get(score["dimension"], {}).items():
            yield {**score, "dimension": f"{dimension}_culture", "group": join_group([place, score["group"]])}
            sides[dimension, join_group([place, *relation])][culture] = score
    for (dimension, group), by_culture in sides.items():
        if len(by_culture) == 2:
            first, second = (by_culture[culture] for culture in sorted(by_culture, key=west_last))
            gap = {"metric": "culture_gap", "dimension": dimension, "group": group, "low": None, "high": None}
            yield {**gap, "value": first["value"] - second["value"], "n": first["n"] + second["n"]}
