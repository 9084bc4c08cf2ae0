"""White space that nobody sees in labels is named by the reader of every format, and stays as it is."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from probing.benchmark import Benchmark
from probing.formats import FORMATS, format_of

# Files by format; `~` marks one place in a label.
FILES = {
    "bear": {
        "metadata_relations.json": '{"capital": {"templates": ["The capital of [X] is [Y]."], '
        '"answer_space_labels": ["New Delhi~", "Lima"]}}',
        "capital.jsonl": '{"sub_label": "India", "answer_idx": 0}',
    },
    "lama": {
        "relations.jsonl": '{"relation": "P36", "template": "The capital of [X] is [Y] ."}',
        "P36.jsonl": '{"sub_label": "India", "obj_label": "~New Delhi"}',
    },
    "stest": {
        "relations.jsonl": '{"relation": "P19", "template": "[X] was born in [Y]."}',
        "P19.jsonl": '{"sub_uri": "Q1", "sub_label": "Ann~Lee", "obj_label": "Paris", "obj2_label": "France"}',
    },
    "mlama": {
        "mlama/en/templates.jsonl": '{"relation": "P36", "template": "The capital of [X] is [Y]."}',
        "mlama/en/P36.jsonl": '{"sub_uri": "Q1", "sub_label": "~India", "obj_uri": "Q2", "obj_label": "Delhi"}',
    },
    "dlama": {
        "templates/en/templates.jsonl": '{"relation": "P36", "template": "The capital of [X] is [Y]."}',
        "arab-west/dlama/en/P36_general_ARAB_REGION.jsonl": '{"sub_uri": "Q1", "sub_label": "Saudi Arabia", '
        '"obj_uri": ["Q2"], "obj_label": ["Riyadh~"]}',
    },
    "geography": {
        "triples.jsonl": '{"fact_type": "city_country", "subject": "New~Delhi", "objects": ["India"]}',
    },
    "knowledge_graph": {
        "relation_mapping.json": '{"capital": "The capital~of {HEAD} is {TAIL}"}',
        "triples.tsv": "i\tcapital\td\np\tcapital\tl\n",
        "entities.tsv": "i\tIndia\nd\tNew Delhi\np\tPeru\nl\tLima\n",
        "sampling.json": '{"samples": 2, "repetitions": 1}',
    },
    "open_questions": {
        "simple.csv": "problem,answer\nWhat is the capital of India?,New~Delhi\n",
    },
}


def opened(files: dict[str, str], folder: Path, space: str) -> Benchmark:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("~", space), encoding="utf-8")
    return FORMATS[format_of(folder)](folder)


def notes_on_spaces(benchmark: Benchmark) -> list[str]:
    return [note for note in benchmark.notes if "white space" in note]


@pytest.mark.parametrize("space", ["  ", "\u00a0 ", " \u3000"])
@pytest.mark.parametrize("format", FILES)
def test_a_label_with_white_space_around_it_or_doubled_in_it_is_named(format: str, space: str, tmp_path: Path) -> None:
    (note,) = notes_on_spaces(opened(FILES[format], tmp_path, space))
    assert format_of(tmp_path) == format
    assert repr(space)[1:-1] in note


@pytest.mark.parametrize("format", FILES)
def test_single_spaces_within_labels_are_not_named(format: str, tmp_path: Path) -> None:
    inside = format in ("stest", "geography", "knowledge_graph", "open_questions")
    assert not notes_on_spaces(opened(FILES[format], tmp_path, " " if inside else ""))


@pytest.mark.parametrize("label", [" Lima", "Lima\t", "\ufeffLima", "Lima\u200b", "Lima\u00a0", "Li\u00adma"])
def test_the_note_shows_the_first_label_as_it_stands(label: str, tmp_path: Path) -> None:
    row = {"relation": "P36", "item": 0, "template_index": 0, "correct": 0}
    row |= {"template": "The capital of [X] is [Y].", "subject": "Peru", "answer_options": [label, "Quito"]}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "test.parquet")
    (note,) = notes_on_spaces(FORMATS[format_of(tmp_path)](tmp_path))
    assert f"(first: {label!r} in P36)" in note


@pytest.mark.parametrize("label", ["T.\u00a0S. Eliot", "ന്\u200d", "می\u200cروم", "\u200fعدن"])
def test_white_space_and_joiners_that_are_part_of_a_name_are_not_named(label: str, tmp_path: Path) -> None:
    files = {**FILES["lama"], "P36.jsonl": f'{{"sub_label": "Peru", "obj_label": "{label}"}}'}
    assert not notes_on_spaces(opened(files, tmp_path, ""))


def test_labels_whose_letters_stand_in_parts_are_named(tmp_path: Path) -> None:
    for label, notes in (("Bogota\u0301", 1), ("Bogotá", 0), ("서울", 0), ("\u1109\u1165\u110b\u116e\u11af", 1)):
        files = {**FILES["lama"], "P36.jsonl": f'{{"sub_label": "Colombia", "obj_label": "{label}"}}'}
        named = [note for note in opened(files, tmp_path, "").notes if "accent" in note]
        assert len(named) == notes
        assert all(label in note and "NFC" in note for note in named)
