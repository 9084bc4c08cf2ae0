"""/board.parquet: what pandas and DuckDB read from a running site."""

import json
from io import BytesIO

import pandas as pd
import pytest
from django.test import Client

from leaderboard.models import Run
from leaderboard.pages import board_page
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site

pytestmark = pytest.mark.django_db


def read(client: Client) -> pd.DataFrame:
    response = client.get("/board.parquet")
    assert response.status_code == 200
    return pd.read_parquet(BytesIO(response.getvalue()))


def test_each_score_of_the_api_is_a_row_with_its_run(client: Client, site: Site) -> None:
    rows = read(client)
    assert set(rows["run"].dropna()) == set(Run.objects.filter(state=Run.State.FINISHED).values_list("pk", flat=True))
    for run, scores in rows.dropna(subset="run").astype({"run": int}).groupby("run"):
        about = client.get(f"/api/v1/runs/{run}").json()
        names = ["metric", "dimension", "group", "value", "n", "low", "high"]
        assert scores["model"].unique() == [about["model"]["hub_id"]]
        assert scores["version"].unique() == [about["benchmark"]["version"]]
        assert json.loads(scores["settings"].iloc[0]) == about["settings"]
        assert scores["provenance"].unique() == [about["provenance"]]
        expected = pd.DataFrame(client.get(f"/api/v1/runs/{run}/scores").json()["scores"])[names]
        figures = scores[names].reset_index(drop=True)
        pd.testing.assert_frame_equal(figures, expected.astype(figures.dtypes), check_exact=False)


def test_printed_figures_are_rows_without_a_run(client: Client, site: Site) -> None:
    make.printed(site.benchmark, [{"value": 0.7, "error": 0.01}], site.first.model)
    rows = read(client)
    printed = rows[rows["provenance"] == "published"]
    assert printed["run"].isna().all()
    assert set(printed["reference"]) == {site.published.reference}
    own = printed[printed["model"] == site.first.model.hub_id]
    assert dict(zip(own["metric"], own["value"], strict=True)) == {"accuracy": 0.7, "accuracy_sem": 0.01}


def test_columns_have_types_also_where_nothing_is_known(client: Client) -> None:
    make.finished(make.benchmark(), None, make.model(parameters=None))
    rows = read(client)
    assert pd.isna(rows["parameters"].iloc[0])
    assert rows["finished"].dt.tz is not None
    assert rows["value"].dtype == "float64"


def test_a_site_without_results_has_a_file_without_rows(client: Client) -> None:
    assert list(read(client).columns) == [*board_page.COLUMNS, *board_page.SCORES]


@pytest.mark.django_db(transaction=True)
def test_it_is_made_once_for_the_same_data_and_again_after_a_result(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = make.benchmark()
    make.finished(benchmark)
    first = client.get("/board.parquet")["ETag"]
    with monkeypatch.context() as patch:
        patch.setattr(board_page, "_write", None)
        assert client.get("/board.parquet", headers={"If-None-Match": first}).status_code == 304
    make.finished(benchmark)
    assert client.get("/board.parquet")["ETag"] != first
    assert read(client)["run"].nunique() == 2
    assert len(list(board_page.board_file().parent.glob("*.parquet"))) == 1


def test_a_part_of_it_can_be_asked_for(client: Client) -> None:
    make.finished(make.benchmark())
    whole = client.get("/board.parquet").getvalue()
    end = client.get("/board.parquet", headers={"Range": "bytes=-4"})
    assert (end.status_code, end.getvalue()) == (206, b"PAR1")
    assert end["Content-Range"] == f"bytes {len(whole) - 4}-{len(whole) - 1}/{len(whole)}"
    head = client.head("/board.parquet")
    assert (head["Content-Length"], head["Accept-Ranges"]) == (str(len(whole)), "bytes")
    assert client.get("/board.parquet", headers={"Range": f"bytes={len(whole)}-"}).status_code == 416
    assert client.post("/board.parquet").status_code == 405
