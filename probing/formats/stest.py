"""S-TEST folders (methods 2.1): `relations.jsonl` with the templates, one `<relation>.jsonl` of pairs each.

The pairs lie beside it or in `S-TEST/`. Files for other promptings (`P19-cp.jsonl`, `P19-fp.jsonl`) hold the
same pairs and are read as those of their relation; a template for `-cp` is the relation's cascade.
"""

from pathlib import Path

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadBenchmark
from probing.formats.files import JsonObject, digest, read_lines
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

RELATIONS = "relations.jsonl"
PAIRS = "S-TEST"
DATA = "data"  # where the official repository keeps both
LONGEST_LINE = 100_000  # bytes
CASCADE, FEW_SHOT = "-cp", "-fp"


def fits(folder: Path) -> bool:
    """Whether there are templates and a list of pairs; LAMA's folders have templates too."""
    folder = _home(folder)
    lists = [path for inner in ("", PAIRS) for path in (folder / inner).glob("*.jsonl")]
    return (folder / RELATIONS).is_file() and any(_has_pairs(path) for path in lists)


def _home(folder: Path) -> Path:
    """Where the templates are."""
    return folder if (folder / RELATIONS).is_file() or not (folder / DATA / RELATIONS).is_file() else folder / DATA


def _has_pairs(path: Path) -> bool:
    with path.open("rb") as file:
        return b'"obj2_label"' in file.readline(LONGEST_LINE)


def read(folder: Path) -> Benchmark:
    """Each pair becomes an item with two options of its own, the coarse answer and, as the right one, the fine."""
    folder = _home(folder)
    about = _about(folder / RELATIONS)
    lists = _lists(folder, about)
    relations = tuple(_relation(name, paths[0], about) for name, paths in lists.items())
    files = (folder / RELATIONS, *(paths[0] for paths in lists.values()))
    found = digest(files)
    return Benchmark(folder.resolve().name.lower(), found[:12], found, relations, probe="specificity", files=files)


def _about(path: Path) -> dict[str, JsonObject]:
    """By id, what each line says of a relation."""
    found: dict[str, JsonObject] = {}
    for line in read_lines(path):
        name = line.text("relation")
        if name in found:
            raise line.fault(f"relation {name!r:.80} occurs twice", "Keep one of the two lines.")
        found[name] = line
    return found


def _base(name: str) -> str:
    return name.removesuffix(CASCADE).removesuffix(FEW_SHOT)


def _lists(folder: Path, about: dict[str, JsonObject]) -> dict[str, list[Path]]:
    """By relation, in the order of the templates, its files of pairs: several only if they are the same."""
    place = folder / PAIRS if (folder / PAIRS).is_dir() else folder
    paths = sorted((path for path in place.glob("*.jsonl") if path.name != RELATIONS), key=lambda path: path.stem)
    for path in paths:
        if _base(path.stem) not in about:
            raise BadBenchmark(f"{path.name} has no template in {RELATIONS}.", "Add a line for it or remove the file.")
    found = {name: [path for path in paths if _base(path.stem) == name] for name in about if name == _base(name)}
    for name, several in found.items():
        if len({path.read_bytes() for path in several}) > 1:
            raise BadBenchmark(f"The files of {name} hold different pairs.", f"Keep only {several[0].name}.")
    if not paths:
        raise BadBenchmark(f"There are no pairs in {place}.", "Add one <relation>.jsonl for each relation.")
    return {name: several for name, several in found.items() if several}


def _relation(name: str, path: Path, about: dict[str, JsonObject]) -> Relation:
    items = tuple(_item(index, line) for index, line in enumerate(read_lines(path)))
    return Relation(
        id=name,
        templates=(_template(about[name], 1),),
        answer_space=tuple(dict.fromkeys(option for item in items for option in item.options)),
        items=items,
        name=about[name].text("label") if "label" in about[name].values else "",
        cascades=(_template(about[name + CASCADE], 2),) if name + CASCADE in about else (),
    )


def _template(line: JsonObject, answers: int) -> str:
    template = line.text("template")
    for slot, times in ((SUBJECT_SLOT, 1), (ANSWER_SLOT, answers)):
        if template.count(slot) != times:
            raise line.fault(f"the template must have {slot} {'once' if times == 1 else 'twice'}", "Correct it.")
    return template


def _item(index: int, line: JsonObject) -> Item:
    options = line.text("obj2_label"), line.text("obj_label")
    if options[0] == options[1]:
        raise line.fault(f"the fine and the coarse answer are both {options[0]!r:.80}", "Give two different answers.")
    return Item(index, line.text("sub_label"), (1,), line.text("sub_uri"), options=options)
