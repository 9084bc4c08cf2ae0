"""Knowledge graphs (methods 3.1): WN18RR and FB15k-237 as they are distributed, and a general form.

A folder holds, each plain or gzipped:

- `relation_mapping.json`: for each relation a sentence with `{HEAD}` and `{TAIL}`, or a list of several such phrasings,
  as many for every relation;
- `train`, `valid` and `test` (whichever are there) or `triples`: head, relation, tail; `.txt` or `.tsv` with tabs, or
  `.csv`;
- names in one of three forms: `entities.tsv` or `entities.csv` (id, name, any number of categories);
  `entity2wikidata.json` (FB15k-237); nothing, where entities are WordNet synsets such as `land_reform.n.01`;
- `sampling.json`, if statements should not be drawn as by default (fields of
  `probing.statements.graph_statements.Sampling`);
- `sentences.jsonl`, if statements were drawn before: then these are the benchmark, and no triples are needed.
"""

import csv
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from probing.benchmark import LEVEL, TRUTH, TRUTH_VALUES, Benchmark, Item, Relation
from probing.errors import BadBenchmark
from probing.files.folders import new_folder
from probing.formats.canary import FIELD
from probing.formats.reading import PLAN_FILE, JsonObject, digest, present, read_lines, read_object, text_lines
from probing.statements.graph_statements import HEAD_SLOT, TAIL_SLOT, Graph, GraphStatement, Sampling, Triple, draw
from probing.template import ANSWER_SLOT

# Files of a folder, and the field of the second that has remarks for readers.
RELATION_MAPPING = "relation_mapping.json"
SAMPLING, NOTES = "sampling.json", "notes"
SENTENCES = "sentences.jsonl"
# Reasons why triples are left out.
WITHOUT_NAME = "an entity has no name"
WITHOUT_RELATION_TEMPLATE = "the relation has no template"
WITHOUT_SLOTS = "the relation's template has not each slot once"
OTHER_NUMBER = "Give every relation, and every statement, equally many phrasings."
SPLITS = ("train", "valid", "test")
TRIPLE_FILES = [f"{name}{suffix}" for name in (*SPLITS, "triples") for suffix in (".txt", ".tsv", ".csv")]
ENTITIES = ("entities.tsv", "entities.csv")
ENTITY2WIKIDATA = "entity2wikidata.json"
SEPARATORS = "with tabs between them (in a .csv file: commas)"
SYNSET = re.compile(r"(?P<name>[^.].*?)\..*[nvasr]\.\d+")


def fits(folder: Path) -> bool:
    """Return whether the folder, or one below it as in the archive of llmkg, has the relations' templates."""
    return folder.is_dir() and bool(_mapping_folders(folder))


def read(folder: Path) -> Benchmark:
    """Read the statements of the folder's sample by relation; the only option of an item is the whole statement."""
    inner = graph_folder(folder)
    phrasings = read_phrasings(_needed(inner, RELATION_MAPPING))
    files = graph_files(inner)
    sampling, remarks = read_sampling(inner)
    if stored := present(inner, SENTENCES):
        statements, notes = tuple(map(_read_statement, read_lines(stored))), remarks
    else:
        graph = read_graph(inner)
        statements, notes = draw(graph, sampling), (*graph.notes, *remarks)
    relations = dict.fromkeys(statement.triple.relation for statement in statements)
    if unknown := relations.keys() - phrasings.keys():
        raise BadBenchmark(f"{RELATION_MAPPING}: the field {min(unknown)!r} is missing.", "Add it.")
    names = {relation: phrasings[relation][0] for relation in relations}
    sha = _sample_digest(files, statements)
    return Benchmark(
        slug=inner.resolve().name.lower(),
        version="+".join([*_partial_splits(files), sha[:12]]),
        digest=sha,
        relations=_relations(names, statements),
        probe="perplexity",
        files=files,
        notes=(*notes, str(sampling)),
    )


def read_graph(folder: Path, own_phrasings: Path | None = None) -> Graph:
    """Read the graph itself: all splits in the folder, merged; a triple that occurs twice counts once.

    `own_phrasings`: a file that takes the place of the folder's `relation_mapping.json`.
    """
    inner = graph_folder(folder)
    mapping = own_phrasings or _needed(inner, RELATION_MAPPING)
    phrasings, entities = read_phrasings(mapping), read_entities(inner)
    faulty = {name for name, texts in phrasings.items() if not all(map(_has_slots, texts))}
    if faulty and (entities.strict or own_phrasings):
        raise BadBenchmark(
            f"{mapping.name}: the template of {min(faulty)!r} must have {HEAD_SLOT} and {TAIL_SLOT} once.",
            "Correct it.",
        )
    return _build_graph(triple_files(inner), phrasings, faulty, entities)


def read_phrasings(path: Path) -> dict[str, tuple[str, ...]]:
    """Read the phrasings of each relation, of which all relations have the same number."""
    content = read_object(path)
    phrasings = {
        name: content.texts(name) if isinstance(value, list) else (content.text(name),)
        for name, value in content.values.items()
    }
    numbers = {len(texts) for texts in phrasings.values()}
    if len(numbers) > 1 or 0 in numbers:
        raise content.fault(f"relations have {' and '.join(map(str, sorted(numbers)))} phrasings", OTHER_NUMBER)
    return phrasings


def _has_slots(template: str) -> bool:
    return (template.count(HEAD_SLOT), template.count(TAIL_SLOT)) == (1, 1)


@dataclass(frozen=True)
class Entities:
    """Names and categories of entities by id; without `names`, ids are WordNet synsets and hold the names.

    `strict`: if true, a triple with an unknown entity or relation is a fault; else it is left out and counted.
    """

    names: Mapping[str, str] | None = None
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    strict: bool = False

    def name(self, entity: str) -> str:
        """Return the entity's name, or "" if it has none."""
        if self.names is not None:
            return self.names.get(entity, "")
        synset = SYNSET.fullmatch(entity)
        return synset["name"].replace("_", " ") if synset else ""


def _build_graph(
    files: Sequence[Path], phrasings: Mapping[str, tuple[str, ...]], faulty: set[str], entities: Entities
) -> Graph:
    """Return the graph of all triples that can be worded; `faulty`: relations whose template lacks a slot."""
    skipped: Counter[str] = Counter()
    triples: dict[Triple, None] = {}
    for path in files:
        for triple, location in read_triples(path):
            problem = _triple_problem(triple, phrasings, faulty, entities)
            if problem and entities.strict:
                raise BadBenchmark(f"{location}: {problem} ({', '.join(triple)}).", "Add it or remove the triple.")
            if problem or triple in triples:
                skipped[problem or "it is there twice"] += 1
            else:
                triples[triple] = None
    if not triples:
        raise BadBenchmark(
            f"No triple can be used ({_counts_text(skipped) or 'there is none'}).", "Add triples or names."
        )
    used = {entity for triple in triples for entity in (triple.head, triple.tail)}
    return Graph(
        {entity: entities.name(entity) for entity in used},
        phrasings,
        tuple(triples),
        {entity: categories for entity, categories in entities.categories.items() if categories},
        (f"The facts are those of {', '.join(path.name.removesuffix('.gz') for path in files)}.", *_left_out(skipped)),
    )


def _triple_problem(
    triple: Triple, phrasings: Mapping[str, tuple[str, ...]], faulty: set[str], entities: Entities
) -> str:
    if not (entities.name(triple.head) and entities.name(triple.tail)):
        return WITHOUT_NAME
    if triple.relation not in phrasings:
        return WITHOUT_RELATION_TEMPLATE
    return WITHOUT_SLOTS if triple.relation in faulty else ""


def _counts_text(skipped: Counter[str]) -> str:
    return ", ".join(f"{count:,}: {reason}" for reason, count in skipped.items())


def _left_out(skipped: Counter[str]) -> tuple[str, ...]:
    return (f"Triples left out: {_counts_text(skipped)}.",) if skipped else ()


def graph_files(folder: Path) -> tuple[Path, ...]:
    """Return every file of the folder that the benchmark is made from."""
    if stored := present(folder, SENTENCES):
        others = [present(folder, SAMPLING)]
    else:
        others = [present(folder, name) for name in (*TRIPLE_FILES, *ENTITIES, ENTITY2WIKIDATA, SAMPLING)]
    return tuple(path for path in (present(folder, RELATION_MAPPING), stored, *others) if path)


def graph_folder(folder: Path) -> Path:
    """Return the folder itself if it has templates, else the only folder below it that has, as in an archive."""
    if not folder.is_dir():
        raise BadBenchmark(f"{folder} is not a folder.", "Give the folder of a graph.")
    folders = _mapping_folders(folder)
    if len(folders) > 1:
        raise BadBenchmark(f"{folder} holds several graphs.", f"Choose {' or '.join(map(str, folders))}.")
    return folders[0] if folders else folder


def _mapping_folders(folder: Path) -> list[Path]:
    if present(folder, RELATION_MAPPING):
        return [folder]
    return sorted({path.parent for path in folder.rglob(f"{RELATION_MAPPING}*")})


def _needed(folder: Path, name: str) -> Path:
    """Return the file, plain or gzipped, or else the path that messages about the missing file name."""
    return present(folder, name) or folder / name


def _partial_splits(files: Sequence[Path]) -> list[str]:
    """Return the splits in the folder if some are missing: the version tells such a graph from the whole one."""
    splits = [name for name in SPLITS if any(path.name.startswith(f"{name}.") for path in files)]
    return splits if len(splits) < len(SPLITS) else []


def _relations(names: Mapping[str, str], statements: Sequence[GraphStatement]) -> tuple[Relation, ...]:
    grouped: dict[str, list[GraphStatement]] = defaultdict(list)
    for statement in statements:
        grouped[statement.triple.relation].append(statement)
    if len({len(statement.texts) for statement in statements}) > 1:
        raise BadBenchmark("Statements differ in their number of phrasings.", OTHER_NUMBER)
    ids = {relation: plain_id(relation) for relation in grouped}
    if len(set(ids.values())) < len(ids):
        raise BadBenchmark("Two relations differ only in characters that addresses cannot have.", "Rename one of them.")
    return tuple(
        Relation(ids[relation], (ANSWER_SLOT,) * len(part[0].texts), (), _items(part), name=names[relation])
        for relation, part in grouped.items()
    )


def _items(statements: Sequence[GraphStatement]) -> tuple[Item, ...]:
    return tuple(
        Item(
            index,
            statement.texts[0],
            (0,),
            " ".join(statement.triple),
            {
                TRUTH: TRUTH_VALUES[statement.true],
                "repetitions": tuple(map(str, statement.repetitions)),
                **({LEVEL: statement.level} if statement.level else {}),
            },
            options=statement.texts,
            names=(statement.triple.head, statement.triple.tail),
        )
        for index, statement in enumerate(statements)
    )


def plain_id(relation: str) -> str:
    """Return an id for files and addresses: `/film/film/genre` becomes film.film.genre."""
    return re.sub(r"[^\w.-]+", ".", relation, flags=re.ASCII).strip(".") or "relation"


def _sample_digest(files: Sequence[Path], statements: Sequence[GraphStatement]) -> str:
    """Return the SHA-256 of the files and of the statements drawn from them, which are part of the version."""
    # A single phrasing is written as before there were several, so that the versions of benchmarks stay the same.
    texts = [s.texts if len(s.texts) > 1 else s.texts[0] for s in statements]
    sample = json.dumps([(text, s.triple, s.true, s.repetitions) for text, s in zip(texts, statements, strict=True)])
    return hashlib.sha256(f"{digest(files)}\n{sample}".encode()).hexdigest()


def read_entities(folder: Path) -> Entities:
    """Read the names and categories of entities in whichever form the folder has them."""
    if wikidata := present(folder, ENTITY2WIKIDATA):
        content = read_object(wikidata)
        return Entities({entity: _wikidata_label(content, entity) for entity in content.values})
    lists = [path for path in (present(folder, name) for name in ENTITIES) if path]
    return _entities_list(lists[0]) if lists else Entities(strict=not _has_synsets(folder))


def _entities_list(path: Path) -> Entities:
    names: dict[str, str] = {}
    categories: dict[str, tuple[str, ...]] = {}
    for row, location in _lines_of_fields(path):
        if len(row) < 2 or not (row[0] and row[1]):
            step = f"Write id, name and, if you like, categories {SEPARATORS}."
            raise BadBenchmark(f"{location}: no id or no name.", step)
        if row[0] in names:
            raise BadBenchmark(f"{location}: {row[0]!r:.80} occurs twice.", "Keep it once.")
        names[row[0]], categories[row[0]] = row[1], tuple(filter(None, row[2:]))
    return Entities(names, categories, strict=True)


def _wikidata_label(content: JsonObject, entity: str) -> str:
    value = content.values[entity]
    label = value.get("label") if isinstance(value, dict) else None
    return label.strip() if isinstance(label, str) else ""


def _has_synsets(folder: Path) -> bool:
    """Return whether the first triple is of WordNet; the names of other graphs' entities are missing."""
    first = next(read_triples(triple_files(folder)[0]), None)
    return first is None or all(SYNSET.fullmatch(entity) for entity in (first[0].head, first[0].tail))


def triple_files(folder: Path) -> list[Path]:
    """Return the files with triples; raise `BadBenchmark` if there is none."""
    files = [path for path in (present(folder, name) for name in TRIPLE_FILES) if path]
    if not files:
        raise BadBenchmark(
            f"There are no triples in {folder}.",
            "Add train.txt, valid.txt, test.txt or triples.tsv: head, relation, tail.",
        )
    return files


def read_triples(path: Path) -> Iterator[tuple[Triple, str]]:
    """Yield each triple of a file, and its place for messages."""
    for row, location in _lines_of_fields(path):
        if len(row) != 3 or not all(row):
            step = f"Write head, relation and tail {SEPARATORS}."
            problem = "more than three fields" if len(row) > 3 else "head, relation or tail is missing"
            raise BadBenchmark(f"{location}: {problem}.", step)
        yield Triple(*row), location


def _lines_of_fields(path: Path) -> Iterator[tuple[list[str], str]]:
    csv_file = path.name.removesuffix(".gz").endswith(".csv")
    for number, line in enumerate(text_lines(path), 1):
        if line.strip():
            location = f"{path.name}, line {number}"
            row = _comma_separated(line, location) if csv_file else line.split("\t")
            yield [text.strip() for text in row], location


def _comma_separated(line: str, location: str) -> list[str]:
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error as error:  # such as a quote that is not closed, or lines that end as on old Macs
        step = "Close each quote in its line, and end lines with a line feed."
        raise BadBenchmark(f"{location}: not comma-separated ({error}).", step) from error


def read_sampling(folder: Path) -> tuple[Sampling, tuple[str, ...]]:
    """Read how statements are drawn, as by default where the folder does not say, with remarks for readers."""
    path = present(folder, SAMPLING)
    if path is None:
        return Sampling(), ()
    content = read_object(path)
    types = {option.name: type(option.default) for option in fields(Sampling)}
    options: Mapping[str, Any] = {name: value for name, value in content.values.items() if name not in (NOTES, FIELD)}
    for name, value in options.items():
        if name not in types:
            raise content.fault(f"{name!r:.80} is unknown", f"Choose from: {', '.join(types)}.")
        if type(value) is not types[name]:
            raise content.fault(f"{name} cannot be {value!r:.80}", f"Give it a value like {_example(name)}.")
    return Sampling(**options), content.texts(NOTES)


def _example(name: str) -> str:
    return json.dumps(asdict(Sampling())[name])


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
    sampling: Sampling,
    remarks: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Write a benchmark folder with the statements themselves; it appears by one rename, when it is complete.

    `sampling`: how they were drawn. `remarks`: for readers of results, behind those of the graph. `settings`: those of
    a run unless others are chosen, which become the plan of the folder.
    """
    relations = dict.fromkeys(statement.triple.relation for statement in statements)
    templates = {relation: _one_or_list(graph.phrasings[relation]) for relation in relations}
    with new_folder(folder) as new:
        _write_lines(new / RELATION_MAPPING, [templates])
        _write_lines(new / SAMPLING, [{**_stated(sampling), NOTES: [*graph.notes, *remarks]}])
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
