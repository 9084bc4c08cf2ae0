"""mLAMA: `<language>/templates.jsonl` beside `<language>/P17.jsonl` and so on, in the folder or in one folder below it.

This is the layout of the authors' archive mlama1.1.zip, of which the part from T-REx is read, with which the paper on
DLAMA compares (section 5, Table 1). Candidates of a predicate are the distinct objects of its triples in the language
of the prompts. Languages without templates are left out.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadBenchmark
from probing.formats.dlama import LARGEST_RELEASE, natural
from probing.formats.lama import verbatim
from probing.formats.own_wordings import TEMPLATE_FILE
from probing.formats.reading import JsonObject, digest_of, parse_lines
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

LISTS = "P*.jsonl"
# The keys that are read of a triple.
TRIPLE_KEYS = frozenset({"sub_uri", "sub_label", "obj_uri", "obj_label"})
# Reasons why triples are left out.
WITHOUT_TEMPLATE = "no template with both slots in"
WITHOUT_LABEL = "a label is missing"


def fits(folder: Path) -> bool:
    """Return whether a language has both templates and triples."""
    return _languages_folder(folder) is not None


def read(folder: Path) -> Benchmark:
    """Read one relation for each predicate and language, one item from each triple that has both labels."""
    parent = _languages_folder(folder)
    if parent is None:
        step = f"Give the folder that holds <language>/{TEMPLATE_FILE} and <language>/P17.jsonl."
        raise BadBenchmark(f"{folder} holds no triples of mLAMA.", step)
    languages = _languages(parent)
    files = tuple(path for language in languages for path in (language / TEMPLATE_FILE, *_lists(language)))
    if sum(path.stat().st_size for path in files) > LARGEST_RELEASE:
        raise BadBenchmark(f"{folder.name} is larger than {LARGEST_RELEASE:,} bytes.", "Leave out some languages.")
    left_out: Counter[str] = Counter()
    relations = tuple(_relations(languages, left_out))
    if not relations:
        raise BadBenchmark(f"{folder.name}: no predicate has a template.", f"Add it to <language>/{TEMPLATE_FILE}.")
    sha = digest_of((path.relative_to(parent).as_posix(), path.read_bytes()) for path in files)
    notes = tuple(f"Items left out, {reason}: {items:,}." for reason, items in left_out.items())
    name = parent.resolve().name.lower().split(".")[0]
    return verbatim(Benchmark(name, sha[:12], sha, relations, files=files, probe="ranking", notes=notes))


def _languages_folder(folder: Path) -> Path | None:
    """Return the folder of languages: the given one or the only one below it that holds languages."""
    inner = sorted(path for path in folder.glob("*") if path.is_dir()) if folder.is_dir() else []
    places = [
        candidate
        for candidate in (folder, *inner)
        if any(_lists(path.parent) for path in candidate.glob(f"*/{TEMPLATE_FILE}"))
    ]
    return places[0] if len(places) == 1 else None


def _languages(folder: Path) -> list[Path]:
    return [path.parent for path in sorted(folder.glob(f"*/{TEMPLATE_FILE}"))]


def _lists(language: Path) -> list[Path]:
    return sorted((path for path in language.glob(LISTS) if path.is_file()), key=lambda path: natural(path.stem))


def _relations(languages: Sequence[Path], left_out: Counter[str]) -> Iterator[Relation]:
    """Yield the relations of all languages; items are numbered through the languages of a predicate.

    The numbers of triples that cannot be used are added to `left_out`, by reason.
    """
    begin: dict[str, int] = defaultdict(int)
    for language in languages:
        templates = _templates(language / TEMPLATE_FILE)
        for path in _lists(language):
            triples = parse_lines(path.read_bytes(), f"{language.name}/{path.name}")
            if path.stem not in templates:
                left_out[f"{WITHOUT_TEMPLATE} {language.name}"] += len(triples)
                continue
            usable = [triple for triple in triples if _has_labels(triple)]
            if unusable := len(triples) - len(usable):
                left_out[WITHOUT_LABEL] += unusable
            if usable:
                yield _relation(path.stem, language.name, templates[path.stem], usable, begin[path.stem])
                begin[path.stem] += len(usable)


def _templates(path: Path) -> dict[str, str]:
    """Return predicate -> template; templates without both slots, which a translator may have lost, are passed over."""
    lines = parse_lines(path.read_bytes(), f"{path.parent.name}/{path.name}")
    texts = {line.text("relation"): line.values.get("template") for line in lines}
    return {
        predicate: text
        for predicate, text in texts.items()
        if isinstance(text, str) and (text.count(SUBJECT_SLOT), text.count(ANSWER_SLOT)) == (1, 1)
    }


def _has_labels(triple: JsonObject) -> bool:
    triple.refuse_misspelt_keys(TRIPLE_KEYS)
    labels = (triple.values.get(name) for name in ("sub_label", "obj_label"))
    return all(isinstance(label, str) and label.strip() for label in labels)


def _relation(predicate: str, language: str, template: str, triples: Sequence[JsonObject], begin: int) -> Relation:
    ids: dict[str, set[str]] = defaultdict(set)
    for triple in triples:
        ids[triple.text("obj_label")].add(triple.text("obj_uri"))
    labels = sorted(ids)
    position_of = {label: index for index, label in enumerate(labels)}
    items = (
        Item(
            begin + index,
            triple.text("sub_label"),
            (position_of[triple.text("obj_label")],),
            triple.text("sub_uri"),
            object_ids=(triple.text("obj_uri"),),
        )
        for index, triple in enumerate(triples)
    )
    return Relation(
        id=f"{predicate}.{language}",
        templates=(template,),
        answer_space=tuple(labels),
        items=tuple(items),
        answer_ids=tuple(min(ids[label], key=natural) for label in labels),
        tags={"language": language, "predicate": predicate},
    )
