"""Sentence templates for predicates: ours, or those of a folder `<language>/templates.jsonl` in mLAMA's form."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from probing.curation.endpoint import Endpoint
from probing.errors import BadInput
from probing.formats.dlama import TEMPLATE_FILE
from probing.formats.files import read_lines
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

OURS = Path(__file__).parent / "templates.toml"


def templates(predicates: Sequence[str], language: str, folder: Path | None = None) -> dict[str, str]:
    """Predicate -> template; each must have one."""
    known = _in_folder(folder, language) if folder else _ours(language)
    missing = [predicate for predicate in predicates if predicate not in known]
    if missing:
        where = folder or "our own templates"
        step = f"Give a folder with <language>/{TEMPLATE_FILE} by --templates."
        raise BadInput(f"{where}: no template for {', '.join(missing)} in {language!r}.", step)
    return {predicate: known[predicate] for predicate in predicates}


def check(template: str, place: str) -> str:
    """The template, if it has each slot once."""
    for slot in (SUBJECT_SLOT, ANSWER_SLOT):
        if template.count(slot) != 1:
            raise BadInput(f"{place}: {template!r:.80} must have {slot} once.", "Correct the template.")
    return template


def several(
    endpoint: Endpoint, properties: Sequence[str], language: str, given: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Property -> templates: those given, else ours, else one made of the property's English name."""
    found = {name: [check(text, name) for text in texts] for name, texts in given.items()}
    ours = _ours(language)
    nameless = [name for name in properties if name not in found and name not in ours]
    if nameless and language != "en":
        raise BadInput(f"No template for {', '.join(nameless)} in {language!r}.", "Give one by --template.")
    labels = endpoint.labels(nameless, ["en"]) if nameless else {}
    if unknown := [name for name in nameless if "en" not in labels[name]]:
        raise BadInput(f"{endpoint.url} knows no {', '.join(unknown)}.", "Check the property, or give a --template.")
    made = {name: f"The {labels[name]['en']} of [X] is [Y]." for name in nameless}
    return {name: found.get(name) or [ours.get(name) or made[name]] for name in properties}


def check_properties(properties: Sequence[str]) -> None:
    if not properties:
        raise BadInput("No property.", "Give one or more, such as P36.")
    for name in properties:
        if not re.fullmatch(r"P[1-9]\d*", name):
            raise BadInput(f"{name!r} is no property of Wikidata.", "Write it such as P36.")


def check_languages(codes: Iterable[str]) -> None:
    for code in codes:
        if not re.fullmatch(r"[a-z]{2,3}(-[a-z0-9]+)*", code):
            raise BadInput(f"{code!r} is no language code.", "Write it such as ar or zh-hant.")


@lru_cache
def _read_ours() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(OURS.read_text(encoding="utf-8"))


def _ours(language: str) -> dict[str, str]:
    return {predicate: texts[language] for predicate, texts in _read_ours().items() if language in texts}


def _in_folder(folder: Path, language: str) -> dict[str, str]:
    lines = read_lines(folder / language / TEMPLATE_FILE)
    return {line.text("relation"): check(line.text("template"), line.place) for line in lines}
