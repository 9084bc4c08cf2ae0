"""A small geography benchmark and forms about it, as judges fill them in."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path

from probing.formats.geography import typed_sentences
from probing.judging import COLUMNS, Form, empty_lines, read_form, write_form

CITIES = ("Lyon", "Nice", "Lille", "Brest")


def write_benchmark(folder: Path) -> Path:
    """Write four cities and one river, whose sentences have two templates."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = [{"fact_type": "city_country", "subject": city, "objects": ["France"]} for city in CITIES]
    facts.append({"fact_type": "river_countries", "subject": "Loire", "objects": ["France"]})
    (folder / "triples.jsonl").write_text("".join(json.dumps(fact) + "\n" for fact in facts))
    return folder


def filled(path: Path, benchmark: Path, answers: Mapping[str, Mapping[str, str]], sample: str = "1") -> Form:
    """Write and read a form; `answers` are by the beginnings of sentences."""
    lines = empty_lines(sample, typed_sentences(benchmark))
    for line in lines:
        for beginning, given in answers.items():
            if line["sentence"].startswith(beginning):
                line.update(given)
    write_form(path, lines)
    return read_form(path, frozenset(line["id"] for line in lines))


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        assert tuple(reader.fieldnames or ()) == COLUMNS
        return list(reader)
