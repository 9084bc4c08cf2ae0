"""Triples from CSV and JSON Lines, and what is said where they cannot be read."""

import json
from pathlib import Path
from typing import Any

import pytest

from probing.benchmark import Benchmark
from probing.errors import BadBenchmark
from probing.formats import format_of
from probing.formats.geography import read

DANUBE = {"fact_type": "river_countries", "subject": "Danube", "objects": ["Austria", "Hungary"]}
PARIS = {"fact_type": "city_country", "property": "P17", "subject": "Paris", "objects": ["France"]}
CSV = 'objects,fact_type,subject\nAustria; Hungary,river_countries,Danube\n"France",city_country,Paris\n'


def write(folder: Path, *triples: dict[str, Any]) -> Path:
    (folder / "triples.jsonl").write_text("".join(json.dumps(triple) + "\n" for triple in triples))
    return folder


@pytest.fixture
def both(tmp_path: Path) -> Benchmark:
    return read(write(tmp_path, DANUBE, PARIS))


def test_a_fact_type_is_a_relation_and_a_sentence_an_item(both: Benchmark) -> None:
    assert both.probe == "cloze"
    city, river = both.relations
    assert (city.id, city.name, len(city.items)) == ("city_country", "country of a city", 1)
    assert river.tags == {"fact_type": "river_countries", "head": "Natural"}
    assert river.answer_space == ("Austria", "Hungary")
    assert [river.template_of(item, 0) for item in river.items][:2] == ["The Danube river flows through [Y]."] * 2
    assert [(item.index, item.answers) for item in river.items] == [(0, (0,)), (1, (1,)), (2, (0,)), (3, (1,))]


def test_an_item_has_flags_and_a_stable_id(both: Benchmark) -> None:
    last, inside = both["river_countries"].items[0], both["river_countries"].items[2]
    assert last.tags == {
        **{"leak": "not leaky", "repeats": "no word twice", "length": "usual", "blank": "last"},
        **{"masked": "object", "wording": "river_countries 0"},
    }
    assert (inside.tags["blank"], inside.subject) == ("inside", "Danube")
    assert last.id.startswith("river_countries-")


def test_a_capital_is_asked_by_either_template_with_the_city_or_the_country_masked(tmp_path: Path) -> None:
    triple = {"fact_type": "country_capital", "subject": "Peru", "objects": ["Lima"]}
    (capital,) = read(write(tmp_path, triple)).relations
    tags = {(item.tags["wording"], item.tags["masked"]) for item in capital.items}
    assert tags == {(f"country_capital {number}", name) for number in (0, 1) for name in ("subject", "object")}


def test_other_names_of_a_name_that_is_hidden_as_a_whole_are_further_answers(both: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "aliases.toml").write_text('France = ["Gaul"]\nHungary = ["Magyarország"]\nDanube = ["Donau"]\n')
    benchmark = read(tmp_path)
    assert benchmark.digest != both.digest
    city, river = benchmark.relations
    assert (city.answer_space, city.items[0].answers) == (("France", "Gaul"), (0, 1))
    assert [item.answers for item in river.items] == [(0,), (1, 2), (0,), (1, 2)]
    (tmp_path / "aliases.toml").write_text('France = "Gaul"')
    with pytest.raises(BadBenchmark, match="France is no list of names"):
        read(tmp_path)
    (tmp_path / "aliases.toml").write_text("France")
    with pytest.raises(BadBenchmark, match="is not TOML"):
        read(tmp_path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])  # the second one begins with a spreadsheet's mark
def test_csv_gives_the_same_as_json_lines(both: Benchmark, tmp_path: Path, encoding: str) -> None:
    folder = tmp_path / "csv"
    folder.mkdir()
    (folder / "triples.csv").write_text(CSV, encoding=encoding)
    assert format_of(folder) == format_of(tmp_path) == "geography"
    assert read(folder).relations == both.relations


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"fact_type": "moon_country"}, "line 2: fact type 'moon_country' is unknown"),
        ({"subject": None}, "line 2: 'subject' holds None"),
        ({"subject": " "}, "line 2: 'subject' holds ' '"),
        ({"subject": "A [Y]"}, "line 2: 'A [Y]' is no name"),
        ({"subject": "...!"}, "line 2: '...!' is no name"),
        ({"objects": []}, "line 2: no objects"),
        ({"objects": "France"}, "line 2: 'objects' is not a list"),
        ({"objects": ["France", "France"]}, "line 2: an object occurs twice"),
        (DANUBE, "line 2: 'Danube' occurs twice for river_countries"),
    ],
)
def test_a_wrong_triple_is_named_with_its_line(changes: dict[str, Any], fault: str, tmp_path: Path) -> None:
    with pytest.raises(BadBenchmark) as error:
        read(write(tmp_path, DANUBE, PARIS | changes))
    assert fault in str(error.value)
    assert error.value.next_step


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("fact_type,subject\ncity_country,Paris\n", "line 1: no column 'objects'"),
        ('fact_type,subject,objects\ncity_country,"Paris,France\ncity_country,Oslo,Norway\n', "line 2: unexpected end"),
        ("fact_type,subject,objects\n", "no triples"),
        ("fact_type,subject,objects\ncity_country,Washington, D.C.,USA\n", "line 2: not as many columns as the head"),
        ("fact_type,subject,objects\ncity_country,Paris\n", "line 2: not as many columns as the head"),
        ("fact_type,subject,objects\ncity_country,Paris,\n", "line 2: no objects"),
        ("fact_type,subject,objects\ncity_country,Paris,France;;\n", "line 2: 'objects' holds ''"),
        ('fact_type,subject,objects\ncity_country,"Paris,France\n', "unexpected end of data"),
    ],
)
def test_a_wrong_csv_file_is_named_with_its_line(text: str, fault: str, tmp_path: Path) -> None:
    (tmp_path / "triples.csv").write_text(text)
    with pytest.raises(BadBenchmark) as error:
        read(tmp_path)
    assert fault in str(error.value)


def test_a_folder_without_triples_or_with_two_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadBenchmark, match="neither"):
        read(tmp_path)
    (write(tmp_path, DANUBE) / "triples.csv").write_text(CSV)
    with pytest.raises(BadBenchmark, match="both"):
        read(tmp_path)
