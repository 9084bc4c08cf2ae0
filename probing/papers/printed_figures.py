"""The figures that papers print, from the files of `fixtures/published`, as tidy scores."""

import csv
import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pandas as pd

from probing.analysis.breakdowns import ALL, OVERALL
from probing.known_benchmarks import EMBEDDED
from probing.papers.declarations import Exhibit, Way

FOLDER = EMBEDDED / "published"
KEY = ["model", "way", "metric", "dimension", "group"]
COLUMNS = [*KEY, "printed", "name", "reference"]
UNRESOLVED = "published/"  # what the ids of rows begin with whose model is known by its printed name only


def printed_figures(exhibit: Exhibit) -> pd.DataFrame:
    """Return the printed figures of an exhibit: `COLUMNS`, shares as fractions."""
    rows = [figure for way in exhibit.ways for figure in _of_way(exhibit, way)]
    rows += [_declared(exhibit, values) for values in exhibit.printed]
    return pd.DataFrame(rows, columns=COLUMNS)


def differences_of_source(exhibit: Exhibit) -> list[str]:
    """Return in what the items and settings behind the printed figures differ from what is measured here."""
    return list(dict.fromkeys(filter(None, (_file(_source(way)).get("differs", "") for way in exhibit.ways))))


def models_of(exhibit: Exhibit, way: Way) -> list[str]:
    """Return the models that the paper asked in this way and that are on the hub."""
    if exhibit.models:
        return list(exhibit.models)
    models = dict.fromkeys(row["model"] for row in _rows(exhibit, way) if row.get("model"))
    return [model for model in models if not model.startswith(UNRESOLVED)]


@cache
def sizes() -> Mapping[str, int]:
    """Return the parameters of the models of printed figures, as their sources or the table of models state them."""
    stated = {row["model"]: row["parameters"] for path in FOLDER.glob("*.json") for row in _file(path.stem)["rows"]}
    with (FOLDER / "models.csv").open(encoding="utf-8", newline="") as file:
        listed = {row["hub_id"] or row["model"]: row["parameters"] for row in csv.DictReader(file)}
    return {model: int(number) for model, number in [*stated.items(), *listed.items()] if number}


def _of_way(exhibit: Exhibit, way: Way) -> Iterator[tuple[Any, ...]]:
    for number, row in enumerate(_rows(exhibit, way)):
        model = step_name(number) if exhibit.steps else row.get("model", "")
        name = "" if exhibit.steps else row.get("name", "")
        for score in row["scores"]:
            if score["dimension"] in exhibit.scores.get(score["metric"], ()):
                key = (model, way.name, score["metric"], score["dimension"], score["group"])
                yield (*key, score["value"], name, row["reference"])


def step_name(number: int) -> str:
    """Return what tables call a state of a training, by its place from 0."""
    return f"state {number}"


def _declared(exhibit: Exhibit, values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return a figure that stands in the declaration of the exhibit; what it does not say is what the others share."""
    key = {"model": "", "way": exhibit.ways[0].name, "metric": next(iter(exhibit.scores)), "dimension": OVERALL}
    own = {**key, "group": ALL, **values}
    return (*(own[name] for name in KEY), own["value"], own["model"], exhibit.number)


def _rows(exhibit: Exhibit, way: Way) -> list[Mapping[str, Any]]:
    """Return the rows of the way's file that stand in this exhibit; several states of a training have one each."""
    file = _file(_source(way))
    references = set(exhibit.references or [exhibit.number])
    rows = [*file.get("rows", ()), *file.get("dataset", ())]
    return [
        row for row in rows if references & set(row["reference"].split(", ")) and _fits(row["settings"], way.printed)
    ]


def _fits(settings: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(settings.get(name) == value for name, value in wanted.items())


def _source(way: Way) -> str:
    return way.figures or way.benchmark


@cache
def _file(name: str) -> Mapping[str, Any]:
    path = FOLDER / f"{name}.json"
    content: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return content
