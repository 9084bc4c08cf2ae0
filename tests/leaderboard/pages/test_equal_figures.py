"""The library, pages, CSV, API, Parquet and Every Eval Ever give equal numbers, for every probe."""

import io
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from django.test import Client

from leaderboard.models import Run
from leaderboard.ui.spelled import figure
from leaderboard.worker.importing import import_result
from probing.catalog import CATALOG, open_benchmark
from probing.results.result import Result
from probing.runner import run as measure
from tests.fakes import FAKE_CARD, Pupil
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.exports.test_every_eval_ever import expect_record_with_all_scores_and_answers

pytestmark = pytest.mark.django_db
Figures = dict[tuple[str, str, str], float]


def from_csv(client: Client, address: str, table: str = "") -> Figures:
    rows = csv_rows(client, address, table)
    return {(row["metric"], row["dimension"], row["group"]): float(row["value"]) for row in rows if row["value"]}


def from_api(client: Client, run: Run) -> Figures:
    scores = client.get(f"/api/v1/runs/{run.pk}/scores").json()["scores"]
    return {(s["metric"], s["dimension"], s["group"]): s["value"] for s in scores if s["value"] is not None}


def from_parquet(client: Client, run: Run) -> Figures:
    board = pd.read_parquet(io.BytesIO(client.get("/board.parquet").getvalue()))
    rows = board[(board["run"] == run.pk) & board["value"].notna()]
    return dict(zip(zip(rows["metric"], rows["dimension"], rows["group"], strict=True), rows["value"], strict=True))


def imported(slug: str, folder: Path) -> Run:
    """A run of a shipped benchmark with everything that a real run has."""
    make.shipped(slug)
    probe = CATALOG[slug].probe
    limit = None if probe == "perplexity" else 4  # what is false stands behind what is true
    card = replace(FAKE_CARD, id="org/elsewhere", kind="causal")
    content = open_benchmark(slug)
    some = tuple(dict.fromkeys(relation.label for relation in content.relations))[:3]
    measure(Pupil(card=card), content, out=folder, probe=probe, relations=some, limit=limit)
    return import_result(folder, "Example University", "https://example.org/")


def expect_rows_and_scores_of_the_library(run: Run, stored: Figures, folder: Path) -> None:
    library = Result.load(folder)
    pd.testing.assert_frame_equal(make.stored_rows(run), library.items)
    scores = library.scores.dropna(subset=["value"]).set_index(["metric", "dimension", "group"])["value"]
    assert stored == pytest.approx(scores.to_dict(), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("slug", [slug for slug, entry in CATALOG.items() if not entry.downloads])
def test_all_forms_of_a_run_have_the_same_figures(client: Client, slug: str, tmp_path: Path) -> None:
    run = imported(slug, tmp_path / "result")
    stored: Figures = {(s.metric, s.dimension, s.group): s.value for s in run.scores.exclude(value=None)}
    expect_rows_and_scores_of_the_library(run, stored, tmp_path / "result")
    expect_record_with_all_scores_and_answers(client, run)
    assert from_csv(client, run.get_absolute_url(), "scores") == stored
    assert from_api(client, run) == stored
    assert from_parquet(client, run) == stored
    metric = run.benchmark.main_metric
    page = client.get(run.get_absolute_url()).content.decode()
    assert figure(stored[metric, "overall", "all"]) in page
    (row,) = [row for row in csv_rows(client, run.benchmark.get_absolute_url()) if row["run"] == str(run.pk)]
    # The board of culture pairs shows one pair in one language, all others the figure over all items.
    shown = {value for key, value in stored.items() if key[0] == metric and (slug == "culture" or "overall" in key)}
    assert float(row[metric]) in shown
