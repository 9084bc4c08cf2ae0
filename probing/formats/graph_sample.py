"""A sample of a knowledge graph on disk: how statements are drawn, and the statements if they were drawn already."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from probing.files.folders import new_folder
from probing.formats.reading import PLAN_FILE, JsonObject, present, read_lines, read_object
from probing.statements.graph_statements import Graph, GraphStatement, Sampling, Triple

SAMPLING = "sampling.json"
SENTENCES = "sentences.jsonl"
RELATION_MAPPING = "relation_mapping.json"
NOTES = "notes"  # a field of sampling.json


@dataclass(frozen=True)
class SamplingPlan:
    """The settings for drawing statements, with remarks for readers of results."""

    sampling: Sampling = field(default_factory=Sampling)
    remarks: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        sampling = self.sampling
        parts, each = str(sampling.levels[0]), ""
        if sampling.ladder:
            parts, each = "3, 2 or 1 of 3 parts, anywhere or within their categories,", " of each level"
        return (
            *self.remarks,
            f"{sampling.repetitions} repetitions, each of {sampling.samples:,} true and as many false statements"
            f"{each}. A false one is a fact of which {parts} were drawn again at random, with seed {sampling.seed}.",
        )


def read_sampling(folder: Path) -> SamplingPlan:
    """Read the folder's plan, or return the default plan if it has none."""
    path = present(folder, SAMPLING)
    if path is None:
        return SamplingPlan()
    content = read_object(path)
    types = {option.name: type(option.default) for option in fields(Sampling)}
    options: Mapping[str, Any] = {name: value for name, value in content.values.items() if name != NOTES}
    for name, value in options.items():
        if name not in types:
            raise content.fault(f"{name!r:.80} is unknown", f"Choose from: {', '.join(types)}.")
        if type(value) is not types[name]:
            raise content.fault(f"{name} cannot be {value!r:.80}", f"Give it a value like {_example(name)}.")
    return SamplingPlan(Sampling(**options), content.texts(NOTES))


def _example(name: str) -> str:
    return json.dumps(asdict(Sampling())[name])


def read_statements(path: Path) -> tuple[GraphStatement, ...]:
    """Read statements that were drawn before."""
    return tuple(map(_read_statement, read_lines(path)))


def _read_statement(line: JsonObject) -> GraphStatement:
    true, repetitions = line.values.get("true"), line.values.get("repetitions")
    if not isinstance(true, bool):
        raise line.fault("'true' must be true or false", "Say whether the statement is.")
    if not isinstance(repetitions, list) or not repetitions or not all(type(n) is int for n in repetitions):
        step = "List the repetitions that drew the sentence, counted from 1."
        raise line.fault("'repetitions' is not a list of whole numbers", step)
    triple = Triple(*(line.text(part) for part in Triple._fields))
    texts = line.texts("texts") or (line.text("text"),)
    return GraphStatement(texts, triple, true, tuple(repetitions), line.optional_text("level"))


def store(
    folder: Path,
    graph: Graph,
    statements: Sequence[GraphStatement],
    plan: SamplingPlan,
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Write a benchmark folder with the statements themselves; it appears by one rename, when it is complete.

    `settings`: those of a run unless others are chosen, which become the plan of the folder.
    """
    relations = dict.fromkeys(statement.triple.relation for statement in statements)
    templates = {relation: _one_or_list(graph.phrasings[relation]) for relation in relations}
    with new_folder(folder) as new:
        _write_lines(new / RELATION_MAPPING, [templates])
        _write_lines(new / SAMPLING, [{**_stated(plan.sampling), NOTES: [*graph.notes, *plan.remarks]}])
        _write_lines(new / SENTENCES, map(_statement_line, statements))
        if settings:
            _write_lines(new / PLAN_FILE, [{"settings": settings}])


def _stated(sampling: Sampling) -> dict[str, Any]:
    """Return the settings of the draws; without a ladder it is not mentioned, so that versions are what they were."""
    return {name: value for name, value in asdict(sampling).items() if name != "ladder" or value}


def _statement_line(statement: GraphStatement) -> dict[str, Any]:
    words = {"texts" if len(statement.texts) > 1 else "text": _one_or_list(statement.texts)}
    return {
        **words,
        **statement.triple._asdict(),
        "true": statement.true,
        "repetitions": list(statement.repetitions),
        **({"level": statement.level} if statement.level else {}),
    }


def _one_or_list(texts: tuple[str, ...]) -> str | list[str]:
    return list(texts) if len(texts) > 1 else texts[0]


def _write_lines(path: Path, values: Iterable[Mapping[str, Any]]) -> None:
    lines = (json.dumps(value, ensure_ascii=False) + "\n" for value in values)
    path.write_text("".join(lines), encoding="utf-8")
