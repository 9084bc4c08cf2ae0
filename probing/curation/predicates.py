"""Predicates of culture facts: entries of a TOML file that say which facts they are and how they are worded.

Clozeboard's own 20 (methods 4.1, 4.3) are the entries of `probing/formats/predicates.toml`; docs/curation.md explains
the keys. They follow the rules of DLAMA's authors, or where the user asks for it the stricter ones of this project:
facts about countries, cities and places must hold now, those about people and works may have ended, and historical
countries and the voice, which is no instrument, are no answers.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from probing.curation import wordings
from probing.curation.cultures import read_table
from probing.curation.wikidata import (
    best_value,
    current_value,
    has_property,
    is_a,
    is_no,
    is_not,
    one_of,
    property_path,
    stated_value,
)
from probing.errors import BadBenchmark, BadInput
from probing.formats.own_wordings import OWN_PREDICATES
from probing.formats.reading import JsonObject

KINDS = "kinds"
# What `country` says if the fact belongs to a country because its subject or its object is that country.
SUBJECT, OBJECT = "subject", "object"
BEST, CURRENT, STATED = "best", "current", "stated"
VALUES: Mapping[str, Callable[[str, str, str], str]] = {BEST: best_value, CURRENT: current_value, STATED: stated_value}
STRICTER = "stricter"  # the table of keys that hold where the user asks for it
SUPERCLASSES, TERRITORIES = "superclasses", "territories"
KIND_KEYS = frozenset({"country", "values", "subject_is", "subject_has", STRICTER})
OBJECT_KEYS = frozenset({"object_is", "object_is_not", "object_except", "object_country", "first_object_is_not"})
ENTRY_KEYS = KIND_KEYS | OBJECT_KEYS | {"name", "subject", "object", "augment", "templates", "questions"}
LONGEST_NAME = 100  # characters


@dataclass(frozen=True)
class Predicate:
    """A predicate, the patterns that its facts must match, and its wordings by language.

    The first query finds the facts of a country, a later one all objects of the subjects found. `country`: how a fact
    is tied to a country: by one or more properties of its subject, or because its subject or object is that country.
    `object_country`: properties by which the object must lie in that country as well. `filters`: patterns of the
    subject, which only the first query needs. `first`: patterns of the object in the first query only. `objects`:
    patterns of the object in both queries.
    `values`: which of them count: those of the best rank, which are the paper's; those that hold now (as for a
    capital); or all stated ones (as for a profession).
    `by_territory`: objects are augmented by the territories that contain them, instead of by their superclasses.
    """

    id: str
    name: str
    subject: str
    object: str
    country: str
    filters: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    object_country: str = ""
    values: str = BEST
    by_territory: bool = False
    templates: Mapping[str, str] = field(default_factory=dict)
    questions: Mapping[str, str] = field(default_factory=dict)

    def facts(self) -> str:
        """Return the pattern of a fact with ?subject, this predicate and ?object."""
        return VALUES[self.values]("subject", self.id, "object")

    def region(self, country: Sequence[str]) -> str:
        """Return the pattern that ties a fact to a country, given by all its ids."""
        if self.country in (SUBJECT, OBJECT):
            tie = one_of(self.country, country)
        else:
            tie = f"{one_of('country', country)}\n?subject {property_path(self.country)} ?country ."
        if not self.object_country:
            return tie
        return f"{tie}\n{one_of('place', country)}\n?object {property_path(self.object_country)} ?place ."


def read_predicates(path: Path, *, stricter: bool = False) -> dict[str, Predicate]:
    """Return the predicates of a TOML or YAML file by id; kinds of subjects may be its own or those that ship.

    `stricter`: with the keys in the tables of this name, which come before the others.
    Raises `BadInput`, which names the entry and its key, for an entry at fault.
    """
    content = read_table(path)
    ids = [name for name in content if name != KINDS]
    wordings.check_properties(ids, path.name)
    try:
        kinds = {**_kinds(read_table(OWN_PREDICATES), OWN_PREDICATES.name), **_kinds(content, path.name)}
        return {id: _predicate(id, _object(content[id], f"{path.name}, {id}"), kinds, stricter) for id in ids}
    except BadBenchmark as error:
        raise BadInput(error.message, error.next_step) from error


def choose(ids: Sequence[str], own: Mapping[str, Predicate], *, stricter: bool = False) -> dict[str, Predicate]:
    """Return the predicates of these ids, the user's own before those that ship; without ids all own or else all."""
    available = {**(STRICT_PREDICATES if stricter else PREDICATES), **own}
    if unknown := [id for id in ids if id not in available]:
        step = f"Choose from: {', '.join(available)}; or describe it in a file, named by own."
        raise BadInput(f"No predicate {', '.join(unknown)}.", step)
    return {id: available[id] for id in ids or own or PREDICATES}


def _kinds(content: Mapping[str, Any], file: str) -> dict[str, dict[str, Any]]:
    kinds = _object(content.get(KINDS, {}), f"{file}, {KINDS}").values
    for name, kind in kinds.items():
        _with_stricter(_object(kind, f"{file}, {KINDS}.{name}"), KIND_KEYS, stricter=True)
    return kinds


def _with_stricter(entry: JsonObject, keys: frozenset[str], *, stricter: bool) -> dict[str, Any]:
    """Return the values of an entry or a kind, with those of its stricter table if these are to hold."""
    entry.refuse_other_keys(keys)
    table = _object(entry.values.get(STRICTER, {}), f"{entry.location}, {STRICTER}")
    table.refuse_other_keys(keys - {STRICTER})
    return {**entry.values, **(table.values if stricter else {})}


def _predicate(id: str, entry: JsonObject, kinds: Mapping[str, Mapping[str, Any]], stricter: bool) -> Predicate:
    own = _with_stricter(entry, ENTRY_KEYS, stricter=stricter)
    kind = _one_line(entry, "subject")
    if kind not in kinds:
        step = f"Choose from: {', '.join(sorted(kinds))}; or describe it as [{KINDS}.{kind}]."
        raise entry.fault(f"no kind of subjects is called {kind!r}", step)
    of_kind = _with_stricter(JsonObject(dict(kinds[kind]), entry.location), KIND_KEYS, stricter=stricter)
    merged_entry = JsonObject({**of_kind, **own}, entry.location)
    return Predicate(
        id,
        _one_line(entry, "name"),
        kind,
        _one_line(entry, "object"),
        _country(merged_entry),
        filters=(*_instances("subject", merged_entry, "subject_is", is_a), *_required_properties(merged_entry)),
        first=_instances("object", merged_entry, "first_object_is_not", is_no),
        objects=(
            *_instances("object", merged_entry, "object_is", is_a),
            *_instances("object", merged_entry, "object_is_not", is_no),
            *_instances("object", merged_entry, "object_except", is_not),
        ),
        object_country=_properties(merged_entry, "object_country") if "object_country" in merged_entry.values else "",
        values=_choice(merged_entry, "values", *VALUES),
        by_territory=_choice(merged_entry, "augment", SUPERCLASSES, TERRITORIES) == TERRITORIES,
        templates=_wordings(merged_entry, "templates", wordings.checked_template),
        questions=_wordings(merged_entry, "questions", wordings.checked_question),
    )


def _country(entry: JsonObject) -> str:
    value = str(entry.values.get("country"))
    return value if value in (SUBJECT, OBJECT) else _properties(entry, "country")


def _required_properties(entry: JsonObject) -> tuple[str, ...]:
    if "subject_has" not in entry.values:
        return ()
    return (has_property("subject", _properties(entry, "subject_has")),)


def _properties(entry: JsonObject, key: str) -> str:
    """Return one property, or several with | between them."""
    text = entry.text(key).replace(" ", "")
    if not re.fullmatch(r"P[1-9]\d*(\|P[1-9]\d*)*", text):
        raise entry.fault(f"{key!r} is {text!r:.80}, which is not a property of Wikidata", "Write it such as P27.")
    return text


def _instances(subject: str, entry: JsonObject, key: str, pattern: Callable[[str, str, str], str]) -> tuple[str, ...]:
    """Return a pattern for each item of a table such as { Q5 = "human" }; the names stand in queries as comments."""
    items = _object(entry.values.get(key, {}), f"{entry.location}, {key}")
    for item in items.values:
        if not re.fullmatch(r"Q[1-9]\d*", item):
            raise items.fault(f"{item!r:.80} is not an item of Wikidata", 'Write it such as { Q5 = "human" }.')
    return tuple(pattern(subject, item, _one_line(items, item)) for item in items.values)


def _choice(entry: JsonObject, key: str, *choices: str) -> str:
    """Return the value of a key, which is the first choice if it is missing."""
    value = entry.values.get(key, choices[0])
    if value not in choices:
        raise entry.fault(f"{key!r} is {value!r:.80}", f"Choose from: {', '.join(choices)}.")
    return str(value)


def _wordings(entry: JsonObject, key: str, check: Callable[[str, str], str]) -> dict[str, str]:
    """Return language -> text of a table of templates or questions."""
    texts = _object(entry.values.get(key, {}), f"{entry.location}, {key}")
    wordings.check_languages(texts.values, texts.location)
    return {language: check(texts.text(language), f"{texts.location}.{language}") for language in texts.values}


def _one_line(entry: JsonObject, key: str) -> str:
    """Return a text that can stand in a comment of a query."""
    text = " ".join(entry.text(key).split())
    if len(text) > LONGEST_NAME:
        raise entry.fault(f"{key!r} has more than {LONGEST_NAME} characters", "Shorten it.")
    return text


def _object(value: Any, location: str) -> JsonObject:
    if not isinstance(value, dict):
        raise BadBenchmark(f"{location}: not a table.", "See docs/curation.md.")
    return JsonObject(value, location)


PREDICATES = read_predicates(OWN_PREDICATES)
STRICT_PREDICATES = read_predicates(OWN_PREDICATES, stricter=True)
