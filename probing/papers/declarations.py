"""The papers, as TOML files beside this module declare them: what each table and figure shows, and of what runs.

A file has `title`, `publication` and `labels` (names of groups for readers); under `ways` the ways in which models are
asked, each a benchmark with settings; and `exhibits`, in the order of the paper. The page `papers.md` of the
documentation is made from them. The figures that papers print are read from the files of `fixtures/published`, as tidy
scores.
"""

import csv
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from probing.analysis.breakdowns import ALL, OVERALL
from probing.catalog import EMBEDDED
from probing.errors import BadInput

FOLDER = Path(__file__).parent
NAMES = ("bear", "dlama", "s-test", "llmkg", "geography", "confidence")
PUBLISHED = EMBEDDED / "published"
KEY = ["model", "way", "metric", "dimension", "group"]
FIGURE_COLUMNS = [*KEY, "printed", "name", "reference"]
UNRESOLVED = "published/"  # what the ids of rows begin with whose model is known by its printed name only


@dataclass(frozen=True, eq=False)
class Way:
    """One way of asking models: a benchmark with settings, and which printed figures are about it.

    `settings`: those of `probing.study`. `printed`: the settings of the rows of printed figures that are about this
    way, in the file `figures`, by default that of the benchmark. `sampling`: for a knowledge graph, how sentences are
    drawn from it, as arguments of `sample_graph`. `optional`: whether exhibits do without the benchmark where the
    reader gives no copy of it.
    """

    name: str
    benchmark: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    printed: Mapping[str, Any] = field(default_factory=dict)
    figures: str = ""
    sampling: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    optional: bool = False

    @property
    def label(self) -> str:
        return self.title or self.name

    @property
    def choices(self) -> Mapping[str, Any]:
        """The settings but for the probe, which a site tells by the benchmark."""
        return {name: value for name, value in self.settings.items() if name != "probe"}


@dataclass(frozen=True, eq=False)
class Exhibit:
    """A table or figure of a paper.

    `number`: as in the paper, such as "Table 2". `caption`: what it shows, in words of this project. `scores`: its
    metrics, each with the dimensions that it is broken down by. `measure`: the function of `probing.papers.measures`
    that makes these scores from the runs. `references`: where its printed figures stand, by default at its number.
    `rows`, `columns`: which of model, way, metric and group tell rows and columns apart. `unit`: "percent", "number",
    or "power" for numbers of many sizes. `models`: those of the paper where no printed figure names them. `steps`:
    whether the models that are given are the states of one training in their order, whose printed figures stand at the
    same place. `chart` and `texts`: functions of `probing.papers.exhibits`, of which an exhibit has one: that which
    draws its chart, or that which returns its table of texts. `facts`: what the paper states beside measurements.
    `printed`: its printed figures that `fixtures/published` does not have, each with value, metric and group.
    `needs`: what a reader must bring. `also`: where else the same is, as the page of the papers names it. `differs`:
    why figures can differ from the printed ones.
    """

    number: str
    caption: str
    ways: tuple[Way, ...] = ()
    scores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    measure: str = "scores"
    references: tuple[str, ...] = ()
    rows: tuple[str, ...] = ("model",)
    columns: tuple[str, ...] = ("group",)
    unit: str = "percent"
    chart: str = "dots"
    models: tuple[str, ...] = ()
    steps: bool = False
    texts: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    printed: tuple[Mapping[str, Any], ...] = ()
    needs: str = ""
    also: str = ""
    differs: str = ""

    @property
    def slug(self) -> str:
        """Its number as the name of files, such as table-2."""
        return self.number.lower().replace(" ", "-")

    @property
    def flag(self) -> str:
        """The argument of the command `paper` that selects it."""
        kind, _, which = self.number.partition(" ")
        return f"--{kind.lower()} {which}"


@dataclass(frozen=True)
class Paper:
    """A paper: its name in commands, what it is, its exhibits, and names of groups for readers.

    `capabilities`: what it describes beside its tables and figures, each a row of docs/papers.md with the cells paper,
    here, shown and differs.
    """

    name: str
    title: str
    publication: str
    exhibits: tuple[Exhibit, ...]
    capabilities: tuple[Mapping[str, str], ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    def chosen(self, kind: str, numbers: list[str]) -> list[Exhibit]:
        """Return the exhibits of these numbers; raise `BadInput` with those that there are for one that is none."""
        by_number = {exhibit.number.lower(): exhibit for exhibit in self.exhibits}
        wanted = [f"{kind} {number}".lower() for number in numbers]
        for number in wanted:
            if number not in by_number:
                there = ", ".join(exhibit.number for exhibit in self.exhibits)
                raise BadInput(f"{self.title} has no {number} here.", f"Choose from: {there}.")
        return [by_number[number] for number in wanted]


@cache
def read_paper(name: str) -> Paper:
    content = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    ways = {key: Way(key, **values) for key, values in content.pop("ways", {}).items()}
    exhibits = tuple(_exhibit(values, ways) for values in content.pop("exhibits"))
    capabilities = tuple({"differs": "–", **values} for values in content.pop("capabilities", ()))
    return Paper(name, exhibits=exhibits, capabilities=capabilities, **content)


def _exhibit(values: Mapping[str, Any], ways: Mapping[str, Way]) -> Exhibit:
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    fields["scores"] = {metric: tuple(dimensions) for metric, dimensions in values.get("scores", {}).items()}
    fields["ways"] = tuple(ways[name] for name in values.get("ways", ()))
    fields["measure"] = "" if "texts" in values or "facts" in values else values.get("measure", "scores")
    return Exhibit(**fields)


def printed_figures(exhibit: Exhibit) -> pd.DataFrame:
    """Return the printed figures of an exhibit: `FIGURE_COLUMNS`, shares as fractions."""
    rows = [figure for way in exhibit.ways for figure in _figures_of_way(exhibit, way)]
    rows += [_declared_figure(exhibit, values) for values in exhibit.printed]
    return pd.DataFrame(rows, columns=FIGURE_COLUMNS)


def differences_of_source(exhibit: Exhibit) -> list[str]:
    """Return in what the items and settings behind the printed figures differ from what is measured here."""
    return list(dict.fromkeys(filter(None, (_file(_figures_file(way)).get("differs", "") for way in exhibit.ways))))


def models_of(exhibit: Exhibit, way: Way) -> list[str]:
    """Return the models that the paper asked in this way and that are on the hub."""
    if exhibit.models:
        return list(exhibit.models)
    models = dict.fromkeys(row["model"] for row in _figure_rows(exhibit, way) if row.get("model"))
    return [model for model in models if not model.startswith(UNRESOLVED)]


@cache
def sizes() -> Mapping[str, int]:
    """Return the parameters of the models of printed figures, as their sources or the table of models state them."""
    stated = {row["model"]: row["parameters"] for path in PUBLISHED.glob("*.json") for row in _file(path.stem)["rows"]}
    with (PUBLISHED / "models.csv").open(encoding="utf-8", newline="") as file:
        listed = {row["hub_id"] or row["model"]: row["parameters"] for row in csv.DictReader(file)}
    return {model: int(number) for model, number in [*stated.items(), *listed.items()] if number}


def _figures_of_way(exhibit: Exhibit, way: Way) -> Iterator[tuple[Any, ...]]:
    for number, row in enumerate(_figure_rows(exhibit, way)):
        model = step_name(number) if exhibit.steps else row.get("model", "")
        name = "" if exhibit.steps else row.get("name", "")
        for score in row["scores"]:
            if score["dimension"] in exhibit.scores.get(score["metric"], ()):
                key = (model, way.name, score["metric"], score["dimension"], score["group"])
                yield (*key, score["value"], name, row["reference"])


def step_name(number: int) -> str:
    """Return what tables call a state of a training, by its place from 0."""
    return f"state {number}"


def _declared_figure(exhibit: Exhibit, values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return a figure that stands in the declaration of the exhibit; what it does not say is what the others share."""
    key = {"model": "", "way": exhibit.ways[0].name, "metric": next(iter(exhibit.scores)), "dimension": OVERALL}
    own = {**key, "group": ALL, **values}
    return (*(own[name] for name in KEY), own["value"], own["model"], exhibit.number)


def _figure_rows(exhibit: Exhibit, way: Way) -> list[Mapping[str, Any]]:
    """Return the rows of the way's file that stand in this exhibit; several states of a training have one each."""
    file = _file(_figures_file(way))
    references = set(exhibit.references or [exhibit.number])
    rows = [*file.get("rows", ()), *file.get("dataset", ())]
    return [
        row
        for row in rows
        if references & set(row["reference"].split(", ")) and way.printed.items() <= row["settings"].items()
    ]


def _figures_file(way: Way) -> str:
    return way.figures or way.benchmark


@cache
def _file(name: str) -> Mapping[str, Any]:
    path = PUBLISHED / f"{name}.json"
    content: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return content
