"""BEAR folders: every shape that methods 1.1 allows, and every fault named with its file and line."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from probing.errors import BadBenchmark
from probing.formats import bear
from tests.conftest import BearFolder


def test_it_reads_relations_items_and_tags(bear_folder: BearFolder) -> None:
    benchmark = bear.read(bear_folder.write())
    relation = benchmark["P36"]
    assert [item.subject for item in relation.items] == ["Norway", "Egypt"]
    assert [item.answers for item in relation.items] == [(0,), (1,)]
    assert relation.items[1].subject_id == "Q79"
    assert relation.answer_ids == ("Q585", "Q85")
    assert relation.tags == {"domain": ("Geographic", "Political"), "cardinality": bear.SINGLE}
    assert benchmark["P30"].tags["cardinality"] == bear.MULTIPLE


@pytest.mark.parametrize("left_out", ["answer_idx", "obj_id"])
def test_it_reads_an_answer_by_object_id_or_by_index_alone(bear_folder: BearFolder, left_out: str) -> None:
    for line in bear_folder.lines["P30"]:
        del line[left_out], line["obj_label"]
    assert [item.answers for item in bear.read(bear_folder.write())["P30"].items] == [(0,), (0,), (1,), (2,)]


@pytest.mark.parametrize("declared", [True, False])
def test_it_reads_an_answer_by_its_label_alone(bear_folder: BearFolder, declared: bool) -> None:
    for line in bear_folder.lines["P30"]:
        del line["answer_idx"], line["obj_id"]
    if not declared:
        bear_folder.metadata["P30"] = {"templates": ["[X] is in [Y]."]}
    assert [item.answers for item in bear.read(bear_folder.write())["P30"].items] == [(0,), (0,), (1,), (2,)]


def test_it_reads_the_older_answer_space_without_ids(bear_folder: BearFolder) -> None:
    description = bear_folder.metadata["P30"]
    del description["answer_space_ids"]
    description["answer_space"] = description.pop("answer_space_labels")
    relation = bear.read(bear_folder.write())["P30"]
    assert relation.answer_space == ("Africa", "Asia", "Europe")
    assert [item.answers for item in relation.items] == [(0,), (0,), (1,), (2,)]


def test_it_derives_an_answer_space_in_order_of_first_appearance(bear_folder: BearFolder) -> None:
    bear_folder.metadata["P30"] = {"templates": ["[X] is in [Y]."]}
    bear_folder.lines["P30"].reverse()
    relation = bear.read(bear_folder.write())["P30"]
    assert relation.answer_space == ("Europe", "Asia", "Africa")
    assert [item.answers for item in relation.items] == [(0,), (1,), (2,), (2,)]


def test_it_takes_the_cardinality_that_the_metadata_give_and_does_without_domains(bear_folder: BearFolder) -> None:
    bear_folder.metadata["P36"]["cardinality"] = bear.MULTIPLE
    bear_folder.domains = None
    assert bear.read(bear_folder.write())["P36"].tags == {"cardinality": bear.MULTIPLE}


def test_it_reads_the_outer_folder_as_the_inner_one(bear_folder: BearFolder, tmp_path: Path) -> None:
    inner = bear_folder.write()
    (inner / "relation_info.json").rename(tmp_path / "relation_info.json")
    assert bear.read(inner) == bear.read(tmp_path)
    assert bear.read(inner)["P30"].tags["domain"] == ("Geographic",)


def test_a_changed_byte_changes_digest_and_version(bear_folder: BearFolder) -> None:
    before = bear.read(bear_folder.write())
    bear_folder.lines["P30"][0]["sub_label"] = "Tchad"
    after = bear.read(bear_folder.write())
    assert before.digest != after.digest
    assert after.version == after.digest[:12]


def test_copies_of_its_files_are_the_same_benchmark(bear_folder: BearFolder, tmp_path: Path) -> None:
    inner = bear_folder.write()
    (inner / "relation_info.json").rename(tmp_path / "relation_info.json")
    before = bear.read(inner)
    (tmp_path / "copy").mkdir()
    for file in before.files:
        shutil.copy(file, tmp_path / "copy")
    assert bear.read(tmp_path / "copy").digest == before.digest


def fault(folder: BearFolder, *expected: str) -> None:
    """Reading fails with a message that holds all that is expected, and with a next step."""
    with pytest.raises(BadBenchmark) as caught:
        bear.read(folder.write())
    assert all(words in caught.value.message for words in expected), caught.value.message
    assert caught.value.next_step


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("answer_idx", 7, "answer_idx 7 is outside the answer space"),
        ("answer_idx", -1, "answer_idx -1 is outside the answer space"),
        ("answer_idx", 1, "answer_idx 1 and obj_id 'Q46' disagree"),
        ("answer_idx", "2", "answer_idx is '2'"),
        ("answer_idx", True, "answer_idx is True"),
        ("obj_id", "Q99", "obj_id 'Q99' is not in the answer space"),
        ("sub_label", None, "'sub_label' holds None"),
        ("sub_label", ["Norway"], "'sub_label' holds ['Norway']"),
        ("sub_label", "  ", "'sub_label' holds '  '"),
        ("sub_label", "half \ud83d", "half a character"),
    ],
)
def test_a_bad_field_is_named_with_file_and_line(bear_folder: BearFolder, field: str, value: Any, words: str) -> None:
    bear_folder.lines["P30"][3][field] = value
    fault(bear_folder, "P30.jsonl, line 4", words)


@pytest.mark.parametrize(
    ("key", "step"),
    [
        ("answer_space_lables", "Did you mean 'answer_space_labels'?"),
        ("options", "Choose from: answer_space, answer_space_ids, answer_space_labels, cardinality, templates."),
    ],
)
def test_an_unknown_key_of_a_relation_is_named_with_the_nearest(bear_folder: BearFolder, key: str, step: str) -> None:
    """It would change the options, and with them the level of chance, without a word."""
    bear_folder.metadata["P30"][key] = bear_folder.metadata["P30"].pop("answer_space_labels")
    with pytest.raises(BadBenchmark) as caught:
        bear.read(bear_folder.write())
    assert caught.value.message == f"metadata_relations.json, relation P30: the key {key!r} is not known."
    assert caught.value.next_step == step


def test_a_misspelt_key_of_an_item_is_named_and_a_remark_is_let_be(bear_folder: BearFolder) -> None:
    bear_folder.lines["P30"][1]["difficulty"] = "hard"
    bear.read(bear_folder.write())
    bear_folder.lines["P30"][1]["sub_di"] = bear_folder.lines["P30"][1].pop("sub_id")
    fault(bear_folder, "P30.jsonl, line 2: the key 'sub_di' is not known")


def test_domains_of_an_unknown_relation_are_named_where_a_relation_has_none(bear_folder: BearFolder) -> None:
    assert bear_folder.domains
    bear_folder.domains["P6"] = {"domains": ["Political"]}
    bear.read(bear_folder.write())  # as in BEAR, whose file also serves its larger edition
    bear_folder.domains["P63"] = bear_folder.domains.pop("P36")
    del bear_folder.domains["P6"]
    fault(bear_folder, "relation_info.json: the relation 'P63' is not in metadata_relations.json, and 'P36' has no")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"templates": ["It is in [Y]."]}, "template 0 has no [X]"),
        ({"templates": ["[X] is in [Y].", "[X] is here."]}, "template 1 must have [Y] once"),
        ({"templates": ["[X] is in [Y], in [Y]."]}, "template 0 must have [Y] once"),
        ({"templates": []}, "no templates"),
        ({"templates": "[X] is in [Y]."}, "'templates' is not a list"),
        ({"answer_space_labels": ["Africa", "Asia", "Asia"]}, "option 'Asia' occurs twice"),
        ({"answer_space_ids": ["Q15", "Q48", "Q48"]}, "option 'Q48' occurs twice"),
        ({"answer_space_ids": ["Q15"]}, "3 answer labels but 1 answer ids"),
        ({"cardinality": "many"}, "cardinality 'many' is unknown"),
    ],
)
def test_bad_metadata_name_the_relation(bear_folder: BearFolder, change: dict[str, Any], words: str) -> None:
    bear_folder.metadata["P30"] |= change
    fault(bear_folder, "metadata_relations.json, relation P30", words)


@pytest.mark.parametrize("key", ["obj_id", "answer_idx"])
def test_a_label_of_another_option_shows_that_answers_are_counted_from_1(bear_folder: BearFolder, key: str) -> None:
    line = bear_folder.lines["P30"][0]
    del line["obj_id"], line["answer_idx"]
    line[key] = {"obj_id": "Q48", "answer_idx": 1}[key]
    fault(bear_folder, "P30.jsonl, line 1", "obj_label is 'Africa', but the answer is option 1, 'Asia'")


def test_another_spelling_of_the_answer_is_no_fault(bear_folder: BearFolder) -> None:
    """Only the label of another option is: objects may have a label of their own beside that of the answer space."""
    bear_folder.lines["P30"][0]["obj_label"] = "the African continent"
    assert bear.read(bear_folder.write())["P30"].items[0].answers == (0,)


def test_a_note_names_relations_with_one_option_and_those_that_ask_a_subject_twice(bear_folder: BearFolder) -> None:
    bear_folder.metadata["P36"] |= {"answer_space_labels": ["Oslo"], "answer_space_ids": ["Q585"]}
    bear_folder.lines["P36"] = bear_folder.lines["P36"][:1]
    bear_folder.lines["P30"].append(bear_folder.lines["P30"][0])
    assert bear.read(bear_folder.write()).notes == (
        "Relations with a single option, so that every answer is right: P36.",
        "Relations in which a subject occurs more than once: P30.",
    )


def without(*keys: str) -> Callable[[BearFolder], object]:
    """Return a change that leaves fields out of the first line of P30."""
    return lambda folder: [folder.lines["P30"][0].pop(key) for key in keys]


def labelled(line: int, label: str) -> Callable[[BearFolder], object]:
    """Return a change of the label of an answer where the answer space is derived from the lines."""

    def spoil(folder: BearFolder) -> None:
        folder.metadata["P30"] = {"templates": ["[X] is in [Y]."]}
        folder.lines["P30"][line]["obj_label"] = label

    return spoil


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (without("sub_label"), "P30.jsonl, line 1: the field 'sub_label' is missing"),
        (
            without("answer_idx", "obj_id", "obj_label"),
            "P30.jsonl, line 1: neither answer_idx nor a usable obj_id or obj_label",
        ),
        (labelled(2, "Africa"), "P30.jsonl, line 3: obj_label 'Africa' stands beside another answer"),
        (labelled(1, "Asia"), "P30.jsonl, line 2: obj_label 'Asia' stands beside another answer"),
        (lambda folder: folder.metadata.clear(), "metadata_relations.json: no relations"),
        (lambda folder: folder.metadata.pop("P36"), "The relation of P36.jsonl is missing in metadata_relations.json"),
        (lambda folder: folder.lines.pop("P36"), "P36.jsonl is missing"),
        (lambda folder: folder.lines["P36"].clear(), "P36.jsonl: no items"),
        (lambda folder: folder.domains.update(P30={"domain": []}), "relation P30: the key 'domain' is not known"),
    ],
)
def test_what_is_missing_or_contradicts_itself_is_named(
    bear_folder: BearFolder, spoil: Callable[[Any], object], words: str
) -> None:
    spoil(bear_folder)
    fault(bear_folder, words)


@pytest.mark.parametrize("name", ["../P1", "a/b", "", ".hidden", "P 1", "é", "a" * 101])
def test_a_relation_id_cannot_point_elsewhere(bear_folder: BearFolder, name: str) -> None:
    bear_folder.metadata[name] = bear_folder.metadata["P30"]
    fault(bear_folder, "is no relation id")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.sampled_from(["[X] is [Y]."]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.sampled_from(["P30.jsonl", "metadata_relations.json", "relation_info.json"]), st.data())
def test_whatever_a_field_holds_the_folder_is_read_or_the_fault_named(
    bear_folder: BearFolder, name: str, data: st.DataObject
) -> None:
    inside = {
        "P30.jsonl": bear_folder.lines["P30"][0],
        "metadata_relations.json": bear_folder.metadata["P30"],
        "relation_info.json": (bear_folder.domains or {})["P30"],
    }[name]
    field = data.draw(st.sampled_from(sorted(inside)))
    before, inside[field] = inside[field], data.draw(json_values)
    try:
        bear.read(bear_folder.write())
    except BadBenchmark as error:
        assert name in error.message
    finally:
        inside[field] = before


def test_a_folder_without_metadata_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(BadBenchmark, match=r"metadata_relations\.json is missing"):
        bear.read(tmp_path)
    with pytest.raises(BadBenchmark, match="is not a folder"):
        bear.read(tmp_path / "nowhere")


def test_a_line_separator_inside_a_text_does_not_end_the_line(bear_folder: BearFolder) -> None:
    folder = bear_folder.write()
    lines = [line | {"sub_label": "a\u2028b"} for line in bear_folder.lines["P36"]]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\r\n" for line in lines)
    (folder / "P36.jsonl").write_bytes(text.encode())
    assert bear.read(folder)["P36"].items[1].subject == "a\u2028b"


def test_it_reads_the_real_bear(real_bear: Path) -> None:
    benchmark = bear.read(real_bear)
    assert len(benchmark.relations) == 60
    assert benchmark.size == 7731
    assert {len(relation.templates) for relation in benchmark.relations} == {3}
    sizes = Counter(len(relation.answer_space) for relation in benchmark.relations)
    assert (min(sizes), max(sizes), sizes[25], sizes[60]) == (5, 60, 38, 14)
    single = {relation.id for relation in benchmark.relations if relation.tags["cardinality"] == bear.SINGLE}
    assert {int(name[1:]) for name in single} == {6, 26, 36, 37, 87, 98, 115, 185, 190, 427, 466, 610, 1376, 3373}
    domains = Counter(domain for relation in benchmark.relations for domain in relation.tags["domain"])
    assert domains == {
        **{"Biographical": 22, "Geographic": 13, "Arts": 12, "Movies": 9, "Economic": 8},
        **{"Historical": 6, "Sports": 5, "Political": 4, "Scientific": 3},
    }


def test_each_answer_of_the_real_bear_is_right_equally_often(real_bear: Path) -> None:
    for relation in bear.read(real_bear).relations:
        counts = Counter(item.answers for item in relation.items)
        assert len(set(counts.values())) == 1
        assert len(counts) == len(relation.answer_space)


def test_both_layouts_of_the_real_bear_have_the_same_digest(real_bear: Path) -> None:
    assert bear.read(real_bear) == bear.read(real_bear / "BEAR")


def test_a_folder_of_several_benchmarks_is_refused_with_their_names(bear_folder: BearFolder, tmp_path: Path) -> None:
    copy = shutil.copytree(bear_folder.write(), tmp_path / "copy")
    with pytest.raises(BadBenchmark, match=rf"holds several benchmarks\. Choose {copy} or {bear_folder.path}"):
        bear.read(tmp_path)


def test_metadata_of_a_relation_that_are_no_object_are_a_fault(bear_folder: BearFolder) -> None:
    bear_folder.metadata["P36"] = ["[X] is [Y]."]
    fault(bear_folder, "metadata_relations.json, relation P36: not a JSON object")


def test_an_entity_without_a_label_is_left_out_and_the_others_keep_their_lines(bear_folder: BearFolder) -> None:
    lines = bear_folder.lines["P30"]
    lines[0] |= {"sub_id": "Q657", "sub_label": ""}
    benchmark = bear.read(bear_folder.write())
    assert [item.index for item in benchmark["P30"].items] == list(range(1, len(lines)))
    assert benchmark.notes == ("Items left out, as their subject has no label: 1 (first: P30.jsonl, line 1).",)


def test_a_relation_with_neither_items_nor_domains_is_left_out_and_named(bear_folder: BearFolder) -> None:
    folder = bear_folder.write()
    metadata = json.loads((folder / "metadata_relations.json").read_text())
    (folder / "relation_info.json").write_text(json.dumps({name: {"domains": ["Arts"]} for name in metadata}))
    whole = bear.read(folder)
    metadata["P414"] = {"templates": ["[X] is traded at [Y]."]}
    (folder / "metadata_relations.json").write_text(json.dumps(metadata))
    benchmark = bear.read(folder)
    assert benchmark.relations == whole.relations
    assert benchmark.notes == ("Relations left out, as they have neither items nor domains: P414.",)
    (folder / "relation_info.json").unlink()
    with pytest.raises(BadBenchmark, match=r"P414\.jsonl is missing"):
        bear.read(folder)
