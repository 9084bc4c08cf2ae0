import json
from pathlib import Path
from typing import Any

import pytest

from leaderboard.lists.published import differs
from leaderboard.models import Benchmark, Model, Run
from leaderboard.probe_pages import published
from leaderboard.stored import benchmarks
from probing.errors import BadInput
from tests.conftest import BearFolder

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


def write(folder: Path, **changes: Any) -> Path:
    (folder / "paper.json").write_text(json.dumps(FILE | changes))
    return folder


def test_it_makes_rows_with_their_source(tmp_path: Path) -> None:
    assert published.load(write(tmp_path)) == 1
    run = Run.objects.get()
    assert (run.provenance, run.state, run.finished) == (Run.Provenance.PUBLISHED, Run.State.FINISHED, None)
    assert run.reference == "A. Author (2024): A Paper, Table 4"
    assert (run.model.hub_id, run.model.source, run.model.parameters) == ("org/name", Model.Source.PUBLISHED, 10**9)
    assert run.scores.get().value == 0.5


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
    published.load(write(tmp_path, rows=[ROW | {"settings": reported}]))
    assert Run.objects.get().settings == stored


def test_it_does_the_same_twice_without_harm(tmp_path: Path) -> None:
    published.load(write(tmp_path))
    run = Run.objects.get()
    published.load(tmp_path)
    assert Run.objects.get() == run
    assert run.scores.count() == 1


def test_rows_that_are_gone_from_the_files_go(tmp_path: Path) -> None:
    published.load(write(tmp_path))
    published.load(write(tmp_path, rows=[ROW | {"reference": "Table 5"}]))
    assert Run.objects.get().reference.endswith("Table 5")


def test_measured_runs_are_left_alone(tmp_path: Path, small: Benchmark) -> None:
    before = set(Run.objects.all())
    published.load(write(tmp_path))
    published.load(write(tmp_path, rows=[]))
    assert set(Run.objects.all()) == before


def test_a_benchmark_may_be_imported_later(tmp_path: Path, bear_folder: BearFolder) -> None:
    published.load(write(tmp_path))
    assert Benchmark.objects.get(slug="small").current
    benchmark, _ = benchmarks.install("bear", bear_folder.write(), "small")
    assert benchmarks.current("small") == benchmark


def test_a_file_that_is_no_such_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "paper.json").write_text("{}")
    with pytest.raises(BadInput, match=r"paper\.json"):
        published.load(tmp_path)


def test_what_ships_can_be_loaded() -> None:
    folder = Path(__file__).parents[3] / "fixtures" / "published"
    assert published.load(folder) == Run.objects.count() > 100


@pytest.mark.parametrize(("about", "difference"), [(ELSEWHERE, ""), (FILE["benchmark"], "Other items.")])
def test_figures_that_differ_and_their_version_must_agree(
    tmp_path: Path, about: dict[str, str], difference: str
) -> None:
    with pytest.raises(BadInput, match="State what differs"):
        published.load(write(tmp_path, benchmark=about, differs=difference))
    assert not Run.objects.exists()


def test_what_differs_is_stored(tmp_path: Path) -> None:
    published.load(write(tmp_path, benchmark=ELSEWHERE, differs="Other items."))
    assert differs(Run.objects.get()) == "Other items."


def test_a_baseline_is_one_and_goes_when_it_is_no_longer_listed(tmp_path: Path) -> None:
    published.load(write(tmp_path, rows=[ROW | {"baseline": True}]))
    assert Run.objects.get().provenance == Run.Provenance.BASELINE
    published.load(write(tmp_path, rows=[]))
    assert not Run.objects.exists()
