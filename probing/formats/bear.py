"""BEAR folders (methods 1.1): `metadata_relations.json`, one `<relation>.jsonl` each, `relation_info.json`."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from probing.benchmark import Benchmark, Item, Relation, TagValue
from probing.errors import BadBenchmark
from probing.formats.files import JsonObject, digest, read_lines, read_object
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

METADATA = "metadata_relations.json"
DOMAINS = "relation_info.json"
SINGLE = "single instance per answer"
MULTIPLE = "multiple instances per answer"


@dataclass(frozen=True)
class AnswerSpace:
    """The options of a relation and, where known, their ids."""

    labels: tuple[str, ...]
    ids: tuple[str, ...] = ()


def read(folder: Path) -> Benchmark:
    """Read the folder itself or the one folder in it that holds the relations; domains may lie beside that."""
    inner = _relations_folder(folder)
    metadata = read_object(inner / METADATA)
    domains = [place / DOMAINS for place in (inner, inner.resolve().parent) if (place / DOMAINS).is_file()][:1]
    info = read_object(domains[0]).values if domains else {}
    lists = [inner / f"{name}.jsonl" for name in _names(metadata)]
    _refuse_strays(inner, lists)
    relations = tuple(_relation(path, metadata, info) for path in lists)
    files = (inner / METADATA, *lists, *domains)
    found = digest(files)
    return Benchmark(inner.resolve().name.lower(), found[:12], found, relations, files=files)


def _relations_folder(folder: Path) -> Path:
    if not folder.is_dir():
        raise BadBenchmark(f"{folder} is not a folder.", "Give the folder of a benchmark.")
    if (folder / METADATA).is_file():
        return folder
    inner = sorted(path.parent for path in folder.glob(f"*/{METADATA}"))
    if len(inner) == 1:
        return inner[0]
    if inner:
        raise BadBenchmark(f"{folder} holds several benchmarks.", f"Choose {' or '.join(map(str, inner))}.")
    raise BadBenchmark(f"{METADATA} is missing in {folder}.", "Add the file or choose another folder.")


def _names(metadata: JsonObject) -> list[str]:
    """The relations' ids: they become file names and addresses, so nothing but plain names is let through."""
    if not metadata.values:
        raise metadata.fault("no relations", "List at least one.")
    for name in metadata.values:
        if not re.fullmatch(r"\w[\w.-]{0,99}", name, re.ASCII):
            raise metadata.fault(f"{name!r:.80} is no relation id", "Use letters, digits, '.', '-' and '_'.")
    return list(metadata.values)


def _refuse_strays(folder: Path, known: list[Path]) -> None:
    for path in sorted(folder.glob("*.jsonl")):
        if path not in known:
            raise BadBenchmark(f"{path.name} has no entry in {METADATA}.", "Add one with its templates, or remove it.")


def _relation(path: Path, metadata: JsonObject, info: Mapping[str, object]) -> Relation:
    about = _member(metadata.values, path.stem, METADATA)
    lines = read_lines(path)
    given = _given_space(about)
    space = given or _derived_space(lines)
    _refuse_duplicates(space.labels, about)
    answers = [_answer(line, given) if given else space.ids.index(_object(line)) for line in lines]
    items = (
        Item(index, line.text("sub_label"), (answer,), _id(line, "sub_id"))
        for index, (line, answer) in enumerate(zip(lines, answers, strict=True))
    )
    tags = _tags(about, answers, _member(info, path.stem, DOMAINS) if path.stem in info else None)
    return Relation(path.stem, _templates(about), space.labels, tuple(items), space.ids, tags=tags)


def _member(values: Mapping[str, object], name: str, file: str) -> JsonObject:
    value, place = values[name], f"{file}, relation {name}"
    if not isinstance(value, dict):
        raise BadBenchmark(f"{place}: not a JSON object.", "Write it as {...}.")
    return JsonObject(value, place)


def _templates(about: JsonObject) -> tuple[str, ...]:
    templates = about.texts("templates")
    if not templates:
        raise about.fault("no templates", "Give at least one, such as '[X] is the capital of [Y].'.")
    for number, template in enumerate(templates):
        if SUBJECT_SLOT not in template:
            raise about.fault(f"template {number} has no {SUBJECT_SLOT}", "Put it where the subject belongs.")
        if template.count(ANSWER_SLOT) != 1:
            raise about.fault(f"template {number} must have {ANSWER_SLOT} once", "Put it where the answer belongs.")
    return templates


def _given_space(about: JsonObject) -> AnswerSpace | None:
    """The answer space of the metadata, in the newer form or the older one, which has no ids."""
    space = AnswerSpace(about.texts("answer_space_labels"), about.texts("answer_space_ids"))
    if not space.labels and not space.ids:
        older = about.texts("answer_space")
        return AnswerSpace(older) if older else None
    if space.ids and len(space.ids) != len(space.labels):
        step = "Make answer_space_labels and answer_space_ids equally long."
        raise about.fault(f"{len(space.labels)} answer labels but {len(space.ids)} answer ids", step)
    _refuse_duplicates(space.ids, about)
    return space


def _derived_space(lines: list[JsonObject]) -> AnswerSpace:
    """All distinct objects, in order of first appearance; the first label counts."""
    labels: dict[str, str] = {}
    for line in lines:
        labels.setdefault(_object(line), line.text("obj_label"))
    return AnswerSpace(tuple(labels.values()), tuple(labels))


def _object(line: JsonObject) -> str:
    """What tells objects apart where no answer space is given; an index then points at nothing we have."""
    return _id(line, "obj_id") or str(_index(line))


def _refuse_duplicates(options: tuple[str, ...], about: JsonObject) -> None:
    repeated = [option for option, count in Counter(options).items() if count > 1]
    if repeated:
        raise about.fault(f"option {repeated[0]!r:.80} occurs twice", "Keep it once in the answer space.")


def _answer(line: JsonObject, space: AnswerSpace) -> int:
    """The answer's place in a given answer space, by index or by object id; if both are there they must agree."""
    by_id = _position(line, space) if _id(line, "obj_id") and space.ids else None
    if by_id is not None and "answer_idx" not in line.values:
        return by_id
    index = _index(line)
    if not 0 <= index < len(space.labels):
        step = f"Choose from 0 to {len(space.labels) - 1}."
        raise line.fault(f"answer_idx {index} is outside the answer space", step)
    if by_id not in (None, index):
        raise line.fault(f"answer_idx {index} and obj_id {line.values['obj_id']!r:.80} disagree", "Correct one.")
    return index


def _position(line: JsonObject, space: AnswerSpace) -> int:
    try:
        return space.ids.index(_id(line, "obj_id"))
    except ValueError:
        message = f"obj_id {line.values['obj_id']!r:.80} is not in the answer space"
        raise line.fault(message, f"Add it to answer_space_ids in {METADATA}, or correct it.") from None


def _index(line: JsonObject) -> int:
    index = line.values.get("answer_idx")
    if index is None:
        raise line.fault("neither answer_idx nor a usable obj_id", "Say which option is right.")
    if not isinstance(index, int) or isinstance(index, bool):
        raise line.fault(f"answer_idx is {index!r:.80}", "Give it a whole number, counted from 0.")
    return index


def _id(line: JsonObject, name: str) -> str:
    return line.text(name) if line.values.get(name) is not None else ""


def _tags(about: JsonObject, answers: list[int], info: JsonObject | None) -> dict[str, TagValue]:
    tags: dict[str, TagValue] = {"cardinality": _cardinality(about, answers)}
    domains = info.texts("domains") if info else ()
    if domains:
        tags["domain"] = tuple(dict.fromkeys(domains))
    return tags


def _cardinality(about: JsonObject, answers: list[int]) -> str:
    if about.values.get("cardinality") is None:
        return SINGLE if len(set(answers)) == len(answers) else MULTIPLE
    given = about.text("cardinality")
    if given not in (SINGLE, MULTIPLE):
        raise about.fault(f"cardinality {given!r:.80} is unknown", f"Write {SINGLE!r} or {MULTIPLE!r}.")
    return given
