"""Knowledge graphs (methods 3.1): WN18RR and FB15k-237 as they are distributed, and a general form.

A folder holds, each plain or gzipped:
- `relation_mapping.json`: for each relation a sentence with `{HEAD}` and `{TAIL}`;
- `train`, `valid` and `test` (whichever are there) or `triples`: head, relation, tail; `.txt` or `.tsv` with tabs,
  or `.csv`;
- names, in one of three ways: `entities.tsv` or `entities.csv` (id, name, any number of categories);
  `entity2wikidata.json` (FB15k-237); nothing, where entities are WordNet synsets such as `land_reform.n.01`;
- `sampling.json`, if the sample should be another than the default (fields of `probing.statements.sampling.Sampling`);
- `sentences.jsonl`, if the sample was drawn before: then that is the benchmark, and no triples are needed.
"""

import csv
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadBenchmark
from probing.formats.files import JsonObject, digest, present, read_object, text_lines
from probing.formats.graph_sample import SAMPLING, SENTENCES, read_sampling, read_sentences
from probing.statements.graph import HEAD_SLOT, TAIL_SLOT, Graph, Triple
from probing.statements.sampling import Sentence, draw
from probing.template import ANSWER_SLOT

TEMPLATES = "relation_mapping.json"
SPLITS = ("train", "valid", "test")
TRIPLES = [f"{name}{suffix}" for name in (*SPLITS, "triples") for suffix in (".txt", ".tsv", ".csv")]
ENTITIES = ("entities.tsv", "entities.csv")
WIKIDATA = "entity2wikidata.json"
SYNSET = re.compile(r"(?P<name>[^.].*?)\..*[nvasr]\.\d+")

NAMELESS = "an entity has no name"
SPEECHLESS = "the relation has no template"
SLOTLESS = "the relation's template has not each slot once"


@dataclass(frozen=True)
class Entities:
    """`strict`: whether a triple with an unknown entity or relation is a fault; else it is left out and counted."""

    names: Mapping[str, str] | None = None
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    strict: bool = False

    def name(self, entity: str) -> str:
        """The entity's name, empty where it has none."""
        if self.names is not None:
            return self.names.get(entity, "")
        synset = SYNSET.fullmatch(entity)
        return synset["name"].replace("_", " ") if synset else ""


def read(folder: Path) -> Benchmark:
    """The statements of the folder's sample, by relation; one option each, the whole statement."""
    inner = _graph_folder(folder)
    templates = read_object(_needed(inner, TEMPLATES))
    files = graph_files(inner)
    plan = read_sampling(inner)
    if stored := present(inner, SENTENCES):
        sentences, notes = read_sentences(stored), plan.notes
    else:
        graph = read_graph(inner)
        sentences, notes = draw(graph, plan.sampling), (*graph.notes, *plan.notes)
    names = {relation: templates.text(relation) for relation in dict.fromkeys(s.triple.relation for s in sentences)}
    found = _digest(files, sentences)
    return Benchmark(
        slug=inner.resolve().name.lower(),
        version="+".join([*_some_splits(files), found[:12]]),
        digest=found,
        relations=_relations(names, sentences),
        probe="perplexity",
        files=files,
        notes=notes,
    )


def read_graph(folder: Path) -> Graph:
    """The graph itself: all splits that are there, merged; a triple that comes twice counts once."""
    inner = _graph_folder(folder)
    templates, entities = read_object(_needed(inner, TEMPLATES)), read_entities(inner)
    spoken = {name: templates.text(name) for name in templates.values}
    faulty = {name for name, text in spoken.items() if (text.count(HEAD_SLOT), text.count(TAIL_SLOT)) != (1, 1)}
    if faulty and entities.strict:
        name = min(faulty)
        raise templates.fault(f"the template of {name!r} must have {HEAD_SLOT} and {TAIL_SLOT} once", "Correct it.")
    return _graph(_triple_files(inner), spoken, faulty, entities)


def _graph(files: Sequence[Path], templates: Mapping[str, str], faulty: set[str], entities: Entities) -> Graph:
    skipped: Counter[str] = Counter()
    triples: dict[Triple, None] = {}
    for path in files:
        for triple, place in _triples(path):
            problem = _problem(triple, templates, faulty, entities)
            if problem and entities.strict:
                raise BadBenchmark(f"{place}: {problem} ({', '.join(triple)}).", "Add it or remove the triple.")
            if problem or triple in triples:
                skipped[problem or "it is there twice"] += 1
            else:
                triples[triple] = None
    if not triples:
        raise BadBenchmark(f"No triple can be used ({_listed(skipped) or 'there is none'}).", "Add triples or names.")
    known = {entity for triple in triples for entity in (triple.head, triple.tail)}
    return Graph(
        {entity: entities.name(entity) for entity in known},
        templates,
        tuple(triples),
        {entity: several for entity, several in entities.categories.items() if several},
        (f"Read from {', '.join(path.name.removesuffix('.gz') for path in files)}.", *_left_out(skipped)),
    )


def _problem(triple: Triple, templates: Mapping[str, str], faulty: set[str], entities: Entities) -> str:
    """Why the triple cannot be said."""
    if not (entities.name(triple.head) and entities.name(triple.tail)):
        return NAMELESS
    if triple.relation not in templates:
        return SPEECHLESS
    return SLOTLESS if triple.relation in faulty else ""


def _listed(skipped: Counter[str]) -> str:
    return ", ".join(f"{count:,}: {reason}" for reason, count in skipped.items())


def _left_out(skipped: Counter[str]) -> tuple[str, ...]:
    return (f"Triples left out: {_listed(skipped)}.",) if skipped else ()


def graph_files(folder: Path) -> tuple[Path, ...]:
    """Every file of the folder that the benchmark is made from."""
    if stored := present(folder, SENTENCES):
        others = [present(folder, SAMPLING)]
    else:
        others = [present(folder, name) for name in (*TRIPLES, *ENTITIES, WIKIDATA, SAMPLING)]
    return tuple(path for path in (present(folder, TEMPLATES), stored, *others) if path)


def _graph_folder(folder: Path) -> Path:
    """The folder itself or the only one below it that has templates."""
    if not folder.is_dir():
        raise BadBenchmark(f"{folder} is not a folder.", "Give the folder of a graph.")
    if present(folder, TEMPLATES):
        return folder
    inner = sorted({path.parent for path in folder.rglob(f"{TEMPLATES}*")})
    if len(inner) > 1:
        raise BadBenchmark(f"{folder} holds several graphs.", f"Choose {' or '.join(map(str, inner))}.")
    return inner[0] if inner else folder


def _needed(folder: Path, name: str) -> Path:
    return present(folder, name) or folder / name


def _triple_files(folder: Path) -> list[Path]:
    found = [path for path in (present(folder, name) for name in TRIPLES) if path]
    if not found:
        raise BadBenchmark(
            f"There are no triples in {folder}.",
            "Add train.txt, valid.txt, test.txt or triples.tsv: head, relation, tail.",
        )
    return found


def _triples(path: Path) -> Iterator[tuple[Triple, str]]:
    for row, place in _rows(path):
        if len(row) != 3 or not all(row):
            raise BadBenchmark(f"{place}: {len(row)} fields.", "Write head, relation and tail, none of them empty.")
        yield Triple(*row), place


def _rows(path: Path) -> Iterator[tuple[list[str], str]]:
    """The fields of each line that is not empty, without the space around them, and where the line stands."""
    csv_file = path.name.removesuffix(".gz").endswith(".csv")
    for number, line in enumerate(text_lines(path), 1):
        if line.strip():
            row = next(csv.reader([line])) if csv_file else line.split("\t")
            yield [text.strip() for text in row], f"{path.name}, line {number}"


def read_entities(folder: Path) -> Entities:
    if wikidata := present(folder, WIKIDATA):
        content = read_object(wikidata)
        return Entities({entity: _label(content, entity) for entity in content.values})
    lists = [path for path in (present(folder, name) for name in ENTITIES) if path]
    return _entities_list(lists[0]) if lists else Entities(strict=not _synsets(folder))


def _label(content: JsonObject, entity: str) -> str:
    about = content.values[entity]
    label = about.get("label") if isinstance(about, dict) else None
    return label.strip() if isinstance(label, str) else ""


def _synsets(folder: Path) -> bool:
    """Whether the first triple is of WordNet; where it is not, names are missing."""
    first = next(_triples(_triple_files(folder)[0]), None)
    return first is None or all(SYNSET.fullmatch(entity) for entity in (first[0].head, first[0].tail))


def _entities_list(path: Path) -> Entities:
    names: dict[str, str] = {}
    categories: dict[str, tuple[str, ...]] = {}
    for row, place in _rows(path):
        if len(row) < 2 or not (row[0] and row[1]):
            raise BadBenchmark(f"{place}: no id or no name.", "Write id, name and, if you like, categories.")
        if row[0] in names:
            raise BadBenchmark(f"{place}: {row[0]!r:.80} occurs twice.", "Keep it once.")
        names[row[0]], categories[row[0]] = row[1], tuple(filter(None, row[2:]))
    return Entities(names, categories, strict=True)


def _some_splits(files: Sequence[Path]) -> list[str]:
    """The splits that are there, where some are not: such a graph is another than the whole one."""
    found = [name for name in SPLITS if any(path.name.startswith(f"{name}.") for path in files)]
    return found if len(found) < len(SPLITS) else []


def _relations(names: Mapping[str, str], sentences: Sequence[Sentence]) -> tuple[Relation, ...]:
    grouped: dict[str, list[Sentence]] = defaultdict(list)
    for sentence in sentences:
        grouped[sentence.triple.relation].append(sentence)
    ids = {relation: plain_id(relation) for relation in grouped}
    if len(set(ids.values())) < len(ids):
        raise BadBenchmark("Two relations differ only in signs that addresses cannot have.", "Rename one of them.")
    return tuple(
        Relation(ids[relation], (ANSWER_SLOT,), (), _items(of), name=names[relation])
        for relation, of in grouped.items()
    )


def _items(sentences: Sequence[Sentence]) -> tuple[Item, ...]:
    return tuple(
        Item(
            index,
            sentence.text,
            (0,),
            " ".join(sentence.triple),
            {"truth": "true" if sentence.true else "false", "repetitions": tuple(map(str, sentence.repetitions))},
            options=(sentence.text,),
        )
        for index, sentence in enumerate(sentences)
    )


def plain_id(relation: str) -> str:
    """A name for files and addresses: `/film/film/genre` becomes film.film.genre."""
    return re.sub(r"[^\w.-]+", ".", relation, flags=re.ASCII).strip(".") or "relation"


def _digest(files: Sequence[Path], sentences: Sequence[Sentence]) -> str:
    """Of the files and of what was drawn from them: the sample is part of the version."""
    drawn = json.dumps([(s.text, s.triple, s.true, s.repetitions) for s in sentences])
    return hashlib.sha256(f"{digest(files)}\n{drawn}".encode()).hexdigest()
