"""The file of a curation: its kind, the fields of the kind's plan by name, and the servers to ask if others are meant.

Paths in the file are relative to it. What is wrong with the names of its keys is said at once.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, get_origin, get_type_hints

from probing.curation import (
    choice_questions,
    culture_facts,
    geography_facts,
    graph_triples,
    specificity_pairs,
    translation,
)
from probing.curation.articles import WIKIPEDIA
from probing.curation.cultures import KNOWN_PAIRS, CulturePair, known_pair, new_pair
from probing.curation.http_cache import ANSWER_TIMEOUT, REQUEST_INTERVAL, HttpCache
from probing.curation.predicates import read_predicates
from probing.curation.wikidata import WIKIDATA, Endpoint
from probing.errors import BadInput, nearest, suggestion
from probing.files.configuration import read_config
from probing.settings import declared

DAY = 24 * 60 * 60  # seconds
KIND, ENDPOINT = "kind", "endpoint"  # the keys beside those of a plan
CULTURE, SPECIFICITY = "culture", "specificity"
PAIR_KEYS = ("name", "cultures", "languages")


class Kind(NamedTuple):
    """A kind of benchmark: under which format the site imports its folder, and who makes it by which plan."""

    format: str
    plan: type[Any]
    module: Any


KINDS: Mapping[str, Kind] = {
    CULTURE: Kind("dlama", culture_facts.CulturePlan, culture_facts),
    "geography": Kind("geography", geography_facts.GeographyPlan, geography_facts),
    SPECIFICITY: Kind("stest", specificity_pairs.SpecificityPlan, specificity_pairs),
    "graph": Kind("knowledge_graph", graph_triples.GraphPlan, graph_triples),
    "multiple-choice": Kind("bear", choice_questions.MultipleChoicePlan, choice_questions),
    "translation": Kind("dlama", translation.TranslationPlan, translation),
}


@dataclass(frozen=True)
class Servers:
    """The servers to ask, and how patiently: `interval` between requests and `timeout` of an answer are seconds.

    `url`: the SPARQL endpoint. `wikipedia`: the API of Wikipedia's sites, which culture pairs need.
    """

    url: str = WIKIDATA
    wikipedia: str = WIKIPEDIA
    interval: float = REQUEST_INTERVAL
    timeout: float = ANSWER_TIMEOUT

    def __post_init__(self) -> None:
        if not (0 <= self.interval <= DAY and 1 <= self.timeout <= DAY):  # which is also true for NaN
            raise BadInput("interval and timeout are seconds.", f"Give 0 to {DAY} and 1 to {DAY}.")

    @contextmanager
    def opened(self, cache_file: Path | None = None, contact: str = "") -> Iterator[Endpoint]:
        """Yield the endpoint, with a cache in this file or else in the folder of data."""
        contact = contact or os.environ.get("CLOZEBOARD_CONTACT", "")
        if self.url == WIKIDATA and not contact:
            print(
                "Wikimedia may slow down or block clients without a contact: give --contact, or set "
                "CLOZEBOARD_CONTACT.",
                file=sys.stderr,
            )
        file = cache_file or Path(os.environ.get("CLOZEBOARD_DATA", "var")) / "curation" / "answers.sqlite"
        with HttpCache(file, interval=self.interval, timeout=self.timeout, contact=contact) as cache:
            yield Endpoint(cache, self.url)


def read_plan(path: Path) -> tuple[Kind, Any, Servers]:
    """Read the file of a curation; raise `BadInput` for what it should not have, with what it should."""
    return checked_plan(read_config(path), path.parent, path.name)


def checked_plan(content: Mapping[str, Any], folder: Path, file: str) -> tuple[Kind, Any, Servers]:
    """Return the kind, its plan and the servers of a file's content; paths in it are relative to the folder."""
    name = content.get(KIND)
    if not isinstance(name, str) or name not in KINDS:
        step = suggestion(str(name), KINDS) if name else f"Write kind: and one of {', '.join(KINDS)}."
        raise BadInput(f"{file}: kind is {name!r:.80}.", step)
    kind = KINDS[name]
    own = {key: value for key, value in content.items() if key not in (KIND, ENDPOINT)}
    _refuse_keys(own, kind.plan, f"{file}: a plan of kind {name}", (KIND, ENDPOINT))
    servers = content.get(ENDPOINT) or {}
    if not isinstance(servers, Mapping):
        raise BadInput(f"{file}: {ENDPOINT} is {servers!r:.80}.", f"Write {ENDPOINT}: {{url: https://…/sparql}}.")
    _refuse_keys(servers, Servers, f"{file}: {ENDPOINT}")
    values = {key: _value(kind.plan, key, value, folder) for key, value in own.items()}
    if "own" in values:
        values["own"] = _read_own(name, values["own"], stricter=values.get("stricter", False))
    return kind, kind.plan(**values), Servers(**{key: _value(Servers, key, servers[key], folder) for key in servers})


def _read_own(kind: str, path: Path, *, stricter: bool) -> Mapping[str, Any]:
    return specificity_pairs.read_chains(path) if kind == SPECIFICITY else read_predicates(path, stricter=stricter)


def _refuse_keys(values: Mapping[Any, Any], owner: type[Any], noun: str, others: tuple[str, ...] = ()) -> None:
    """Raise `BadInput` that names all keys that are no fields of the owner, and all that are missing."""
    names = [entry.name for entry in fields(owner)]
    near = {key: nearest(str(key), names) for key in values if key not in names}
    unknown = [f"{key!s:.80}" + (f" (did you mean {name}?)" if name else "") for key, name in near.items()]
    needed = (entry.name for entry in fields(owner) if entry.default is entry.default_factory is MISSING)
    missing = [name for name in needed if name not in values]
    problems = [("has no", unknown), ("lacks", missing)]
    faults = [f"{problem} {', '.join(keys)}" for problem, keys in problems if keys]
    if faults:
        raise BadInput(f"{noun} {' and '.join(faults)}.", f"Its keys are: {', '.join([*others, *names])}.")


def _value(owner: type, name: str, value: Any, folder: Path) -> Any:
    """Return the value of a key as the plan's field has it; raise `BadInput` where it has another type."""
    hint = get_type_hints(owner)[name]
    if name in READERS:
        return READERS[name](value, folder)
    if hint in (Path, Path | None):
        return _path(name, value, folder)
    if get_origin(hint) is Mapping:
        return _texts_by_id(name, value)
    return declared(owner)[name].check(float(value) if hint is float and type(value) is int else value)


def _path(name: str, value: Any, folder: Path) -> Path:
    if not isinstance(value, str):
        raise BadInput(f"{name} is {value!r:.80}.", "Give it a path, relative to the file.")
    return folder / value


def _texts_by_id(name: str, value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, Mapping):
        raise BadInput(f"{name} is {value!r:.80}.", f"Write a table, such as {name}: {{P36: TEXT}}.")
    return {str(id): _texts(f"{id} of {name}", texts) for id, texts in value.items()}


def _texts(name: str, value: Any) -> tuple[str, ...]:
    """Return a list of texts; a single one may stand without a list."""
    texts = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise BadInput(f"{name} is {value!r:.80}.", 'Give it a list of texts; write "no" in quotes.')
    return tuple(text.strip() for text in texts)


def _pairs(value: Any, folder: Path) -> tuple[CulturePair, ...]:
    entries = value if isinstance(value, list) else [value]
    return tuple({pair.name: pair for pair in (_pair(entry, folder) for entry in entries)}.values())


def _pair(entry: Any, folder: Path) -> CulturePair:
    """Read one of the pairs that ship, by its name, or a new one with its name, cultures and languages."""
    if isinstance(entry, str):
        return known_pair(entry)
    if not isinstance(entry, Mapping) or set(entry) != set(PAIR_KEYS):
        step = f"Give one of {', '.join(KNOWN_PAIRS)}; or a table with {', '.join(PAIR_KEYS)}."
        raise BadInput(f"{entry!r:.80} is no pair of cultures.", step)
    cultures, languages = (_texts(key, entry[key]) for key in ("cultures", "languages"))
    return new_pair(str(entry["name"]), _placed(cultures, folder), languages)


def _placed(names: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """Return names, in place of those that are files or folders beside the plan their paths."""
    return tuple(str(folder / name) if (folder / name).exists() else name for name in names)


# The fields of plans that are not read by their types alone.
READERS: Mapping[str, Callable[[Any, Path], Any]] = {
    "pairs": _pairs,
    "own": partial(_path, "own"),
    "tokenizers": lambda value, folder: _placed(_texts("tokenizers", value), folder),
}
