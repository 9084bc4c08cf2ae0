"""Sentence templates and questions of predicates: those of their entries, or those of a folder in mLAMA's form."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from probing.curation.facts import ENGLISH
from probing.curation.wikidata import Endpoint
from probing.errors import BadInput
from probing.formats.own_wordings import TEMPLATE_FILE, own_templates
from probing.formats.reading import read_lines
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

# Predicate -> language -> template.
TextsByLanguage = Mapping[str, Mapping[str, str]]


def templates(texts: TextsByLanguage, language: str, folder: Path | None = None) -> dict[str, str]:
    """Return predicate -> template in a language, from the folder's `<language>/templates.jsonl` if one is given.

    `texts`: the templates of the predicates' entries. Raises `BadInput` if a predicate has none.
    """
    own = {id: by_language[language] for id, by_language in texts.items() if language in by_language}
    available = _in_folder(folder, language) if folder else own
    missing = [predicate for predicate in texts if predicate not in available]
    if missing:
        source = folder or "The predicates' entries"
        step = f"Give a folder with <language>/{TEMPLATE_FILE} as templates"
        step += "." if folder else f", or add {language} to the entries' templates in the file that own names."
        raise BadInput(f"{source}: no template for {', '.join(missing)} in {language!r}.", step)
    return {predicate: available[predicate] for predicate in texts}


def checked_template(template: str, location: str) -> str:
    """Return the template if it has each slot exactly once; `location` stands in the message if not."""
    for slot in (SUBJECT_SLOT, ANSWER_SLOT):
        if template.count(slot) != 1:
            raise BadInput(f"{location}: {template!r:.80} must have {slot} exactly once.", "Correct the template.")
    return template


def checked_question(question: str, location: str) -> str:
    """Return the question if it has the slot of the subject once and none for an answer; `location` names it if not."""
    if question.count(SUBJECT_SLOT) != 1 or ANSWER_SLOT in question:
        step = "Correct the question."
        raise BadInput(
            f"{location}: {question!r:.80} must have {SUBJECT_SLOT} exactly once and no {ANSWER_SLOT}.", step
        )
    return question


def property_templates(
    endpoint: Endpoint, properties: Sequence[str], language: str, user_templates: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Return property -> templates: the user's, else this project's, else one made of the property's English name."""
    checked = {id: [checked_template(text, id) for text in texts] for id, texts in user_templates.items()}
    own = own_templates(language)
    unworded = [id for id in properties if id not in checked and id not in own]
    if unworded and language != ENGLISH:
        raise BadInput(f"No template for {', '.join(unworded)} in {language!r}.", "Give one as templates.")
    labels = endpoint.labels(unworded, [ENGLISH]) if unworded else {}
    if unnamed := [id for id in unworded if ENGLISH not in labels[id]]:
        raise BadInput(f"{endpoint.url} has no {', '.join(unnamed)}.", "Check the property, or give a template.")
    generated = {id: f"The {labels[id][ENGLISH]} of [X] is [Y]." for id in unworded}
    return {id: checked.get(id) or [own.get(id) or generated[id]] for id in properties}


def check_properties(properties: Sequence[str], location: str = "") -> None:
    """Raise `BadInput` for an id that is not one of a property; `location` is the file in which they stand."""
    prefix = f"{location}: " if location else ""
    if not properties:
        raise BadInput(f"{prefix}No property is named.", "Give one or more, such as P36.")
    for id in properties:
        if not re.fullmatch(r"P[1-9]\d*", id):
            raise BadInput(f"{prefix}{id!r:.80} is not a property of Wikidata.", "Write it such as P36.")


def check_languages(codes: Iterable[str], location: str = "") -> None:
    """Raise `BadInput` for a code that is not one of a language; `location` is where they stand in a file."""
    for code in codes:
        if not re.fullmatch(r"[a-z]{2,3}(-[a-z0-9]+)*", code):
            prefix = f"{location}: " if location else ""
            raise BadInput(f"{prefix}{code!r:.80} is not a language code.", "Write it such as ar or zh-hant.")


def check_curated(described: Iterable[str], properties: Collection[str], how: str = "worded") -> None:
    """Raise `BadInput` for a property that is described and not curated: its id is probably misspelt.

    `how`: what the user has given for it, as messages say it.
    """
    if others := [id for id in described if id not in properties]:
        raise BadInput(f"{others[0]} is {how}, but not curated.", "Name it with --property as well, or correct its id.")


def check_names(endpoint: Endpoint, properties: Sequence[str]) -> None:
    """Raise `BadInput` for properties that have no English name at the endpoint, because they do not exist there."""
    labels = endpoint.labels(properties, [ENGLISH])
    if unnamed := [id for id in properties if ENGLISH not in labels[id]]:
        raise BadInput(f"{endpoint.url} has no {', '.join(unnamed)}.", "Check the property in the entry.")


def _in_folder(folder: Path, language: str) -> dict[str, str]:
    lines = read_lines(folder / language / TEMPLATE_FILE)
    return {line.text("relation"): checked_template(line.text("template"), line.location) for line in lines}
