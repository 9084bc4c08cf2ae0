"""Sentence templates of predicates: those of this project, or those of a folder in mLAMA's form."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from probing.curation.endpoint import Endpoint
from probing.curation.facts import ENGLISH
from probing.errors import BadInput
from probing.formats.files import read_lines
from probing.formats.own_templates import TEMPLATE_FILE, own_templates
from probing.template import ANSWER_SLOT, SUBJECT_SLOT


def templates(predicates: Sequence[str], language: str, folder: Path | None = None) -> dict[str, str]:
    """Return predicate -> template, from the folder's `<language>/templates.jsonl` if one is given.

    Raises `BadInput` if a predicate has none.
    """
    available = _in_folder(folder, language) if folder else own_templates(language)
    missing = [predicate for predicate in predicates if predicate not in available]
    if missing:
        source = folder or "Clozeboard's own templates"
        step = f"Give a folder with <language>/{TEMPLATE_FILE} by --templates."
        raise BadInput(f"{source}: no template for {', '.join(missing)} in {language!r}.", step)
    return {predicate: available[predicate] for predicate in predicates}


def checked_template(template: str, place: str) -> str:
    """Return the template if it has each slot exactly once; `place` stands in the message if not."""
    for slot in (SUBJECT_SLOT, ANSWER_SLOT):
        if template.count(slot) != 1:
            raise BadInput(f"{place}: {template!r:.80} must have {slot} exactly once.", "Correct the template.")
    return template


def property_templates(
    endpoint: Endpoint, properties: Sequence[str], language: str, user_templates: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Return property -> templates: the user's, else this project's, else one made of the property's English name."""
    checked = {id: [checked_template(text, id) for text in texts] for id, texts in user_templates.items()}
    own = own_templates(language)
    unworded = [id for id in properties if id not in checked and id not in own]
    if unworded and language != ENGLISH:
        raise BadInput(f"No template for {', '.join(unworded)} in {language!r}.", "Give one by --template.")
    labels = endpoint.labels(unworded, [ENGLISH]) if unworded else {}
    if unnamed := [id for id in unworded if ENGLISH not in labels[id]]:
        raise BadInput(f"{endpoint.url} has no {', '.join(unnamed)}.", "Check the property, or give a --template.")
    generated = {id: f"The {labels[id][ENGLISH]} of [X] is [Y]." for id in unworded}
    return {id: checked.get(id) or [own.get(id) or generated[id]] for id in properties}


def check_properties(properties: Sequence[str]) -> None:
    if not properties:
        raise BadInput("No property is named.", "Give one or more, such as P36.")
    for id in properties:
        if not re.fullmatch(r"P[1-9]\d*", id):
            raise BadInput(f"{id!r} is not a property of Wikidata.", "Write it such as P36.")


def check_languages(codes: Iterable[str]) -> None:
    for code in codes:
        if not re.fullmatch(r"[a-z]{2,3}(-[a-z0-9]+)*", code):
            raise BadInput(f"{code!r} is not a language code.", "Write it such as ar or zh-hant.")


def _in_folder(folder: Path, language: str) -> dict[str, str]:
    lines = read_lines(folder / language / TEMPLATE_FILE)
    return {line.text("relation"): checked_template(line.text("template"), line.place) for line in lines}
