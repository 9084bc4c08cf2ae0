"""S-TEST folders: pairs, their templates, and what is wrong with a folder."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from probing.catalog import CATALOG, open_benchmark
from probing.errors import BadBenchmark
from probing.formats import format_of, stest
from tests.real_data import real_data

TEMPLATES = [
    {"relation": "P19", "template": "[X] was born in [Y].", "label": "place of birth"},
    {"relation": "P19-cp", "template": "[X] was born in [Y], which lies in [Y].", "label": "place of birth"},
    {"relation": "P19-fp", "template": "[X] was born in [Y]."},
    {"relation": "P361", "template": "[X] is part of [Y]."},
]


def pair(subject: str, fine: str, coarse: str) -> dict[str, Any]:
    return {"sub_uri": f"Q{len(subject)}", "sub_label": subject, "obj_label": fine, "obj2_label": coarse}


class Folder:
    """A folder to spoil: change `templates` or `lists`, then `read()`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.templates = [dict(line) for line in TEMPLATES]
        self.lists = {
            "P19": [pair("Ann", "Paris", "France"), pair("Bob", "Lyon", "France"), pair("Ann", "Rome", "Italy")],
            "P361": [pair("thumb", "hand", "body")],
        }

    def write(self, inner: str = "") -> Path:
        (self.path / inner).mkdir(parents=True, exist_ok=True)
        self._lines(self.path / "relations.jsonl", self.templates)
        for name, lines in self.lists.items():
            self._lines(self.path / inner / f"{name}.jsonl", lines)
        return self.path

    def _lines(self, path: Path, lines: list[dict[str, Any]]) -> None:
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "stest")


def test_it_reads_pairs_as_items_with_two_options_and_cascades_of_their_relation(folder: Folder) -> None:
    benchmark = stest.read(folder.write())
    assert (benchmark.slug, benchmark.size, benchmark.probe) == ("stest", 4, "specificity")
    relation = benchmark["P19"]
    assert relation.items[0].options == ("France", "Paris")
    assert relation.items[0].options[relation.items[0].answers[0]] == "Paris", "the fine answer is the right one"
    assert relation.answer_space == ("France", "Paris", "Lyon", "Italy", "Rome")
    assert relation.name == "place of birth"
    assert benchmark["P19"].cascades == ("[X] was born in [Y], which lies in [Y].",)
    assert benchmark["P361"].cascades == ()
    items = stest.read(folder.write())["P19"].items
    assert [(item.index, item.subject, item.options[1]) for item in items if item.subject == "Ann"] == [
        (0, "Ann", "Paris"),
        (2, "Ann", "Rome"),
    ]


def test_the_official_repository_may_be_given_whole(folder: Folder) -> None:
    folder.path = folder.path / "data"
    folder.write("S-TEST")
    assert format_of(folder.path.parent) == "stest"
    assert stest.read(folder.path.parent).size == 4


def test_files_of_other_promptings_hold_the_same_pairs(folder: Folder) -> None:
    plain = stest.read(folder.write())
    folder.lists |= {"P19-cp": folder.lists["P19"], "P19-fp": folder.lists["P19"]}
    assert stest.read(folder.write()) == plain


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (
            lambda folder: folder.lists.update({"P19-fp": folder.lists["P19"][:1]}),
            r"files of P19 .* Keep only P19\.jsonl",
        ),
        (lambda folder: folder.lists.update(P20=folder.lists["P19"]), r"P20\.jsonl has no template"),
        (lambda folder: folder.lists.clear(), "no pairs"),
        (lambda folder: folder.templates[3].update(lable="part of"), "line 4: the key .lable. is not known"),
        (lambda folder: folder.templates.append(folder.templates[0]), "line 5: relation 'P19' occurs twice"),
        (lambda folder: folder.lists["P19"][1].update(obj_label="France"), r"P19\.jsonl, line 2: .* both 'France'"),
        (lambda folder: folder.lists["P19"][1].pop("obj2_label"), r"P19\.jsonl, line 2: .*'obj2_label' is missing"),
    ],
)
def test_a_folder_that_contradicts_itself_fails(folder: Folder, spoil: Callable[[Folder], object], fault: str) -> None:
    spoil(folder)
    with pytest.raises(BadBenchmark, match=fault):
        stest.read(folder.write())


def test_a_note_names_the_relations_without_pairs(folder: Folder) -> None:
    assert stest.read(folder.write()).notes == ()
    folder.templates.append({"relation": "P131", "template": "[X] lies in [Y]."})
    assert stest.read(folder.write()).notes == ("Relations left out, as they have no file of pairs: P131.",)


@pytest.mark.parametrize(
    ("line", "template", "fault"),
    [(0, "born in [Y].", r"must have \[X\] once"), (0, "[X] was born.", r"\[Y\] once"), (1, "[X] in [Y].", "twice")],
)
def test_a_template_without_its_slots_is_refused(folder: Folder, line: int, template: str, fault: str) -> None:
    folder.templates[line]["template"] = template
    with pytest.raises(BadBenchmark, match=rf"line {line + 1}.*{fault}"):
        stest.read(folder.write())


@pytest.mark.parametrize("inner", ["", "S-TEST"])
@pytest.mark.parametrize("names", [["P19"], ["P19", "P19-cp", "P19-fp"], ["P19-cp"], ["P19-fp"]])
def test_a_folder_is_known_by_its_pairs(folder: Folder, names: list[str], inner: str) -> None:
    folder.lists = {**dict.fromkeys(names, folder.lists["P19"]), "P361": folder.lists["P361"]}
    assert format_of(folder.write(inner)) == "stest"
    assert open_benchmark(folder.path).size == 4


@pytest.fixture(scope="session")
def real_pairs() -> Path:
    return real_data("stest")


def test_the_real_folder_and_copies_of_it_are_known(real_pairs: Path, tmp_path: Path) -> None:
    """As they come; with all files in one folder; with those for other promptings too."""
    for path in real_pairs.rglob("*.jsonl"):
        shutil.copy(path, tmp_path)
    assert [format_of(real_pairs), format_of(tmp_path)] == ["stest", "stest"]
    benchmark = stest.read(real_pairs)
    for relation in benchmark.relations:
        for suffix in ("-cp", "-fp"):
            shutil.copy(tmp_path / f"{relation.id}.jsonl", tmp_path / f"{relation.id}{suffix}.jsonl")
    assert format_of(tmp_path) == "stest"
    assert open_benchmark(tmp_path).relations == benchmark.relations


def test_the_real_files_are_whole(real_pairs: Path) -> None:
    benchmark = stest.read(real_pairs)
    assert benchmark.digest == CATALOG["stest"].digest
    sizes = {relation.id: len(relation.items) for relation in benchmark.relations}
    assert sizes == {"P19": 5000, "P106": 5000, "P131": 5000, "P279": 5000, "P361": 628}
    assert {relation.id: len(relation.answer_space) for relation in benchmark.relations}["P106"] == 140
    assert all(len(relation.cascades) == 1 for relation in benchmark.relations)
