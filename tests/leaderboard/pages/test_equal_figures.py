"""Pages, CSV, API, Parquet, snapshots and Every Eval Ever give equal numbers, for every probe."""

import io
from pathlib import Path

import pandas as pd
import pytest
from django.test import Client

from leaderboard.models import Run
from leaderboard.operations.freezing import freeze
from leaderboard.probes import pages_of
from leaderboard.ui import cells
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.exports.test_every_eval_ever import SHIPPED, imported

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


def from_record(client: Client, run: Run) -> list[float]:
    """The values of the record of Every Eval Ever, which names metrics and groups in its own way."""
    record = client.get(f"{run.get_absolute_url()}every-eval-ever.json").json()
    return sorted(result["score_details"]["score"] for result in record["evaluation_results"])


@pytest.mark.slow
@pytest.mark.parametrize("slug", SHIPPED)
def test_all_forms_of_a_run_have_the_same_figures(client: Client, slug: str, tmp_path: Path) -> None:
    run = imported(slug, tmp_path / "result")
    stored: Figures = {(s.metric, s.dimension, s.group): s.value for s in run.scores.exclude(value=None)}
    assert from_csv(client, run.get_absolute_url(), "scores") == stored
    assert from_api(client, run) == stored
    assert from_parquet(client, run) == stored
    snapshot = freeze([f"{run.get_absolute_url()}?table=scores"])
    assert from_csv(client, snapshot.get_absolute_url()) == stored
    assert from_record(client, run) == sorted(stored.values())
    metric = pages_of(run.benchmark).main_metric(run.benchmark)
    page = client.get(run.get_absolute_url()).content.decode()
    assert cells.score(stored[metric, "overall", "all"]).text in page
    (row,) = [row for row in csv_rows(client, run.benchmark.get_absolute_url()) if row["run"] == str(run.pk)]
    # The board of culture pairs shows one pair in one language, all others the figure over all items.
    shown = {value for key, value in stored.items() if key[0] == metric and (slug == "culture" or "overall" in key)}
    assert float(row[metric]) in shown
