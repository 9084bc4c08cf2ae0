"""Benchmarks of the form and size of BEAR-big and of DLAMA, filled with made-up names."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

BEAR_RELATIONS, BEAR_OPTIONS = 78, 68
BEAR_TEMPLATES = [f"[X] is {word} [Y]." for word in ("near", "beside", "behind")]

LANGUAGES = {"arab-west": ("ar", "en"), "asia-west": ("ko", "en"), "southamerica-west": ("es", "en")}
REGIONS = {"arab-west": "ARAB_REGION", "asia-west": "ASIA", "southamerica-west": "SOUTH_AMERICA"}
# The items and candidates of each predicate in the English files of DLAMA's predecessor about Arab and Western
# countries, which are two fifths of the items that DLAMA has about a pair. Its own candidates have not been seen.
PREDICATES = {
    "P17": (900, 51),
    "P19": (1200, 1188),
    "P20": (1200, 877),
    "P27": (1200, 66),
    "P30": (41, 5),
    "P36": (41, 43),
    "P37": (41, 20),
    "P47": (41, 71),
    "P103": (1200, 41),
    "P106": (1200, 395),
    "P136": (300, 172),
    "P190": (215, 1186),
    "P264": (300, 111),
    "P364": (300, 34),
    "P449": (258, 112),
    "P495": (457, 53),
    "P530": (41, 194),
    "P1303": (300, 52),
    "P1376": (45, 41),
    "P1412": (1200, 63),
}


def write_bear(folder: Path, items: int) -> None:
    """Write a benchmark in BEAR's format; its relations differ in size by one item at most."""
    folder.mkdir()
    relations = {}
    for number in range(BEAR_RELATIONS):
        labels = [f"Made-up answer {number} {option}" for option in range(BEAR_OPTIONS)]
        ids = [f"Q{number}{option:03}" for option in range(BEAR_OPTIONS)]
        relation = {"templates": BEAR_TEMPLATES, "answer_space_labels": labels, "answer_space_ids": ids}
        relations[f"P{number}"] = relation
        facts = (_bear_fact(index, ids, labels) for index in range(number, items, BEAR_RELATIONS))
        _write_lines(folder / f"P{number}.jsonl", facts)
    (folder / "metadata_relations.json").write_text(json.dumps(relations), encoding="utf-8")


def _bear_fact(index: int, ids: Sequence[str], labels: Sequence[str]) -> dict[str, Any]:
    answer = index % len(labels)
    subject = {"sub_id": f"Q{index}00", "sub_label": f"Made-up subject {index}", "sub_aliases": []}
    return {**subject, "obj_id": ids[answer], "obj_label": labels[answer], "answer_idx": answer}


def write_dlama(folder: Path, items: int) -> None:
    """Write about so many items in DLAMA's format, with all candidates however few its items are."""
    shares = {name: share / sum(n for n, _ in PREDICATES.values()) for name, (share, _) in PREDICATES.items()}
    for pair, languages in LANGUAGES.items():
        for language in languages:
            folder_of_language = folder / pair / "dlama" / language
            folder_of_language.mkdir(parents=True)
            for predicate, (_, candidates) in PREDICATES.items():
                count = round(items / 2 / len(LANGUAGES) * shares[predicate])
                facts = _dlama_facts(predicate, count, candidates)
                for region, of_culture in {REGIONS[pair]: facts[::2], "WESTERN_COUNTRIES": facts[1::2]}.items():
                    _write_lines(folder_of_language / f"{predicate}_general_{region}.jsonl", of_culture)
    for language in {language for languages in LANGUAGES.values() for language in languages}:
        templates = [{"relation": predicate, "template": "[X] is near [Y]."} for predicate in PREDICATES]
        (folder / "templates" / language).mkdir(parents=True)
        _write_lines(folder / "templates" / language / "templates.jsonl", templates)


def _dlama_facts(predicate: str, items: int, candidates: int) -> list[dict[str, Any]]:
    """Return facts whose objects together are all candidates, each of them in one fact at least."""
    each = -(-candidates // items)  # objects of a fact
    facts = []
    for index in range(items):
        objects = sorted({(index * each + step) % candidates for step in range(each)})
        named = {f"Q9{number}": f"Made-up answer {predicate} {number}" for number in objects}
        subject = {"sub_uri": f"Q{index}00", "sub_label": f"Made-up subject {index}"}
        facts.append({**subject, "obj_uri": [*named], "obj_label": [*named.values()]})
    return facts


def _write_lines(file: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
