"""DLAMA (methods 4): `<pair>/dlama/<language>/<predicate>_*.jsonl`, as a folder or as the archive itself.

`dlama_raw/` holds the same facts before objects were augmented; older releases say `cultlama`. The templates are in
`templates/<language>/templates.jsonl`, the questions in `templates/questions.json`, in the folder or beside it. Facts
without a template are left out, and the benchmark's notes tell how many.

Answers that count as one are named in a TOML file of the user's: `Islam = ["Q432", "Muslim"]`, by their ids or labels.
"""

import re
import tarfile
import tomllib
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from probing.benchmark import Benchmark, Item, Relation, Tags
from probing.errors import BadBenchmark, BadInput
from probing.formats.lama import verbatim
from probing.formats.own_wordings import QUESTION_SLOT, QUESTIONS_FILE, SOURCE_KEY, TEMPLATE_FILE, source_note
from probing.formats.reading import JsonObject, by_relation, digest_of, parse_lines, parse_object, template_text
from probing.template import SUBJECT_SLOT

# The keys of a fact that are read.
FACT_KEYS = frozenset({"sub_uri", "sub_label", "obj_uri", "obj_label", "culture", "uuid"})
# The region in capitals that ends a file's name or, before a running number, a line's uuid.
REGION = re.compile(r"_([A-Z]{2}[A-Z0-9_]*?)(?:_\d+)?\Z")
# Reasons why items are left out.
WITHOUT_TEMPLATE = "no template in"
WITHOUT_LABEL_OR_CULTURE = "a label or the culture is missing"
# Spelled as in published figures; releases differ in their hyphens and underscores.
CULTURE_PAIRS = ("arab-west", "asia-west", "south-america-west")
# A release may hold the raw objects beside the augmented ones.
USUAL_TAGS = {"objects": "augmented"}
# Searched in this order in the name of a region; the other regions, such as NORTH_AMERICA, are the West.
CULTURES = {"SOUTH_AMERICA": "South America", "ARAB": "Arab", "ASIA": "Asia", "JAPAN": "Asia", "CHINA": "Asia"}
WEST = "West"
FACTS_PATH = re.compile(
    r"(?:.*/)?(?P<pair>[\w-]+)/\w*lama(?P<raw>_raw)?/(?P<language>[\w-]+)/(?P<predicate>P\d+)(?P<region>_\w+)?\.jsonl"
)
FACTS_GLOB = "*/*lama*/*/P*.jsonl"
ARCHIVES = (".tar.gz", ".tgz")
TEMPLATES_FOLDER = "templates"
LARGEST_RELEASE = 500_000_000  # bytes, unpacked; the largest release that we know has 30 million
# The keys of the file of questions that are read.
QUESTIONS_KEYS = frozenset({"questions", "system_message"})
WORDING_MATTERS = "Compare figures only with those of the same templates."
HOW_TO_WRITE = 'Write lines such as: Islam = ["Q432", "Muslim"].'

RightObjects = tuple[tuple[int, ...], tuple[str, ...]]  # right answers as indices into the options, and their ids


def fits(path: Path) -> bool:
    """Return whether it is an archive, or a folder with pairs, or one with an archive and templates."""
    archive = path.name.endswith(ARCHIVES) or ((path / TEMPLATES_FOLDER).is_dir() and bool(archives_in(path)))
    return archive or any(path.glob(FACTS_GLOB))


def read(path: Path) -> Benchmark:
    """Read one relation for each predicate, pair, language and kind of objects; its items alternate by culture."""
    source = facts_source(path)
    facts = fact_files(source)
    templates = templates_folder(path)
    wording_files = sorted([*templates.glob(f"*/{TEMPLATE_FILE}"), *templates.glob(QUESTIONS_FILE)])
    texts = {file.relative_to(templates).as_posix(): file.read_bytes() for file in wording_files}
    sha = digest_of([*facts.items(), *((f"{TEMPLATES_FOLDER}/{name}", content) for name, content in texts.items())])
    files = ((source,) if source.is_file() else tuple(source / name for name in facts)) + tuple(wording_files)
    left_out: Counter[str] = Counter()
    relations = tuple(_relations(facts, read_wordings(texts), left_out))
    if not relations:
        raise BadBenchmark(f"{path.name}: no predicate has a template.", f"Add it to <language>/{TEMPLATE_FILE}.")
    name = path.resolve().name.lower().split(".")[0]
    notes = [f"Items left out, {reason}: {items:,}." for reason, items in left_out.items()]
    notes += source_notes(template_lines(texts), relations)
    further = ("answering",) if any(relation.questions for relation in relations) else ()
    benchmark = Benchmark(name, sha[:12], sha, relations, files=files, notes=tuple(notes), usual_tags=USUAL_TAGS)
    return verbatim(replace(benchmark, probe="ranking", further_probes=further))


# A line: the id and name of a subject, the labels of its valid objects by id, and its culture.
DlamaFact = tuple[str, str, Mapping[str, str], str]
# Templates and questions by language and predicate, and a system message by language.
Wordings = tuple[Mapping[tuple[str, str], str], Mapping[tuple[str, str], str], Mapping[str, str]]


class Version(NamedTuple):
    """A predicate in one culture pair, language and kind of objects: each version becomes a relation."""

    predicate: str
    pair: str
    language: str
    objects: str

    @property
    def id(self) -> str:
        return ".".join(self if self.objects == "raw" else self[:3])


def _relations(facts: Mapping[str, bytes], wordings: Wordings, left_out: Counter[str]) -> Iterator[Relation]:
    """Yield the relations of all versions that have a template.

    Items are numbered through all relations of a predicate, in the order of the files. The numbers of items that
    cannot be used are added to `left_out`, by reason.
    """
    versions: dict[Version, list[str]] = defaultdict(list)
    for name in facts:
        versions[_version_of_file(name)].append(name)
    begin: dict[str, int] = defaultdict(int)
    for version in sorted(versions, key=_page_order):
        if (version.language, version.predicate) not in wordings[0]:
            lines = sum(len(facts[name].splitlines()) for name in versions[version])
            left_out[f"{WITHOUT_TEMPLATE} {version.language}"] += lines
            continue
        read = [fact for name in versions[version] for fact in _read_facts(facts[name], name)]
        if usable := [fact for fact in read if fact]:
            yield _relation(version, usable, begin[version.predicate], wordings)
            begin[version.predicate] += len(usable)
        if unusable := len(read) - len(usable):
            left_out[WITHOUT_LABEL_OR_CULTURE] += unusable


def _version_of_file(name: str) -> Version:
    match = FACTS_PATH.fullmatch(name)
    if not match:
        raise BadBenchmark(
            f"{name} is not a file of DLAMA.", "Name it <pair>/dlama/<language>/<predicate>_<...>.jsonl."
        )
    objects = "raw" if match["raw"] else "augmented"
    return Version(match["predicate"], pair_named(match["pair"]), match["language"], objects)


def pair_named(text: str) -> str:
    """Return the name of a culture pair in one spelling: southamerica_west is south-america-west."""
    plain = text.lower().replace("_", "-")
    return next((pair for pair in CULTURE_PAIRS if pair.replace("-", "") == plain.replace("-", "")), plain)


def _page_order(version: Version) -> tuple[str, str, str, int]:
    return version.pair, version.objects, version.language, int(version.predicate[1:])


def _read_facts(content: bytes, name: str) -> Iterator[DlamaFact | None]:
    """Yield the fact of each line of a file, or None if it has no labels or no culture and cannot be used."""
    match = FACTS_PATH.fullmatch(name)
    file_region = _region((match and match["region"]) or "")
    for line in parse_lines(content, name):
        line.refuse_misspelt_keys(FACT_KEYS)
        labels = values_of(line, "obj_label")
        has_labels = labels and not any(map(_is_blank, (line.values.get("sub_label"), *labels)))
        culture = _culture_of(line, file_region)
        yield _fact(line, culture) if has_labels and culture else None


def values_of(line: JsonObject, name: str) -> Sequence[object]:
    """Return the values of a field that holds a list or, in older releases, a single value."""
    value = line.values.get(name, [])
    return value if isinstance(value, list) else [value]


def _is_blank(label: object) -> bool:
    return label is None or (isinstance(label, str) and not label.strip())


def _fact(line: JsonObject, culture: str) -> DlamaFact:
    lists = {name: values_of(line, name) for name in ("obj_uri", "obj_label")}
    ids, labels = (JsonObject({**line.values, **lists}, line.location).texts(name) for name in lists)
    if len(ids) != len(labels):
        raise line.fault(f"{len(ids)} obj_uri but {len(labels)} obj_label", "Make the two lists equally long.")
    objects = dict(zip(ids, labels, strict=True))
    return line.text("sub_uri"), line.text("sub_label"), objects, culture


def _culture_of(line: JsonObject, file_region: str) -> str:
    """Return the line's field `culture`; else that of the file's region, else that of the region in the line's uuid.

    Returns an empty text where none of them says what the culture is.
    """
    if line.values.get("culture") is not None:
        return line.text("culture")
    uuid = line.values.get("uuid")
    region = file_region or (_region(uuid) if isinstance(uuid, str) else "")
    return next((culture for word, culture in CULTURES.items() if word in region), WEST) if region else ""


def _region(text: str) -> str:
    """Return the region that ends the text, such as ARAB_REGION in P36_general_ARAB_REGION_7, or an empty text."""
    match = REGION.search(text)
    return match[1] if match else ""


def _relation(version: Version, facts: Sequence[DlamaFact], first_index: int, wordings: Wordings) -> Relation:
    """Build a relation whose answer space is the sorted distinct labels of all valid objects of both cultures."""
    ids: dict[str, set[str]] = defaultdict(set)
    cultures: dict[str, set[str]] = defaultdict(set)
    for _, _, objects, culture in facts:
        for id_, label in objects.items():
            ids[label].add(id_)
            cultures[label].add(culture)
    labels = sorted(ids)
    position_of = {label: index for index, label in enumerate(labels)}
    tags: dict[str, Tags] = {culture: {"culture": culture} for _, _, _, culture in facts}
    shared = _shared_objects((objects for _, _, objects, _ in facts), position_of)
    items = [
        Item(first_index + index, subject, right, subject_id, tags[culture], object_ids=right_ids)
        for index, ((subject_id, subject, _, culture), (right, right_ids)) in enumerate(zip(facts, shared, strict=True))
    ]
    templates, questions, systems = wordings
    wording = version.language, version.predicate
    question = questions.get(wording)
    return Relation(
        id=version.id,
        templates=(templates[wording],),
        answer_space=tuple(labels),
        items=_alternating(items),
        answer_ids=tuple(min(ids[label], key=natural) for label in labels),
        tags={
            "culture_pair": version.pair,
            "language": version.language,
            "predicate": version.predicate,
            "objects": version.objects,
        },
        answer_tags=tuple({"culture": tuple(sorted(cultures[label]))} for label in labels),
        questions=(question.replace(QUESTION_SLOT, SUBJECT_SLOT),) if question else (),
        system=systems.get(version.language, ""),
    )


def _shared_objects(facts: Iterable[Mapping[str, str]], position_of: Mapping[str, int]) -> Iterator[RightObjects]:
    """Yield the right answers and the ids of the objects of each fact; facts with the same ones have one tuple."""
    shared: dict[RightObjects, RightObjects] = {}
    for labels in facts:
        objects = tuple(sorted({position_of[label] for label in labels.values()})), tuple(labels)
        yield shared.setdefault(objects, objects)


def _alternating(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return the items so that their cultures alternate: then the first items of a relation are of both."""
    by_culture: dict[object, list[Item]] = defaultdict(list)
    for item in items:
        by_culture[item.tags["culture"]].append(item)
    turns = zip_longest(*by_culture.values())
    return tuple(item for item in chain.from_iterable(turns) if item is not None)


def natural(id_: str) -> tuple[str, int, str]:
    """Return a sort key by which Q9 comes before Q10."""
    digits = re.search(r"\d+", id_)
    return (id_[: digits.start()], int(digits[0]), id_) if digits else (id_, 0, id_)


def fact_files(path: Path) -> dict[str, bytes]:
    """Return the content of each file of facts by its path: `<pair>/<kind of objects>/<language>/<file>`."""
    source = facts_source(path)
    return _read_archive(source) if source.is_file() else _read_folder(source)


def facts_source(path: Path) -> Path:
    """Return the archive, or the folder that holds the pairs."""
    if path.is_file():
        return path
    if any(path.glob(FACTS_GLOB)):
        return path
    archives = archives_in(path)
    if len(archives) != 1:
        step = "Give the folder that holds <pair>/dlama/<language>/, or the archive."
        raise BadBenchmark(f"{path} holds no facts of DLAMA.", step)
    return archives[0]


def archives_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.name.endswith(ARCHIVES))


def _read_folder(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.glob(FACTS_GLOB) if path.is_file())
    if sum(path.stat().st_size for path in paths) > LARGEST_RELEASE:
        raise BadBenchmark(
            f"{folder.name} is larger than {LARGEST_RELEASE:,} bytes.",
            "Leave out the languages or pairs that you do not need.",
        )
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _read_archive(archive: Path) -> dict[str, bytes]:
    """Read the files of facts in an archive; nothing of it is written to the disk."""
    contents: dict[str, bytes] = {}
    total = 0
    try:
        with tarfile.open(archive, "r|gz") as members:
            for member in members:
                total += member.size
                if total > LARGEST_RELEASE:
                    raise BadBenchmark(
                        f"{archive.name} unpacks to more than {LARGEST_RELEASE:,} bytes.",
                        "Leave out what you do not need.",
                    )
                file = members.extractfile(member) if member.isfile() and FACTS_PATH.fullmatch(member.name) else None
                if file:
                    contents["/".join(PurePosixPath(member.name).parts[-4:])] = file.read()
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise BadBenchmark(f"{archive.name} cannot be unpacked ({error}).", "Download it again.") from error
    return dict(sorted(contents.items()))


def templates_folder(path: Path) -> Path:
    """Return the folder of templates in the benchmark's folder or beside it; raise `BadBenchmark` if there is none."""
    places = [folder / TEMPLATES_FOLDER for folder in (path, *path.resolve().parents[:1])]
    near = [candidate for candidate in places if candidate.is_dir()]
    if not near:
        step = f"Put {TEMPLATES_FOLDER}/<language>/{TEMPLATE_FILE} into it or beside it."
        raise BadBenchmark(f"There are no templates for {path.name}.", step)
    return near[0]


def read_wordings(files: Mapping[str, bytes]) -> Wordings:
    """Read the contents of the files of templates and questions, by name; raise `BadBenchmark` for a bad question."""
    templates = {key: template_text(line) for key, line in template_lines(files).items()}
    content = files.get(QUESTIONS_FILE, b"{}")
    wordings_file = parse_object(content, QUESTIONS_FILE)
    wordings_file.refuse_misspelt_keys(QUESTIONS_KEYS)
    questions = {
        (language, predicate): text
        for predicate, by_language in _object_field(wordings_file, "questions").items()
        for language, text in _texts(by_language, f"{QUESTIONS_FILE}, {predicate}").items()
    }
    for (_, predicate), text in questions.items():
        if text.count(QUESTION_SLOT) != 1:
            step = f"Put {QUESTION_SLOT} where the subject belongs."
            raise wordings_file.fault(f"the question of {predicate} must have {QUESTION_SLOT} once", step)
    systems = _texts(_object_field(wordings_file, "system_message"), f"{QUESTIONS_FILE}, system_message")
    return templates, questions, systems


def template_lines(files: Mapping[str, bytes]) -> dict[tuple[str, str], JsonObject]:
    return {
        (PurePosixPath(name).parent.name, predicate): line
        for name, content in files.items()
        if name != QUESTIONS_FILE
        for predicate, line in by_relation(parse_lines(content, f"{TEMPLATES_FOLDER}/{name}")).items()
    }


def _object_field(wordings_file: JsonObject, name: str) -> Mapping[str, object]:
    value = wordings_file.values.get(name, {})
    if not isinstance(value, dict):
        raise wordings_file.fault(f"{name!r} is not a JSON object", "Write it as {...}.")
    return value


def _texts(value: object, location: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise BadBenchmark(f"{location}: not a JSON object.", "Write it as {...}.")
    inner = JsonObject(value, location)
    return {name: inner.text(name) for name in value}


def source_notes(templates: Mapping[tuple[str, str], JsonObject], relations: Sequence[Relation]) -> list[str]:
    """Return a sentence for each source that lines of templates name: figures depend on who worded the templates."""
    used = sorted({(str(relation.tags["language"]), relation.label) for relation in relations})
    sources = Counter((templates[key].optional_text(SOURCE_KEY), key[0]) for key in used)
    counts: dict[str, list[str]] = defaultdict(list)
    for (source, language), count in sources.items():
        if source:
            counts[source].append(f"{count} in {language}")
    return [f"{source_note(source)}{', '.join(texts)}. {WORDING_MATTERS}" for source, texts in counts.items()]


def read_merged(path: Path) -> dict[str, str]:
    """Read a file of answers that count as one (`parse_merged`); raise `BadInput` where it is none."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}).", HOW_TO_WRITE) from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path.name} is not TOML ({error}).", HOW_TO_WRITE) from error
    return parse_merged(text, path.name)


def parse_merged(text: str, source: str) -> dict[str, str]:
    """Return the common name of each id and label; labels are in small letters (`merged_key`).

    `text`: TOML with a list of answers for each common name. `source` names it in errors: raises `BadInput`.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{source} is not TOML ({error}).", HOW_TO_WRITE) from error
    names: dict[str, str] = {}
    for name, answers in content.items():
        if not isinstance(answers, list) or not answers or not all(isinstance(answer, str) for answer in answers):
            raise BadInput(f"{source}: {name} is no list of texts.", HOW_TO_WRITE)
        for answer in (name, *answers):
            key = merged_key(answer)
            if names.setdefault(key, name) != name:
                raise BadInput(f"{source}: {answer!r:.80} counts as {names[key]} and as {name}.", "Keep one of them.")
    return names


def merged_key(answer: str) -> str:
    return answer.strip().casefold()


def common_name(merged: Mapping[str, str], *answers: str) -> str | None:
    """Return the common name of an answer that is known by these ids and labels, or None if it has none."""
    return next((merged[key] for key in map(merged_key, answers) if key in merged), None)
