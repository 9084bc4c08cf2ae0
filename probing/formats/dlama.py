"""DLAMA (methods 4): `<pair>/dlama/<language>/<predicate>_*.jsonl`, as a folder or as the archive itself.

`dlama_raw/` holds the same before objects were augmented; the older releases say `cultlama`. The templates lie in
`templates/<language>/templates.jsonl`, the questions in `templates/questions.json`, in the folder or near it. What
has no template is left out, and the benchmark's notes say how much.
"""

import re
import tarfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from probing.benchmark import Benchmark, Item, Relation, Tags
from probing.errors import BadBenchmark
from probing.formats.files import JsonObject, digest_of, parse_lines, parse_object
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

FACTS = re.compile(
    r"(?:.*/)?(?P<pair>[\w-]+)/\w*lama(?P<raw>_raw)?/(?P<language>[\w-]+)/(?P<predicate>P\d+)(?P<region>_\w+)?\.jsonl"
)
PATTERN = "*/*lama*/*/P*.jsonl"
ARCHIVES = (".tar.gz", ".tgz")
TEMPLATES, TEMPLATE_FILE, QUESTIONS = "templates", "templates.jsonl", "questions.json"
LARGEST = 500_000_000  # bytes, unpacked; the largest release known to us has 30 million
QUESTION_SLOT = "{}"
SPEECHLESS = "no template in"
UNTOLD = "a label or the culture is missing"

# Spelled as in published figures; releases differ in where they put a hyphen or an underscore.
PAIRS = ("arab-west", "asia-west", "south-america-west")

# Looked for in this order in a file's name or a line's uuid: SOUTH_AMERICA first, for NORTH_AMERICA is West.
CULTURES = {"SOUTH_AMERICA": "South America", "ARAB": "Arab", "ASIA": "Asia", "JAPAN": "Asia", "CHINA": "Asia"}
WEST = "West"


class Version(NamedTuple):
    """One way in which a predicate is asked."""

    predicate: str
    pair: str
    language: str
    objects: str

    @property
    def id(self) -> str:
        return ".".join(self if self.objects == "raw" else self[:3])


@dataclass(frozen=True)
class Fact:
    """A line: a subject with its valid objects, label by id."""

    subject_id: str
    subject: str
    objects: Mapping[str, str]
    culture: str


@dataclass(frozen=True)
class Wordings:
    """How facts are put: templates and questions by language and predicate, a system message by language."""

    templates: Mapping[tuple[str, str], str]
    questions: Mapping[tuple[str, str], str]
    systems: Mapping[str, str]


def fits(path: Path) -> bool:
    """Whether it is an archive, or a folder with pairs or with an archive and templates."""
    archive = path.name.endswith(ARCHIVES) or ((path / TEMPLATES).is_dir() and bool(_archives(path)))
    return archive or any(path.glob(PATTERN))


def read(path: Path) -> Benchmark:
    """One relation for each predicate, pair, language and kind of objects; cultures take turns among its items."""
    place = _place(path)
    facts = _unpacked(place) if place.is_file() else _listed(place)
    templates = _templates_folder(path)
    wording_files = sorted([*templates.glob(f"*/{TEMPLATE_FILE}"), *templates.glob(QUESTIONS)])
    texts = {file.relative_to(templates).as_posix(): file.read_bytes() for file in wording_files}
    found = digest_of([*facts.items(), *((f"{TEMPLATES}/{name}", content) for name, content in texts.items())])
    files = ((place,) if place.is_file() else tuple(place / name for name in facts)) + tuple(wording_files)
    left_out: Counter[str] = Counter()
    relations = tuple(_relations(facts, _wordings(texts), left_out))
    if not relations:
        raise BadBenchmark(f"{path.name}: no predicate has a template.", f"Add it to <language>/{TEMPLATE_FILE}.")
    name = path.resolve().name.lower().split(".")[0]
    notes = tuple(f"Items left out, {why}: {items:,}." for why, items in left_out.items())
    return Benchmark(name, found[:12], found, relations, files=files, probe="ranking", notes=notes)


def _place(path: Path) -> Path:
    """The archive, or the folder that the pairs lie in."""
    if path.is_file():
        return path
    if any(path.glob(PATTERN)):
        return path
    archives = _archives(path)
    if len(archives) != 1:
        step = "Give the folder that holds <pair>/dlama/<language>/, or the archive."
        raise BadBenchmark(f"{path} holds no facts of DLAMA.", step)
    return archives[0]


def _archives(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.name.endswith(ARCHIVES))


def _listed(folder: Path) -> dict[str, bytes]:
    """The files of facts, by their path below the folder."""
    paths = sorted(path for path in folder.glob(PATTERN) if path.is_file())
    if sum(path.stat().st_size for path in paths) > LARGEST:
        raise BadBenchmark(f"{folder.name} is larger than {LARGEST:,} bytes.", "Leave out what is not asked.")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _unpacked(archive: Path) -> dict[str, bytes]:
    """The same from an archive, whose members are read and never written anywhere."""
    found: dict[str, bytes] = {}
    total = 0
    try:
        with tarfile.open(archive, "r|gz") as members:
            for member in members:
                total += member.size
                if total > LARGEST:
                    raise BadBenchmark(f"{archive.name} unpacks to more than {LARGEST:,} bytes.", "Shorten it.")
                file = members.extractfile(member) if member.isfile() and FACTS.fullmatch(member.name) else None
                if file:
                    found["/".join(PurePosixPath(member.name).parts[-4:])] = file.read()
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise BadBenchmark(f"{archive.name} cannot be unpacked ({error}).", "Download it again.") from error
    return dict(sorted(found.items()))


def _templates_folder(path: Path) -> Path:
    near = [place / TEMPLATES for place in (path, *path.resolve().parents[:1]) if (place / TEMPLATES).is_dir()]
    if not near:
        step = f"Put {TEMPLATES}/<language>/{TEMPLATE_FILE} into it or beside it."
        raise BadBenchmark(f"There are no templates for {path.name}.", step)
    return near[0]


def _wordings(files: Mapping[str, bytes]) -> Wordings:
    templates = {
        (PurePosixPath(name).parent.name, line.text("relation")): _template(line)
        for name, content in files.items()
        if name != QUESTIONS
        for line in parse_lines(content, f"{TEMPLATES}/{name}")
    }
    asked = parse_object(files[QUESTIONS], QUESTIONS) if QUESTIONS in files else JsonObject({}, QUESTIONS)
    questions = {
        (language, predicate): text
        for predicate, by_language in _member(asked, "questions").items()
        for language, text in _texts(by_language, f"{QUESTIONS}, {predicate}").items()
    }
    for (_, predicate), text in questions.items():
        if text.count(QUESTION_SLOT) != 1:
            step = f"Put {QUESTION_SLOT} where the subject belongs."
            raise asked.fault(f"the question of {predicate} must have {QUESTION_SLOT} once", step)
    systems = _texts(_member(asked, "system_message"), f"{QUESTIONS}, system_message")
    return Wordings(templates, questions, systems)


def _template(line: JsonObject) -> str:
    template = line.text("template")
    for slot in (SUBJECT_SLOT, ANSWER_SLOT):
        if template.count(slot) != 1:
            raise line.fault(f"the template must have {slot} once", "Correct it.")
    return template


def _member(whole: JsonObject, name: str) -> Mapping[str, object]:
    value = whole.values.get(name, {})
    if not isinstance(value, dict):
        raise whole.fault(f"{name!r} is not a JSON object", "Write it as {...}.")
    return value


def _texts(value: object, place: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise BadBenchmark(f"{place}: not a JSON object.", "Write it as {...}.")
    inner = JsonObject(value, place)
    return {name: inner.text(name) for name in value}


def _relations(facts: Mapping[str, bytes], wordings: Wordings, left_out: Counter[str]) -> Iterator[Relation]:
    """Items are numbered through all relations of a predicate, in the order of the files.

    `left_out` gets the number of those that cannot be asked, by reason.
    """
    versions: dict[Version, list[str]] = defaultdict(list)
    for name in facts:
        versions[_version(name)].append(name)
    begin: dict[str, int] = defaultdict(int)
    for version in sorted(versions, key=_order):
        if (version.language, version.predicate) not in wordings.templates:
            left_out[f"{SPEECHLESS} {version.language}"] += sum(len(facts[n].splitlines()) for n in versions[version])
            continue
        lines = [fact for name in versions[version] for fact in _facts(facts[name], name)]
        if told := [fact for fact in lines if fact]:
            yield _relation(version, told, begin[version.predicate], wordings)
            begin[version.predicate] += len(told)
        if untold := len(lines) - len(told):
            left_out[UNTOLD] += untold


def _version(name: str) -> Version:
    match = FACTS.fullmatch(name)
    if not match:
        raise BadBenchmark(f"{name} is no file of DLAMA.", "Name it <pair>/dlama/<language>/<predicate>_<...>.jsonl.")
    objects = "raw" if match["raw"] else "augmented"
    return Version(match["predicate"], pair_named(match["pair"]), match["language"], objects)


def pair_named(text: str) -> str:
    """A culture pair in one spelling: southamerica_west is south-america-west."""
    written = text.lower().replace("_", "-")
    return next((pair for pair in PAIRS if pair.replace("-", "") == written.replace("-", "")), written)


def _order(version: Version) -> tuple[str, str, str, int]:
    """By pair, objects, language; predicates by number."""
    return version.pair, version.objects, version.language, int(version.predicate[1:])


def _facts(content: bytes, name: str) -> Iterator[Fact | None]:
    """The lines of a file; None for those without labels, or of no culture: they say nothing that can be asked."""
    match = FACTS.fullmatch(name)
    region = (match and match["region"]) or ""
    for line in parse_lines(content, name):
        labels = _several(line, "obj_label")
        labelled = labels and not any(map(_blank, (line.values.get("sub_label"), *labels)))
        placed = region or isinstance(line.values.get("uuid"), str)
        yield _fact(line, region) if labelled and placed else None


def _several(line: JsonObject, name: str) -> Sequence[object]:
    value = line.values.get(name, [])
    return value if isinstance(value, list) else [value]


def _blank(label: object) -> bool:
    return label is None or (isinstance(label, str) and not label.strip())


def _fact(line: JsonObject, region: str) -> Fact:
    lists = {name: _several(line, name) for name in ("obj_uri", "obj_label")}
    ids, labels = (JsonObject({**line.values, **lists}, line.place).texts(name) for name in lists)
    if len(ids) != len(labels):
        raise line.fault(f"{len(ids)} obj_uri but {len(labels)} obj_label", "Make the two lists equally long.")
    return Fact(
        line.text("sub_uri"), line.text("sub_label"), dict(zip(ids, labels, strict=True)), _culture(line, region)
    )


def _culture(line: JsonObject, region: str) -> str:
    """The one that the line names; else from the file's name if it has a region, else from the line's uuid."""
    if line.values.get("culture") is not None:
        return line.text("culture")
    words = region or line.text("uuid")
    return next((culture for word, culture in CULTURES.items() if word in words), WEST)


def _relation(version: Version, facts: Sequence[Fact], first: int, wordings: Wordings) -> Relation:
    """The candidates are the distinct labels of all valid objects of both cultures, sorted."""
    ids: dict[str, set[str]] = defaultdict(set)
    cultures: dict[str, set[str]] = defaultdict(set)
    for fact in facts:
        for id_, label in fact.objects.items():
            ids[label].add(id_)
            cultures[label].add(fact.culture)
    labels = sorted(ids)
    place = {label: index for index, label in enumerate(labels)}
    items = [_item(first + index, fact, place) for index, fact in enumerate(facts)]
    wording = version.language, version.predicate
    question = wordings.questions.get(wording)
    return Relation(
        id=version.id,
        templates=(wordings.templates[wording],),
        answer_space=tuple(labels),
        items=_in_turns(items),
        answer_ids=tuple(min(ids[label], key=natural) for label in labels),
        tags={
            "culture_pair": version.pair,
            "language": version.language,
            "predicate": version.predicate,
            "objects": version.objects,
        },
        answer_tags=tuple({"culture": tuple(sorted(cultures[label]))} for label in labels),
        questions=(question.replace(QUESTION_SLOT, SUBJECT_SLOT),) if question else (),
        system=wordings.systems.get(version.language, ""),
    )


def _item(index: int, fact: Fact, place: Mapping[str, int]) -> Item:
    answers = tuple(sorted({place[label] for label in fact.objects.values()}))
    tags: Tags = {"culture": fact.culture}
    return Item(index, fact.subject, answers, fact.subject_id, tags)


def _in_turns(items: Sequence[Item]) -> tuple[Item, ...]:
    """Cultures alternate, so that the first items of a relation are of both."""
    by_culture: dict[object, list[Item]] = defaultdict(list)
    for item in items:
        by_culture[item.tags["culture"]].append(item)
    turns = zip_longest(*by_culture.values())
    return tuple(item for item in chain.from_iterable(turns) if item is not None)


def natural(id_: str) -> tuple[str, int, str]:
    """Q9 comes before Q10."""
    digits = re.search(r"\d+", id_)
    return (id_[: digits.start()], int(digits[0]), id_) if digits else (id_, 0, id_)
