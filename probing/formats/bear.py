"""BEAR folders (methods 1.1): `metadata_relations.json`, one `<relation>.jsonl` each, `relation_info.json`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from probing.benchmark import Benchmark, Item, Relation, TagValue
from probing.errors import BadBenchmark
from probing.formats.reading import JsonObject, digest, note_on, read_lines, read_object, relation_id
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

METADATA = "metadata_relations.json"
DOMAINS = "relation_info.json"
# The keys that are read: of a relation in either file of metadata, and of an item.
RELATION_KEYS = frozenset({"templates", "answer_space_labels", "answer_space_ids", "answer_space", "cardinality"})
DOMAIN_KEYS = frozenset({"domains"})
ITEM_KEYS = frozenset({"sub_id", "sub_label", "obj_id", "obj_label", "answer_idx"})
# Cardinalities, as BEAR names them.
SINGLE = "single instance per answer"
MULTIPLE = "multiple instances per answer"
AnswerSpace = tuple[tuple[str, ...], tuple[str, ...]]  # the options of a relation, and their ids if these are known


def fits(folder: Path) -> bool:
    """Return whether the folder, or one in it, has the relations' metadata."""
    return (folder / METADATA).is_file() or any(folder.glob(f"*/{METADATA}"))


def read(folder: Path) -> Benchmark:
    """Read the folder itself or the only folder in it that holds relations; domains may lie beside that."""
    inner = _relations_folder(folder)
    metadata = read_object(inner / METADATA)
    domains = [parent / DOMAINS for parent in (inner, inner.resolve().parent) if (parent / DOMAINS).is_file()][:1]
    info = read_object(domains[0]).values if domains else {}
    # As one of BEAR-big: without items, and without domains although others have them.
    empty = [name for name in metadata.values if info and name not in info and not (inner / f"{name}.jsonl").is_file()]
    lists = [inner / f"{name}.jsonl" for name in _relation_ids(metadata) if name not in empty]
    _refuse_strays(inner, lists)
    _refuse_other_relations(info, [path.stem for path in lists])
    unlabelled: list[str] = []
    relations = tuple(_relation(path, metadata, info, unlabelled) for path in lists)
    files = (inner / METADATA, *lists, *domains)
    sha = digest(files)
    notes = (*_left_out(empty, unlabelled), *_doubts(relations))
    return Benchmark(inner.resolve().name.lower(), sha[:12], sha, relations, files=files, notes=notes)


def _left_out(empty: list[str], unlabelled: list[str]) -> tuple[str, ...]:
    """Return what was left out in sentences: relations by id, and items by the place of the first."""
    relations = note_on(empty, "Relations left out, as they have neither items nor domains")
    items = tuple(
        f"Items left out, as their subject has no label: {len(unlabelled):,} (first: {location})."
        for location in unlabelled[:1]
    )
    return relations + items


def _doubts(relations: Sequence[Relation]) -> tuple[str, ...]:
    """Return in sentences what is allowed and probably a mistake: a single option, and a subject asked twice."""
    trivial = [relation.id for relation in relations if len(relation.answer_space) == 1]
    subjects = {relation.id: [item.subject_id or item.subject for item in relation.items] for relation in relations}
    repeated = [name for name, of_relation in subjects.items() if len(set(of_relation)) < len(of_relation)]
    return (
        *note_on(trivial, "Relations with a single option, so that every answer is right"),
        *note_on(repeated, "Relations in which a subject occurs more than once"),
    )


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


def _relation_ids(metadata: JsonObject) -> list[str]:
    if not metadata.values:
        raise metadata.fault("no relations", "List at least one.")
    return [relation_id(name, metadata) for name in metadata.values]


def _refuse_strays(folder: Path, lists: list[Path]) -> None:
    for path in sorted(folder.glob("*.jsonl")):
        if path not in lists:
            step = "Add its relation with templates, or remove the file."
            raise BadBenchmark(f"The relation of {path.name} is missing in {METADATA}.", step)


def _refuse_other_relations(info: Mapping[str, object], relations: list[str]) -> None:
    """Raise `BadBenchmark` if domains of an unknown relation may be meant for a relation that has none.

    BEAR's own file also has the domains of relations that only its larger edition has.
    """
    without = [name for name in relations if name not in info]
    others = [name for name in info if name not in relations]
    if without and others:
        near = get_close_matches(others[0][:100], without, 1, 0.0)[0]
        raise BadBenchmark(
            f"{DOMAINS}: the relation {others[0]!r:.80} is not in {METADATA}, and {near!r:.80} has no domains.",
            "Correct its name, add the relation, or give every relation its domains.",
        )


def _relation(path: Path, metadata: JsonObject, info: Mapping[str, object], unlabelled: list[str]) -> Relation:
    """Read the relation of a list; the places of lines that are left out are added to `unlabelled`."""
    description = _relation_metadata(metadata.values, path.stem, METADATA, RELATION_KEYS)
    numbered = list(enumerate(read_lines(path)))
    for _, line in numbered:
        line.refuse_misspelt_keys(ITEM_KEYS)
    unlabelled += [line.location for _, line in numbered if _has_no_label(line)]
    numbered = [(index, line) for index, line in numbered if not _has_no_label(line)]
    lines = [line for _, line in numbered]
    declared = _declared_space(description)
    labels, ids = declared or _derived_space(lines)
    _refuse_duplicates(labels, description)
    answers = [_answer(line, *declared) if declared else ids.index(_object_key(line)) for line in lines]
    shared = [(option,) for option in range(len(labels))]  # items with the same answer have one tuple
    items = (
        Item(index, line.text("sub_label"), shared[answer], line.optional_text("sub_id"))
        for (index, line), answer in zip(numbered, answers, strict=True)
    )
    domain_entry = _relation_metadata(info, path.stem, DOMAINS, DOMAIN_KEYS) if path.stem in info else None
    tags = _tags(description, answers, domain_entry)
    return Relation(path.stem, _templates(description), labels, tuple(items), ids, tags=tags)


def _has_no_label(line: JsonObject) -> bool:
    """Return whether the subject is an entity that has an id but no label in the language, as one of BEAR-big."""
    return line.values.get("sub_label") == "" and bool(line.optional_text("sub_id"))


def _relation_metadata(values: Mapping[str, object], name: str, file: str, read: frozenset[str]) -> JsonObject:
    """Return the JSON object of a relation in one of the two files of metadata, which may have only keys to be read."""
    value, location = values[name], f"{file}, relation {name}"
    if not isinstance(value, dict):
        raise BadBenchmark(f"{location}: not a JSON object.", "Write it as {...}.")
    relation = JsonObject(value, location)
    relation.refuse_other_keys(read)
    return relation


def _templates(description: JsonObject) -> tuple[str, ...]:
    templates = description.texts("templates")
    if not templates:
        raise description.fault("no templates", "Give at least one, such as '[X] is the capital of [Y].'.")
    for number, template in enumerate(templates):
        if SUBJECT_SLOT not in template:
            raise description.fault(f"template {number} has no {SUBJECT_SLOT}", "Put it where the subject belongs.")
        if template.count(ANSWER_SLOT) != 1:
            raise description.fault(
                f"template {number} must have {ANSWER_SLOT} once", "Put it where the answer belongs."
            )
    return templates


def _declared_space(description: JsonObject) -> AnswerSpace | None:
    """Return the answer space of the metadata, in the newer form or the older one, which has no ids."""
    labels, ids = description.texts("answer_space_labels"), description.texts("answer_space_ids")
    if not labels and not ids:
        older = description.texts("answer_space")
        return (older, ()) if older else None
    if ids and len(ids) != len(labels):
        step = "Make answer_space_labels and answer_space_ids equally long."
        raise description.fault(f"{len(labels)} answer labels but {len(ids)} answer ids", step)
    _refuse_duplicates(ids, description)
    return labels, ids


def _derived_space(lines: list[JsonObject]) -> AnswerSpace:
    """Return all distinct objects in order of first appearance; raise where object and label are not one to one."""
    labels: dict[str, str] = {}
    keys: dict[str, str] = {}
    for line in lines:
        key, label = _object_key(line), line.text("obj_label")
        if labels.setdefault(key, label) != label or keys.setdefault(label, key) != key:
            step = "Give every answer one label, and every label one obj_id or answer_idx."
            raise line.fault(f"obj_label {label!r:.80} stands beside another answer than in an earlier line", step)
    return tuple(labels.values()), tuple(labels)


def _object_key(line: JsonObject) -> str:
    """Return what identifies an object where no answer space is declared: its id, else its index, else its label."""
    has_index = line.values.get("answer_idx") is not None
    return line.optional_text("obj_id") or (str(_index(line)) if has_index else line.text("obj_label"))


def _refuse_duplicates(options: tuple[str, ...], description: JsonObject) -> None:
    repeated = [option for option, count in Counter(options).items() if count > 1]
    if repeated:
        raise description.fault(f"option {repeated[0]!r:.80} occurs twice", "Keep it once in the answer space.")


def _answer(line: JsonObject, labels: tuple[str, ...], ids: tuple[str, ...]) -> int:
    """Return the answer's place in a declared answer space, by index or by object id, which must agree, or by label."""
    if not line.values.keys() & {"answer_idx", "obj_id"} and line.optional_text("obj_label") in labels:
        return labels.index(line.text("obj_label"))
    by_id = _place_of_id(line, ids) if line.optional_text("obj_id") and ids else None
    index = by_id if by_id is not None and "answer_idx" not in line.values else _index(line)
    if not 0 <= index < len(labels):
        step = f"Choose from 0 to {len(labels) - 1}."
        raise line.fault(f"answer_idx {index} is outside the answer space", step)
    if by_id not in (None, index):
        raise line.fault(f"answer_idx {index} and obj_id {line.values['obj_id']!r:.80} disagree", "Correct one.")
    label = line.values.get("obj_label")
    if label in labels and label != labels[index]:
        message = f"obj_label is {label!r:.80}, but the answer is option {index}, {labels[index]!r:.80}"
        raise line.fault(message, "Correct one of them; options are counted from 0.")
    return index


def _place_of_id(line: JsonObject, ids: tuple[str, ...]) -> int:
    try:
        return ids.index(line.text("obj_id"))
    except ValueError:
        message = f"obj_id {line.values['obj_id']!r:.80} is not in the answer space"
        raise line.fault(message, f"Add it to answer_space_ids in {METADATA}, or correct it.") from None


def _index(line: JsonObject) -> int:
    index = line.values.get("answer_idx")
    if index is None:
        raise line.fault("neither answer_idx nor a usable obj_id or obj_label", "Say which option is right.")
    if not isinstance(index, int) or isinstance(index, bool):
        raise line.fault(f"answer_idx is {index!r:.80}", "Give it a whole number, counted from 0.")
    return index


def _tags(description: JsonObject, answers: list[int], info: JsonObject | None) -> dict[str, TagValue]:
    tags: dict[str, TagValue] = {"cardinality": _cardinality(description, answers)}
    domains = info.texts("domains") if info else ()
    if domains:
        tags["domain"] = tuple(dict.fromkeys(domains))
    return tags


def _cardinality(description: JsonObject, answers: list[int]) -> str:
    declared = description.optional_text("cardinality")
    if not declared:
        return SINGLE if len(set(answers)) == len(answers) else MULTIPLE
    if declared not in (SINGLE, MULTIPLE):
        raise description.fault(f"cardinality {declared!r:.80} is unknown", f"Write {SINGLE!r} or {MULTIPLE!r}.")
    return declared
