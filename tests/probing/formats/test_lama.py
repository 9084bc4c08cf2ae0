"""LAMA's files and lists of bare triples, as T-REx has them."""

import json
from pathlib import Path
from typing import Any

import pytest

from probing.errors import BadBenchmark
from probing.formats import format_of
from probing.formats.lama import holds_triples, read, read_triples

RELATIONS = [
    {"relation": "P36", "template": "The capital of [X] is [Y] .", "label": "capital", "type": "1-1"},
    {"relation": "P1001", "template": "[X] is a legal term in [Y] .", "label": "applies to", "type": "N-M"},
]
LINES = [
    {"uuid": "1", "obj_uri": "Q585", "obj_label": "Oslo", "sub_uri": "Q20", "sub_label": "Norway", "evidences": []},
    {"uuid": "2", "obj_uri": "Q85", "obj_label": "Cairo", "sub_uri": "Q79", "sub_label": "Egypt", "evidences": []},
    {"uuid": "3", "obj_uri": "Q585", "obj_label": "Oslo", "sub_label": "Bokmål"},
]


def write(folder: Path, relations: list[dict[str, Any]] = RELATIONS, lists: str = "") -> Path:
    (folder / lists).mkdir(parents=True, exist_ok=True)
    (folder / "relations.jsonl").write_text("".join(json.dumps(line) + "\n" for line in relations))
    (folder / lists / "P36.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return folder


@pytest.mark.parametrize("lists", ["", "TREx"])
def test_it_reads_the_relations_that_have_a_list(lists: str, tmp_path: Path) -> None:
    benchmark = read(write(tmp_path, lists=lists))
    (capital,) = benchmark.relations
    assert format_of(tmp_path) == "lama"
    assert (capital.id, capital.name, capital.tags) == ("P36", "capital", {"cardinality": "1-1"})
    assert capital.templates == ("The capital of [X] is [Y] .",)
    assert capital.answer_space == ("Oslo", "Cairo")
    assert [(item.subject, item.answers, item.subject_id) for item in capital.items] == [
        ("Norway", (0,), "Q20"),
        ("Egypt", (1,), "Q79"),
        ("Bokmål", (0,), ""),
    ]
    assert benchmark.probe == "cloze"


def test_it_reads_the_files_of_x_factr_under_their_names(tmp_path: Path) -> None:
    write(tmp_path / "lama")
    lists = tmp_path / "data" / "mTRExf" / "sub"
    lists.mkdir(parents=True)
    (tmp_path / "lama" / "relations.jsonl").rename(tmp_path / "data" / "TREx-relations.jsonl")
    (tmp_path / "lama" / "P36.jsonl").rename(lists / "P36.jsonl")
    assert format_of(tmp_path) == "lama"
    assert [relation.id for relation in read(tmp_path).relations] == ["P36"]


@pytest.mark.parametrize(
    ("relations", "fault"),
    [
        ([RELATIONS[0] | {"template": "The capital of [X]."}], r"line 1: the template must have \[Y\] once"),
        (RELATIONS[1:], "has no list"),
        ([*RELATIONS, RELATIONS[0]], r"relations\.jsonl, line 3: relation 'P36' occurs twice"),
        ([RELATIONS[0] | {"relation": "../P36"}], "no relation id"),
    ],
)
def test_relations_that_cannot_be_asked_fail(relations: list[dict[str, Any]], fault: str, tmp_path: Path) -> None:
    with pytest.raises(BadBenchmark, match=fault):
        read(write(tmp_path, relations))


def test_notes_name_relations_without_a_list_and_lists_without_a_relation(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "P6.jsonl").write_text((tmp_path / "P36.jsonl").read_text())
    assert read(tmp_path).notes == (
        "Relations left out, as they have no list of items: P1001.",
        "Lists left out, as relations.jsonl has no template for them: P6.jsonl.",
    )


def test_a_misspelt_key_is_named_and_what_t_rex_has_beside_is_read(tmp_path: Path) -> None:
    read(write(tmp_path / "whole", [RELATIONS[0] | {"description": "the seat of a government"}]))
    with pytest.raises(BadBenchmark, match=r"line 1: the key 'lable' is not known\. .*Did you mean 'label'\?"):
        read(write(tmp_path / "misspelt", [RELATIONS[0] | {"lable": "capital"}]))


def write_lines(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize("place", ["", "TREx"])
def test_each_line_is_a_triple_of_its_lists_predicate(tmp_path: Path, place: str) -> None:
    write_lines(
        tmp_path / place / "P36.jsonl",
        '{"sub_uri": "Q142", "obj_uri": "Q90"}',
        "",
        '{"sub_uri": "Q79", "obj_uri": ["Q85"]}',
    )
    write_lines(tmp_path / place / "templates.jsonl", "{}")
    assert holds_triples(tmp_path)
    triples = [("P36", "Q142", frozenset({"Q90"})), ("P36", "Q79", frozenset({"Q85"}))]
    assert list(read_triples(tmp_path)) == triples


def test_other_folders_hold_no_triples(tmp_path: Path) -> None:
    assert not holds_triples(tmp_path)
    write_lines(tmp_path / "P36.jsonl", '{"sub_id": "Q142", "obj_id": "Q90"}')
    assert not holds_triples(tmp_path)


def test_a_fault_is_named_with_its_line(tmp_path: Path) -> None:
    write_lines(tmp_path / "P36.jsonl", '{"sub_uri": "Q142", "obj_uri": "Q90"}', '{"sub_uri": "Q142"}')
    with pytest.raises(BadBenchmark, match=r"P36\.jsonl, line 2: the field 'obj_uri' is missing"):
        list(read_triples(tmp_path))
