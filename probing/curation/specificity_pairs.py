"""Pairs of a finer and a coarser answer (methods 2.1), both above the subject but at different distances.

An answer's distance is the mean length of the paths that reach it in at most five steps. Writes S-TEST's format. Words
are checked for being one token of a tokenizer without a model and without torch.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

from huggingface_hub import hf_hub_download

from probing.curation.cultures import read_table
from probing.curation.facts import (
    ENGLISH,
    PART,
    SUBCLASS,
    TERRITORY,
    Parents,
    Subject,
    TripleCounts,
    facts_query,
    label_of,
    parents,
    parents_query,
    subjects_of,
    write_lines,
    write_manifest,
)
from probing.curation.wikidata import EXAMPLE_ITEM, Endpoint, Labels, Query, item_number
from probing.errors import BadInput
from probing.extras import extra_package
from probing.files.folders import new_folder
from probing.formats.reading import RELATIONS_FILE
from probing.formats.stest import CASCADE, PAIRS_FOLDER
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

LONGEST_PATH = 5  # steps
LEAST_DIFFERENCE = 1.0  # between the mean distances of two answers
UNNAMED_PAIR = "a name is missing"
EQUAL_NAMES = "both answers have the same name"
LONG_ANSWER = "an answer is more than one token"
NOT_DRAWN = "other pairs of the subject were drawn"
BEYOND_SAMPLE = "beyond the sample"
TokenCheck = Callable[[str], bool]
# A subject, its finer and its coarser answer, and their mean distances. There are many, and tuples are small.
AnswerPair = tuple[str, str, str, float, float]
TOKENIZER = "tokenizer.json"
# Words are checked after this one, because some tokenizers add a space before the first word of a text.
PRECEDING_WORD = "in"


class Chain(NamedTuple):
    """A relation: the property of the first step from a subject, and the one of all further steps, with its wordings.

    `template` has [X] for the subject and [Y] for the answer, `cascade` a second [Y] in a clause behind the first.
    """

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
class SpecificityPlan:
    """Settings for the curation of pairs.

    `relations`: by default the user's `own` chains, or else all that ship. `at_most`: pairs of a relation, which are
    drawn with the `seed`. `tokenizers`: files, folders or hub ids; each answer must be one token of them all. The paper
    draws pairs, not subjects, from all of Wikidata: `pairs_per_subject=0` and `least_sitelinks=0`.
    """

    relations: tuple[str, ...] = ()
    at_most: int = 5000
    least_sitelinks: int = 20
    pairs_per_subject: int = 1
    seed: int = 0
    tokenizers: tuple[str, ...] = ()
    own: Mapping[str, Chain] = field(default_factory=dict)

    def __post_init__(self) -> None:
        relations = self.relations or tuple(self.own) or tuple(CHAINS)
        if unknown := [name for name in relations if name not in self.chains]:
            step = f"Choose from: {', '.join(self.chains)}; or describe it in a file, named by own."
            raise BadInput(f"No relation {', '.join(unknown)}.", step)
        object.__setattr__(self, "relations", tuple(dict.fromkeys(relations)))
        if self.at_most < 1:
            raise BadInput(f"at_most cannot be {self.at_most}.", "Give 1 or more.")
        if self.pairs_per_subject < 0:
            raise BadInput(f"pairs_per_subject cannot be {self.pairs_per_subject}.", "Give 1 or more, or 0 for all.")

    @property
    def chains(self) -> Mapping[str, Chain]:
        """The chains that ship, and the user's, which go before them."""
        return {**CHAINS, **self.own}


def read_chains(path: Path) -> dict[str, Chain]:
    """Return the chains of a TOML or YAML file by id; raise `BadInput`, which names the entry, for one at fault."""
    content = read_table(path)
    return {name: _chain(content[name], f"{path.name}, {name}") for name in content}


def _chain(entry: Any, location: str) -> Chain:
    if not isinstance(entry, dict) or set(entry) != set(Chain._fields):
        raise BadInput(f"{location}: an entry has the keys {', '.join(Chain._fields)}.", "See docs/curation.md.")
    chain = Chain(**{name: str(text) for name, text in entry.items()})
    for property in (chain.first, chain.then):
        if not re.fullmatch(r"P[1-9]\d*", property):
            raise BadInput(f"{location}: {property!r:.80} is no property of Wikidata.", "Write it such as P131.")
    for text, answers in ((chain.template, 1), (chain.cascade, 2)):
        if (text.count(SUBJECT_SLOT), text.count(ANSWER_SLOT)) != (1, answers):
            step = "A template has [X] once and [Y] once, a cascade [X] once and [Y] twice."
            raise BadInput(f"{location}: {text!r:.80} has not the right slots.", step)
    return chain


def curate(endpoint: Endpoint, plan: SpecificityPlan, folder: Path) -> None:
    """Write the benchmark into a new folder, which appears only when it is complete."""
    checks = [single_token(name) for name in plan.tokenizers]
    with new_folder(folder) as new:
        relation_lines, counts_by_relation = [], {}
        for relation in plan.relations:
            triple_counts, pair_counts = TripleCounts(), TripleCounts()
            lines = list(_pair_lines(endpoint, relation, plan, checks, triple_counts, pair_counts))
            counts_by_relation[relation] = {"triples": triple_counts.to_json(), "pairs": pair_counts.to_json()}
            if lines:
                write_lines(new / PAIRS_FOLDER / f"{relation}.jsonl", lines)
                relation_lines += _relation_lines(relation, plan.chains[relation])
        if not relation_lines:
            raise BadInput("No relation has a pair.", "Lower the number of sitelinks, or give other tokenizers.")
        write_lines(new / RELATIONS_FILE, relation_lines)
        own = {name: chain._asdict() for name, chain in plan.own.items()}
        settings = asdict(plan) | {"longest_path": LONGEST_PATH, "own": own}
        write_manifest(new, "specificity", endpoint, settings, counts_by_relation)


def queries(plan: SpecificityPlan) -> Iterator[Query]:
    """Yield the queries for facts, which are not those for labels; queries about certain items have an example item."""
    for relation in plan.relations:
        yield facts_query(plan.chains[relation].first, plan.least_sitelinks, current_only=True)
    for property in dict.fromkeys(plan.chains[relation].then for relation in plan.relations):
        yield parents_query(property, (EXAMPLE_ITEM,))


def distances(subject: Subject, above: Parents) -> dict[str, float]:
    """Return item -> mean length of the paths from the subject to it; no path visits an item twice."""
    lengths: dict[str, list[int]] = defaultdict(list)
    paths: list[tuple[str, ...]] = [(subject.id, first) for first in subject.objects if first != subject.id]
    while paths:
        path = paths.pop()
        lengths[path[-1]].append(len(path) - 1)
        if len(path) <= LONGEST_PATH:
            paths += [(*path, parent) for parent in above.get(path[-1], ()) if parent not in path]
    return {item: fmean(item_lengths) for item, item_lengths in lengths.items()}


def candidates(subject: Subject, above: Parents) -> list[AnswerPair]:
    """Return all pairs of answers whose distances differ enough, in a fixed order."""
    mean = distances(subject, above)
    answers = sorted(mean, key=lambda item: (mean[item], item_number(item)))
    return [
        (subject.id, fine, coarse, mean[fine], mean[coarse])
        for fine, coarse in combinations(answers, 2)
        if mean[coarse] - mean[fine] >= LEAST_DIFFERENCE
    ]


def _pair_lines(
    endpoint: Endpoint,
    relation: str,
    plan: SpecificityPlan,
    checks: Sequence[TokenCheck],
    triple_counts: TripleCounts,
    pair_counts: TripleCounts,
) -> Iterator[dict[str, Any]]:
    """Yield the lines of a relation's file in S-TEST's columns."""
    chain = plan.chains[relation]
    subjects = subjects_of(endpoint, chain.first, plan.least_sitelinks, triple_counts, current_only=True)
    triple_counts.kept = sum(len(subject.objects) for subject in subjects)
    first_answers = {item for subject in subjects for item in subject.objects}
    above = parents(endpoint, chain.then, first_answers, LONGEST_PATH - 1)
    pairs_by_subject = {subject.id: candidates(subject, above) for subject in subjects}
    items = {item for pairs in pairs_by_subject.values() for pair in pairs for item in pair[:3]}
    labels = endpoint.labels(items, [ENGLISH])
    pairs = _draw_pairs(pairs_by_subject, _PairFilter(labels, checks), plan, relation, pair_counts)
    for subject_id, fine, coarse, fine_distance, coarse_distance in pairs:
        yield {
            "sub_uri": subject_id,
            "sub_label": labels[subject_id][ENGLISH],
            "obj_uri": fine,
            "obj_label": labels[fine][ENGLISH],
            "obj_value": fine_distance,
            "obj2_uri": coarse,
            "obj2_label": labels[coarse][ENGLISH],
            "obj2_value": coarse_distance,
            "predicate_id": relation,
        }


class _PairFilter:
    """Filter of pairs that can be asked; it checks each word only once."""

    def __init__(self, labels: Labels, checks: Sequence[TokenCheck]) -> None:
        self.labels, self.checks = labels, checks
        self._single_tokens: dict[str, bool] = {}

    def problem(self, pair: AnswerPair) -> str:
        """Return the reason why a pair cannot be asked, or an empty text."""
        subject, fine, coarse = (label_of(self.labels, item) for item in pair[:3])
        if not (subject and fine and coarse):
            return UNNAMED_PAIR
        if fine.casefold() == coarse.casefold():
            return EQUAL_NAMES
        return "" if self._is_single_token(fine) and self._is_single_token(coarse) else LONG_ANSWER

    def _is_single_token(self, word: str) -> bool:
        if word not in self._single_tokens:
            self._single_tokens[word] = all(check(word) for check in self.checks)
        return self._single_tokens[word]


def _draw_pairs(
    pairs_by_subject: Mapping[str, Sequence[AnswerPair]],
    pair_filter: _PairFilter,
    plan: SpecificityPlan,
    relation: str,
    pair_counts: TripleCounts,
) -> list[AnswerPair]:
    """Draw some pairs of each subject and then `at_most` of them, all by the seed; return them sorted by subject."""
    random = Random(f"{plan.seed}:{relation}")
    pairs: list[AnswerPair] = []
    for subject in sorted(pairs_by_subject, key=item_number):
        problems = [pair_filter.problem(pair) for pair in pairs_by_subject[subject]]
        pair_counts.found += len(problems)
        pair_counts.dropped.update(filter(None, problems))
        usable = [pair for pair, problem in zip(pairs_by_subject[subject], problems, strict=True) if not problem]
        count = min(plan.pairs_per_subject or len(usable), len(usable))
        pairs += random.sample(usable, count)
        pair_counts.drop(NOT_DRAWN, len(usable) - count)
    sample = random.sample(pairs, min(plan.at_most, len(pairs)))
    pair_counts.kept = len(sample)
    pair_counts.drop(BEYOND_SAMPLE, len(pairs) - len(sample))
    return sorted(sample, key=lambda pair: tuple(map(item_number, pair[:3])))


def _relation_lines(relation: str, chain: Chain) -> list[dict[str, str]]:
    return [
        {"relation": relation, "template": chain.template, "label": chain.name},
        {"relation": relation + CASCADE, "template": chain.cascade, "label": chain.name},
    ]


def single_token(name: str) -> TokenCheck:
    """Return a function that tells whether a word after a space is one token of this tokenizer."""
    tokenizer = _tokenizer(name)
    unknown = _unknown_token(tokenizer)

    def ids(text: str) -> list[int]:
        tokens: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return tokens

    preceding = ids(PRECEDING_WORD)

    def is_single_token(word: str) -> bool:
        tokens = ids(f"{PRECEDING_WORD} {word}")
        return len(tokens) == len(preceding) + 1 and tokens[:-1] == preceding and tokens[-1] != unknown

    return is_single_token


def _unknown_token(tokenizer: Any) -> int | None:
    """Return the id of the token for unknown words, if there is one; only a Unigram model stores the id itself."""
    model = json.loads(tokenizer.to_str())["model"]
    unknown: int | None = model.get("unk_id", tokenizer.token_to_id(model.get("unk_token") or ""))
    return unknown


def _tokenizer(name: str) -> Any:
    library = extra_package("tokenizers", "curation", "Counting the tokens of answers")
    path = Path(name) / TOKENIZER if Path(name).is_dir() else Path(name)
    step = "Give a tokenizer.json, its folder or a hub id."
    try:
        text = (path if path.is_file() else Path(hf_hub_download(name, TOKENIZER))).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BadInput(f"{name} has no {TOKENIZER} ({' '.join(str(error).split())[:200]}).", step) from error
    try:
        tokenizer = library.Tokenizer.from_str(text)
    except Exception as error:  # the package raises no subclass
        raise BadInput(f"{name} is not a tokenizer ({error}).", step) from error
    tokenizer.no_padding()
    return tokenizer
