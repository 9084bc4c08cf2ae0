"""Load the figures that papers print, and the models that they are about."""

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from leaderboard.figures.benchmarks import is_main, title_with_probe
from leaderboard.management.base import PlainCommand
from leaderboard.models import Benchmark, FormerName, Model, Printed
from leaderboard.probes import pages_of
from leaderboard.probes.probe_pages import Json
from probing.settings import SETTINGS

TABLE = "models.csv"  # of what is known of the models that papers name
ERROR = "_sem"  # what follows the name of a metric in a score that is its standard error
UNRESOLVED = "published/"  # what the ids of rows begin with whose model is known by its printed name only


class Command(PlainCommand):
    help = "Load the published results that ship with the project; run it again after an update."

    def run(self, **options: Any) -> None:
        count = load(settings.BASE_DIR / "fixtures" / "published")
        self.say(f"{count} published results.")


def load(folder: Path) -> int:
    """Replace all printed figures by those of the folder's files; return how many rows of results these have."""
    table = read_table(folder)
    with transaction.atomic():
        Printed.objects.all().delete()
        rows = 0
        for path in sorted(folder.glob("*.json")):
            rows += _load_file(path, table, rows + 1)
        store_former_names(table)
    return rows


def _load_file(path: Path, table: Mapping[str, Model], first: int) -> int:
    """Store the figures of a file, whose rows are numbered from the first number; return how many rows it has."""
    content = json.loads(path.read_text(encoding="utf-8"))
    benchmark = _benchmark(content["benchmark"], content["source"])
    for number, row in enumerate(content["rows"], start=first):
        figures = _figures(benchmark, content, row, table)
        Printed.objects.bulk_create(Printed(row=number, **figure) for figure in figures)
    return len(content["rows"])


def _benchmark(facts: Json, source: Json) -> Benchmark:
    """Return the version that the figures are about; its files may be imported later."""
    slug, probe = facts["slug"], facts["probe"]
    current, main = Benchmark.objects.filter(slug=slug, probe=probe, current=True), is_main(slug, probe)
    benchmark, _ = Benchmark.objects.get_or_create(
        slug=slug,
        version=facts["version"],
        probe=probe,
        defaults={
            "title": facts["title"] if main else title_with_probe(facts["title"], probe),
            "main": main,
            "source": source["url"],
            "current": not current.exists(),
        },
    )
    return benchmark


def nested(values: Json) -> dict[str, Any]:
    """Return settings with everything that is no setting of the library under `options`, as measured runs store it."""
    own = {name: value for name, value in values.items() if name in SETTINGS}
    options = {name: value for name, value in values.items() if name not in SETTINGS}
    return {**own, "options": options} if options else own


def _figures(benchmark: Benchmark, content: Json, row: Json, table: Mapping[str, Model]) -> Iterator[dict[str, Any]]:
    """Yield the fields of the figures of a row; standard errors stand beside what they are about."""
    shared = {
        "model": store_model(table, row),
        "benchmark": benchmark,
        "name": row["name"],
        "baseline": bool(row.get("baseline")),
        "settings": nested(row["settings"]),
        "source": {name: value for name, value in content["source"].items() if name != "licence"},
        "place": row["reference"],
        "differs": content["differs"],
    }
    stated = [*row["scores"], *pages_of(benchmark).published_scores(row["settings"], row["scores"])]
    scores = {(score["metric"], score["dimension"], score["group"]): score for score in stated}
    for (metric, dimension, part), score in scores.items():
        if metric.endswith(ERROR) and (metric.removesuffix(ERROR), dimension, part) in scores:
            continue
        error = scores.get((metric + ERROR, dimension, part), {}).get("value")
        question = {"metric": metric, "dimension": dimension, "part": part}
        yield {**shared, **question, "value": score["value"], "error": error, "n": score["n"]}


# Which models published figures are about: ids on the hub and sizes for the names that papers print.


def read_table(folder: Path) -> dict[str, Model]:
    """Return the models of the folder's table by their names in the rows."""
    with (folder / TABLE).open(encoding="utf-8", newline="") as file:
        return {row["model"]: _listed(row) for row in csv.DictReader(file)}


def _listed(row: Mapping[str, str]) -> Model:
    """Return the model of a row of the table, unsaved; it has a printed name where its id on the hub is not known."""
    parameters = int(row["parameters"]) if row["parameters"] else None
    printed_name = "" if row["hub_id"] else row["name"]
    return Model(
        hub_id=row["hub_id"] or row["model"], printed_name=printed_name, kind=row["kind"], parameters=parameters
    )


def store_model(table: Mapping[str, Model], row: Json) -> Model:
    """Return the model of a row of figures, with its facts brought up to date; a size that its source prints stays."""
    name = row["model"]
    listed = table.get(name) or Model(hub_id=name, printed_name=row["name"] if name.startswith(UNRESOLVED) else "")
    facts = {
        "kind": listed.kind or row["kind"],
        "parameters": row["parameters"] or listed.parameters,
        "printed_name": listed.printed_name,
    }
    model, _ = Model.objects.update_or_create(
        hub_id=listed.hub_id, commit="", source=Model.Source.PUBLISHED, defaults=facts
    )
    return model


def store_former_names(table: Mapping[str, Model]) -> None:
    """Let the addresses of models under their former names redirect, and delete the rows that stood for these."""
    renamed = {name: model.hub_id for name, model in table.items() if model.hub_id != name}
    for name, hub_id in renamed.items():
        FormerName.objects.update_or_create(name=name, defaults={"hub_id": hub_id})
    former = Model.objects.filter(hub_id__in=renamed, source=Model.Source.PUBLISHED)
    former.filter(runs=None, printed=None).delete()
