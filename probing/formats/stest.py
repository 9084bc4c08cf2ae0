"""S-TEST folders (methods 2.1): `relations.jsonl` with the templates, one `<relation>.jsonl` of pairs each.

The pairs lie beside it or in `S-TEST/`. Files for other promptings (`P19-cp.jsonl`, `P19-fp.jsonl`) hold the
same pairs and are read as those of their relation; a template for `-cp` is the relation's cascade.
"""

from pathlib import Path

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadBenchmark
from probing.formats.lama import verbatim
from probing.formats.reading import RELATIONS_FILE, JsonObject, by_relation, digest, note_on, read_lines, template_text

PAIRS_FOLDER = "S-TEST"
OFFICIAL_FOLDER = "data"  # where the official repository keeps templates and pairs
LONGEST_LINE = 100_000  # bytes
RELATION_KEYS = frozenset({"relation", "template", "label"})  # that are read
CASCADE, FEW_SHOT = "-cp", "-fp"


def fits(folder: Path) -> bool:
    """Return whether there are templates and a list of pairs; LAMA's folders have templates as well."""
    folder = _home(folder)
    lists = [path for candidate in (folder, folder / PAIRS_FOLDER) for path in candidate.glob("*.jsonl")]
    return (folder / RELATIONS_FILE).is_file() and any(_has_pairs(path) for path in lists)


def _home(folder: Path) -> Path:
    """Return the folder that has the templates: the folder itself, else its `data/`."""
    inner = folder / OFFICIAL_FOLDER
    return folder if (folder / RELATIONS_FILE).is_file() or not (inner / RELATIONS_FILE).is_file() else inner


def _has_pairs(path: Path) -> bool:
    with path.open("rb") as file:
        return b'"obj2_label"' in file.readline(LONGEST_LINE)


def read(folder: Path) -> Benchmark:
    """Read each pair as an item with two options of its own: the coarse answer, then the fine one, which is right."""
    folder = _home(folder)
    descriptions = _descriptions(folder / RELATIONS_FILE)
    lists = _lists(folder, descriptions)
    relations = tuple(_relation(name, paths[0], descriptions) for name, paths in lists.items())
    files = (folder / RELATIONS_FILE, *(paths[0] for paths in lists.values()))
    sha = digest(files)
    without_pairs = [name for name in descriptions if name == _base(name) and name not in lists]
    notes = note_on(without_pairs, "Relations left out, as they have no file of pairs")
    name = folder.resolve().name.lower()
    return verbatim(Benchmark(name, sha[:12], sha, relations, probe="specificity", files=files, notes=notes))


def _descriptions(path: Path) -> dict[str, JsonObject]:
    lines = read_lines(path)
    for line in lines:
        line.refuse_other_keys(RELATION_KEYS)
    return by_relation(lines)


def _base(name: str) -> str:
    return name.removesuffix(CASCADE).removesuffix(FEW_SHOT)


def _lists(folder: Path, descriptions: dict[str, JsonObject]) -> dict[str, list[Path]]:
    """Return the files of pairs by relation, in the order of the templates; several must have the same content."""
    pairs_folder = folder / PAIRS_FOLDER if (folder / PAIRS_FOLDER).is_dir() else folder
    paths = sorted(
        (path for path in pairs_folder.glob("*.jsonl") if path.name != RELATIONS_FILE), key=lambda path: path.stem
    )
    for path in paths:
        if _base(path.stem) not in descriptions:
            step = "Add a line for it or remove the file."
            raise BadBenchmark(f"{path.name} has no template in {RELATIONS_FILE}.", step)
    relations = [name for name in descriptions if name == _base(name)]
    lists = {name: [path for path in paths if _base(path.stem) == name] for name in relations}
    for name, files in lists.items():
        if len({path.read_bytes() for path in files}) > 1:
            raise BadBenchmark(f"The files of {name} hold different pairs.", f"Keep only {files[0].name}.")
    if not paths:
        raise BadBenchmark(f"There are no pairs in {pairs_folder}.", "Add one <relation>.jsonl for each relation.")
    return {name: files for name, files in lists.items() if files}


def _relation(name: str, path: Path, descriptions: dict[str, JsonObject]) -> Relation:
    items = tuple(_item(index, line) for index, line in enumerate(read_lines(path)))
    cascade = descriptions.get(name + CASCADE)
    return Relation(
        id=name,
        templates=(template_text(descriptions[name]),),
        answer_space=tuple(dict.fromkeys(option for item in items for option in item.options)),
        items=items,
        name=descriptions[name].text("label") if "label" in descriptions[name].values else "",
        cascades=(template_text(cascade, blanks=2),) if cascade else (),
    )


def _item(index: int, line: JsonObject) -> Item:
    options = line.text("obj2_label"), line.text("obj_label")
    if options[0] == options[1]:
        raise line.fault(f"the fine and the coarse answer are both {options[0]!r:.80}", "Give two different answers.")
    return Item(index, line.text("sub_label"), (1,), line.text("sub_uri"), options=options)
