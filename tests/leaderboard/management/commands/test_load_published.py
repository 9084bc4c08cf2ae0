import json
from pathlib import Path
from typing import Any

import pytest

from leaderboard.figures import benchmarks
from leaderboard.management.commands import load_published
from leaderboard.models import Benchmark, FormerName, Model, Printed, PrintedRow, Run
from tests.conftest import BearFolder
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db
SCORE = {"metric": "accuracy", "dimension": "overall", "group": "all", "value": 0.5, "n": 10, "low": None, "high": None}
ROW = {
    "model": "org/name",
    "name": "Name-1B",
    "kind": "causal",
    "parameters": 10**9,
    "settings": {"prompting": "few-shot"},
    "reference": "Table 4",
    "scores": [SCORE],
}
FILE = {
    "source": {
        "title": "A Paper", "authors": "A. Author", "year": 2024, "venue": "V", "url": "https://x.org/1", "licence": "",
    },
    "benchmark": {"slug": "small", "title": "Small", "version": "1", "probe": "multiple_choice"},
    "differs": "",
    "rows": [ROW],
}  # fmt: skip
ELSEWHERE = {"slug": "small", "title": "Small", "version": "published", "probe": "multiple_choice"}


def write(folder: Path, *models: str, **changes: Any) -> Path:
    """Write a file of figures, and the table of models."""
    (folder / "paper.json").write_text(json.dumps(FILE | changes))
    header = "model,name,hub_id,parameters,kind,id_source,size_source"
    (folder / "models.csv").write_text("\n".join([header, *models]) + "\n")
    return folder


def test_it_stores_figures_with_their_source(tmp_path: Path) -> None:
    assert load_published.load(write(tmp_path)) == 1
    printed = Printed.objects.get()
    assert (printed.metric, printed.dimension, printed.part, printed.value, printed.n) == (
        *("accuracy", "overall", "all", 0.5, 10),
    )
    row = PrintedRow([printed])
    assert (row.reference, row.citation) == ("A. Author (2024): A Paper, Table 4", "Author 2024")
    model = printed.model
    assert (model.hub_id, model.source, model.parameters) == ("org/name", Model.Source.PUBLISHED, 10**9)


def test_a_standard_error_stands_beside_its_figure(tmp_path: Path) -> None:
    error = SCORE | {"metric": "accuracy_sem", "value": 0.1}
    load_published.load(write(tmp_path, rows=[ROW | {"scores": [error, SCORE]}]))
    assert (Printed.objects.get().value, Printed.objects.get().error) == (0.5, 0.1)


@pytest.mark.parametrize(
    ("reported", "stored"),
    [
        ({"prompting": "few-shot"}, {"options": {"prompting": "few-shot"}}),
        ({"language": "ar", "pair": "arab-west"}, {"language": "ar", "options": {"pair": "arab-west"}}),
        ({"language": "ar"}, {"language": "ar"}),
        ({}, {}),
    ],
)
def test_options_are_stored_as_those_of_measured_runs(
    tmp_path: Path, reported: dict[str, str], stored: dict[str, Any]
) -> None:
    load_published.load(write(tmp_path, rows=[ROW | {"settings": reported}]))
    assert Printed.objects.get().settings == stored


def test_what_is_loaded_replaces_what_was_there(tmp_path: Path) -> None:
    load_published.load(write(tmp_path))
    load_published.load(write(tmp_path, rows=[ROW | {"reference": "Table 5"}]))
    assert Printed.objects.get().place == "Table 5"


def test_measured_runs_are_left_alone(tmp_path: Path, small: Benchmark) -> None:
    before = set(Run.objects.all())
    load_published.load(write(tmp_path))
    load_published.load(write(tmp_path, rows=[]))
    assert set(Run.objects.all()) == before


def test_a_benchmark_may_be_imported_later(tmp_path: Path, bear_folder: BearFolder) -> None:
    load_published.load(write(tmp_path))
    assert Benchmark.objects.get(slug="small").current
    benchmark, _ = benchmarks.install("bear", bear_folder.write(), "small")
    assert benchmarks.current("small") == benchmark


def test_what_differs_is_stored(tmp_path: Path) -> None:
    load_published.load(write(tmp_path, benchmark=ELSEWHERE, differs="Other items."))
    assert Printed.objects.get().differs == "Other items."


def test_a_baseline_is_marked(tmp_path: Path) -> None:
    load_published.load(write(tmp_path, rows=[ROW | {"baseline": True}, ROW | {"name": "Name-2B"}]))
    assert dict(Printed.objects.values_list("name", "baseline")) == {"Name-1B": True, "Name-2B": False}


def test_a_printed_name_becomes_the_model_of_the_hub(tmp_path: Path) -> None:
    unknown = ROW | {"model": "published/name-1b", "parameters": None, "kind": ""}
    load_published.load(write(tmp_path, rows=[unknown]))
    before = Printed.objects.get().model
    assert (before.title, before.parameters) == ("Name-1B", None)
    listed = "published/name-1b,Name-1B,org/name,1000000000,causal,https://x.org/1,https://x.org/2"
    for _ in range(2):
        load_published.load(write(tmp_path, listed, rows=[unknown]))
        model = Printed.objects.get().model
        assert (model.hub_id, model.title, model.kind, model.parameters) == ("org/name", "org/name", "causal", 10**9)
        assert not Model.objects.filter(hub_id="published/name-1b").exists()
        assert FormerName.objects.get().hub_id == "org/name"


def test_two_spellings_of_a_model_become_one(tmp_path: Path) -> None:
    twin = ROW | {"model": "published/nm", "name": "NM", "reference": "Table 5", "parameters": None}
    listed = "published/nm,NM,org/name,1000000000,causal,https://x.org/1,https://x.org/2"
    load_published.load(write(tmp_path, listed, rows=[ROW, twin]))
    assert Printed.objects.count() == 2
    assert Model.objects.get().parameters == 10**9


def test_a_size_that_the_source_prints_is_not_replaced(tmp_path: Path) -> None:
    listed = "org/name,Name-1B,org/name,5000000000,causal,https://x.org/1,https://x.org/2"
    load_published.load(write(tmp_path, listed))
    assert Model.objects.get().parameters == 10**9


def test_a_measured_run_of_the_former_name_keeps_its_model(tmp_path: Path, small: Benchmark) -> None:
    measured = make.finished(small, 0.5, make.model("published/name-1b", source=Model.Source.PUBLISHED))
    listed = "published/name-1b,Name-1B,org/name,1000000000,causal,https://x.org/1,https://x.org/2"
    load_published.load(write(tmp_path, listed))
    measured.refresh_from_db()
    assert measured.model.hub_id == "published/name-1b"
