"""A sample of a knowledge graph on disk: how it was or is to be drawn, and the sentences."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from probing.files.folders import new_folder
from probing.formats.files import JsonObject, present, read_lines, read_object
from probing.statements.graph import Graph, Triple
from probing.statements.sampling import Sampling, Sentence

SAMPLING = "sampling.json"
SENTENCES = "sentences.jsonl"
TEMPLATES = "relation_mapping.json"
NOTES = "notes"


@dataclass(frozen=True)
class Plan:
    """How to draw, and what there is to say of it."""

    sampling: Sampling = field(default_factory=Sampling)
    remarks: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        drawn = self.sampling
        parts = f"{drawn.resampled} of 3 parts" + (" within their categories" if drawn.within_category else "")
        return (
            *self.remarks,
            f"{drawn.repetitions} repetitions of {drawn.samples:,} true and as many false statements, for which "
            f"{parts} were drawn anew; seed {drawn.seed}.",
        )


def read_sampling(folder: Path) -> Plan:
    """The folder's plan, or the default where it has none."""
    path = present(folder, SAMPLING)
    if path is None:
        return Plan()
    about = read_object(path)
    known = {option.name: type(option.default) for option in fields(Sampling)}
    options: Mapping[str, Any] = {name: value for name, value in about.values.items() if name != NOTES}
    for name, value in options.items():
        if name not in known:
            raise about.fault(f"{name!r:.80} is unknown", f"Choose from: {', '.join(known)}.")
        if type(value) is not known[name]:
            raise about.fault(f"{name} cannot be {value!r:.80}", f"Give it a value like {_example(name)}.")
    return Plan(Sampling(**options), about.texts(NOTES))


def _example(name: str) -> str:
    return json.dumps(asdict(Sampling())[name])


def read_sentences(path: Path) -> tuple[Sentence, ...]:
    return tuple(map(_sentence, read_lines(path)))


def _sentence(line: JsonObject) -> Sentence:
    true, drawn = line.values.get("true"), line.values.get("repetitions")
    if not isinstance(true, bool):
        raise line.fault("'true' must be true or false", "Say whether the statement is.")
    if not isinstance(drawn, list) or not drawn or not all(type(number) is int for number in drawn):
        raise line.fault("'repetitions' is not a list of whole numbers", "List those that drew the sentence, from 1.")
    triple = Triple(*(line.text(part) for part in Triple._fields))
    return Sentence(line.text("text"), triple, true, tuple(drawn))


def store(folder: Path, graph: Graph, sentences: Sequence[Sentence], plan: Plan) -> None:
    """Write a benchmark folder that has the sentences themselves; it appears whole."""
    spoken = {relation: graph.templates[relation] for relation in dict.fromkeys(s.triple.relation for s in sentences)}
    with new_folder(folder) as new:
        _write(new / TEMPLATES, [spoken])
        _write(new / SAMPLING, [{**asdict(plan.sampling), NOTES: [*graph.notes, *plan.remarks]}])
        _write(new / SENTENCES, map(_line, sentences))


def _line(sentence: Sentence) -> dict[str, Any]:
    about = {"text": sentence.text, **sentence.triple._asdict(), "true": sentence.true}
    return {**about, "repetitions": list(sentence.repetitions)}


def _write(path: Path, objects: Any) -> None:
    lines = (json.dumps(each, ensure_ascii=False) + "\n" for each in objects)
    path.write_text("".join(lines), encoding="utf-8")
