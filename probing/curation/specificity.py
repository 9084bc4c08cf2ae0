"""Pairs of a finer and a coarser answer (methods 2.1): both lie above the subject, at different distances.

An answer's distance is the mean length of the paths that reach it, in at most five steps. Writes S-TEST's format.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

from probing.curation.endpoint import Endpoint, Labels, number
from probing.curation.facts import Subject, facts_query, labelled, subjects_of
from probing.curation.hierarchy import PART, SUBCLASS, TERRITORY, Parents, parents, parents_query
from probing.curation.query import Query
from probing.curation.single_token import Check, single_token
from probing.curation.triple_counts import TripleCounts, write_lines, write_manifest
from probing.errors import BadInput
from probing.files.folders import new_folder
from probing.formats.stest import CASCADE, PAIRS, RELATIONS

LONGEST = 5  # steps of a path
LEAST_DIFFERENCE = 1.0  # between the mean distances of two answers
LANGUAGE = "en"  # the templates' language
UNNAMED = "a name is missing"
SAME_NAME = "both answers have the same name"
LONG_ANSWER = "an answer is more than one token"
NOT_DRAWN = "another pair of the subject was drawn"
ENOUGH = "beyond the sample"


class Chain(NamedTuple):
    """The first step from a subject, and the property that is followed from there."""

    first: str
    then: str
    name: str
    template: str
    cascade: str


CHAINS = {
    "P19": Chain(
        "P19",
        TERRITORY,
        "place of birth",
        "The birthplace of [X] is [Y].",
        "The birthplace of [X] is [Y], which is part of [Y].",
    ),
    "P106": Chain(
        "P106",
        SUBCLASS,
        "occupation",
        "The profession of [X] is [Y].",
        "The profession of [X] is [Y], which is a kind of [Y].",
    ),
    "P131": Chain(TERRITORY, TERRITORY, "territory", "[X] lies in [Y].", "[X] lies in [Y], which lies in [Y]."),
    "P279": Chain(
        SUBCLASS, SUBCLASS, "superclass", "[X] is a kind of [Y].", "[X] is a kind of [Y], which is a kind of [Y]."
    ),
    "P361": Chain(PART, PART, "whole", "[X] belongs to [Y].", "[X] belongs to [Y], which belongs to [Y]."),
}


@dataclass(frozen=True)
class Plan:
    """`at_most`: pairs of a relation. `least`: sitelinks of a subject. `tokenizers`: files, folders or hub ids."""

    relations: tuple[str, ...] = tuple(CHAINS)
    at_most: int = 5000
    least: int = 20
    seed: int = 0
    tokenizers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if unknown := [name for name in self.relations if name not in CHAINS]:
            raise BadInput(f"No relation {', '.join(unknown)}.", f"Choose from: {', '.join(CHAINS)}.")
        object.__setattr__(self, "relations", tuple(dict.fromkeys(self.relations)))
        if self.at_most < 1:
            raise BadInput(f"at_most cannot be {self.at_most}.", "Give 1 or more.")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two answers for a subject, the finer first, with their mean distances."""

    subject: str
    fine: str
    coarse: str
    distances: tuple[float, float]


def curate(endpoint: Endpoint, plan: Plan, folder: Path) -> None:
    """Write the benchmark into a new folder, whole or not at all."""
    checks = [single_token(name) for name in plan.tokenizers]
    with new_folder(folder) as new:
        about, counts_by_predicate = [], {}
        for name in plan.relations:
            triples, pairs = TripleCounts(), TripleCounts()
            lines = list(_lines(endpoint, name, plan, checks, triples, pairs))
            counts_by_predicate[name] = {"triples": triples.to_json(), "pairs": pairs.to_json()}
            if lines:
                write_lines(new / PAIRS / f"{name}.jsonl", lines)
                about += _about(name)
        if not about:
            raise BadInput("No relation has a pair.", "Lower the number of sitelinks, or give other tokenizers.")
        write_lines(new / RELATIONS, about)
        settings = {
            "relations": plan.relations,
            "at_most": plan.at_most,
            "least_sitelinks": plan.least,
            "seed": plan.seed,
            "tokenizers": plan.tokenizers,
            "longest_path": LONGEST,
        }
        write_manifest(new, "specificity", endpoint, settings, counts_by_predicate)


def queries(plan: Plan) -> Iterator[Query]:
    """What would be asked for facts, the queries about given items with one of these; labels are asked beside."""
    yield from (facts_query(CHAINS[name].first, plan.least, current_only=True) for name in plan.relations)
    for property in dict.fromkeys(CHAINS[name].then for name in plan.relations):
        yield parents_query(property, ("Q42",))


def distances(subject: Subject, above: Parents) -> dict[str, float]:
    """Item -> the mean length of the paths from the subject; no path visits an item twice."""
    lengths: dict[str, list[int]] = defaultdict(list)
    paths: list[tuple[str, ...]] = [(subject.id, first) for first in subject.objects if first != subject.id]
    while paths:
        path = paths.pop()
        lengths[path[-1]].append(len(path) - 1)
        if len(path) <= LONGEST:
            paths += [(*path, parent) for parent in above.get(path[-1], ()) if parent not in path]
    return {item: fmean(several) for item, several in lengths.items()}


def candidates(subject: Subject, above: Parents) -> list[Pair]:
    """All pairs of answers whose distances differ enough, in a fixed order."""
    mean = distances(subject, above)
    in_order = sorted(mean, key=lambda item: (mean[item], number(item)))
    return [
        Pair(subject.id, fine, coarse, (mean[fine], mean[coarse]))
        for fine, coarse in combinations(in_order, 2)
        if mean[coarse] - mean[fine] >= LEAST_DIFFERENCE
    ]


def _lines(
    endpoint: Endpoint, name: str, plan: Plan, checks: Sequence[Check], triples: TripleCounts, pairs: TripleCounts
) -> Iterator[dict[str, Any]]:
    chain = CHAINS[name]
    subjects = subjects_of(endpoint, chain.first, plan.least, triples, current_only=True)
    triples.kept = sum(len(subject.objects) for subject in subjects)
    above = parents(endpoint, chain.then, {item for each in subjects for item in each.objects}, LONGEST - 1)
    found = {subject.id: candidates(subject, above) for subject in subjects}
    items = {item for several in found.values() for pair in several for item in (pair.subject, pair.fine, pair.coarse)}
    labels = endpoint.labels(items, [LANGUAGE])
    for pair in _drawn(found, labels, checks, plan, name, pairs):
        yield {
            "sub_uri": pair.subject,
            "sub_label": labels[pair.subject][LANGUAGE],
            "obj_uri": pair.fine,
            "obj_label": labels[pair.fine][LANGUAGE],
            "obj_value": pair.distances[0],
            "obj2_uri": pair.coarse,
            "obj2_label": labels[pair.coarse][LANGUAGE],
            "obj2_value": pair.distances[1],
            "predicate_id": name,
        }


def _drawn(
    found: Mapping[str, Sequence[Pair]],
    labels: Labels,
    checks: Sequence[Check],
    plan: Plan,
    relation: str,
    triple_counts: TripleCounts,
) -> list[Pair]:
    """One pair of each subject, of as many subjects as are wanted: drawn by the seed, listed by subject."""
    random = Random(f"{plan.seed}:{relation}")
    fits = _Fitting(labels, checks)
    one_each = []
    for subject in sorted(found, key=number):
        triple_counts.found += len(found[subject])
        usable = [pair for pair in found[subject] if not fits.problem(pair, triple_counts)]
        if usable:
            one_each.append(random.choice(usable))
            triple_counts.drop(NOT_DRAWN, len(usable) - 1)
    kept = random.sample(one_each, min(plan.at_most, len(one_each)))
    triple_counts.kept = len(kept)
    triple_counts.drop(ENOUGH, len(one_each) - len(kept))
    return sorted(kept, key=lambda pair: number(pair.subject))


class _Fitting:
    """Which pairs can be asked; each word is looked up once."""

    def __init__(self, labels: Labels, checks: Sequence[Check]) -> None:
        self.labels, self.checks = labels, checks
        self.known: dict[str, bool] = {}

    def problem(self, pair: Pair, triple_counts: TripleCounts) -> str:
        """Why it cannot be asked, which is counted."""
        subject, fine, coarse = (
            labelled(self.labels, item, LANGUAGE) for item in (pair.subject, pair.fine, pair.coarse)
        )
        if not (subject and fine and coarse):
            reason = UNNAMED
        elif fine.casefold() == coarse.casefold():
            reason = SAME_NAME
        else:
            reason = "" if self._single(fine) and self._single(coarse) else LONG_ANSWER
        triple_counts.drop(reason, bool(reason))
        return reason

    def _single(self, word: str) -> bool:
        if word not in self.known:
            self.known[word] = all(check(word) for check in self.checks)
        return self.known[word]


def _about(name: str) -> list[dict[str, str]]:
    chain = CHAINS[name]
    return [
        {"relation": name, "template": chain.template, "label": chain.name},
        {"relation": name + CASCADE, "template": chain.cascade, "label": chain.name},
    ]
