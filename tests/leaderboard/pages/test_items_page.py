"""/runs/<id>/items/ : filters against counting by hand, the files with all items, what is missing."""

import gzip
import json
from io import BytesIO

import pandas as pd
import pytest
from django.http import QueryDict
from django.test import Client

from leaderboard.figures import item_rows
from leaderboard.models import Benchmark
from leaderboard.pages.items_page import ItemsForm
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.pages.html_table import Tables


@pytest.fixture
def stored(client: Client, site: Site) -> pd.DataFrame:
    content = client.get(f"/runs/{site.first.pk}/items.parquet").getvalue()
    return pd.read_parquet(BytesIO(content))


def test_the_file_has_every_item_and_template(stored: pd.DataFrame) -> None:
    assert len(stored) == 12
    assert stored["scores"].map(len).isin([2, 3]).all()


def test_the_file_is_not_sent_again_while_it_is_the_same_and_a_run_without_items_has_none(
    client: Client, site: Site
) -> None:
    address = f"/runs/{site.first.pk}/items.parquet"
    etag = client.get(address)["ETag"]
    assert client.get(address, headers={"If-None-Match": etag}).status_code == 304
    assert client.get(f"/runs/{site.published.pk}/items.parquet").status_code == 404


def test_the_page_counts_what_it_found(client: Client, site: Site, stored: pd.DataFrame) -> None:
    html = client.get(f"/runs/{site.first.pk}/items/?relation=P36").content.decode()
    assert "4 rows" in html


def test_each_question_is_a_sentence_with_its_blank(client: Client, site: Site, stored: pd.DataFrame) -> None:
    rows = Tables(client.get(f"/runs/{site.first.pk}/items/").content.decode()).found["items"]
    questions = [row[0] for row in rows[1:]]
    assert len(questions) == len(stored)
    assert all(row.subject in question for row, question in zip(stored.itertuples(), questions, strict=True))
    assert all("____" in question for question in questions)


def test_a_run_whose_benchmark_is_gone_names_the_subjects(client: Client, site: Site, stored: pd.DataFrame) -> None:
    Benchmark.objects.update(path="")
    rows = Tables(client.get(f"/runs/{site.first.pk}/items/").content.decode()).found["items"]
    assert [row[0] for row in rows[1:]] == list(stored["subject"])
    assert "template" in rows[0]


def test_a_wrong_filter_is_said_and_left_out(client: Client, site: Site) -> None:
    html = client.get(f"/runs/{site.first.pk}/items/?relation=P99").content.decode()
    assert "Select a valid choice" in html
    assert "12 rows" in html


def test_a_template_can_be_asked_for_where_there_is_one_only(client: Client, site: Site, small: Benchmark) -> None:
    run = make.measured(small, make.model(), skill=1, templates=(0,))
    run.scores.filter(dimension="template").delete()
    assert client.get(f"/api/v1/runs/{run.pk}/items?template=0").json()["found"] == 6
    assert "Select a valid choice" not in client.get(f"/runs/{run.pk}/items/?template=0").content.decode()


def test_all_columns_are_shown_where_they_are_asked_for(client: Client, site: Site) -> None:
    address = f"/runs/{site.first.pk}/items/"
    assert 'data-column="subject_id"' not in client.get(address).content.decode()
    page = client.get(f"{address}?columns=all&correct=no").content.decode()
    assert 'data-column="subject_id"' in page
    assert '<input type="hidden" name="columns" value="all">' in page


def test_a_run_without_stored_items_says_so_and_has_no_files_of_them(client: Client, site: Site) -> None:
    run = make.finished(site.benchmark)
    response = client.get(f"/runs/{run.pk}/items/")
    assert response.status_code == 404
    assert "no items to show" in response.content.decode()
    for file in ("items.parquet", "items.jsonl"):
        assert client.get(f"/runs/{run.pk}/{file}").status_code == 404


@pytest.mark.parametrize("download", ["items/?format=csv&correct=no", "items.parquet"])
def test_a_download_that_is_there_already_is_not_sent_again(client: Client, site: Site, download: str) -> None:
    address = f"/runs/{site.first.pk}/{download}"
    etag = client.get(address)["ETag"]
    assert client.get(address, headers={"If-None-Match": etag}).status_code == 304
    others = [f"/runs/{site.second.pk}/{download}", f"/runs/{site.first.pk}/items/?format=csv&correct=yes"]
    for other in others:
        response = client.get(other, headers={"If-None-Match": etag})
        assert response.status_code == 200
        assert response.getvalue()


def test_parquet_is_not_compressed_again(client: Client, site: Site) -> None:
    answer = client.get(f"/runs/{site.first.pk}/items.parquet", headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in answer
    assert int(answer["Content-Length"]) == len(answer.getvalue())


# The files with all items of a run: JSONL has what Parquet has.


def test_json_lines_have_the_rows_and_columns_of_the_parquet_file(client: Client, site: Site) -> None:
    page = site.first.get_absolute_url()
    response = client.get(f"{page}items.jsonl")
    rows = pd.DataFrame([json.loads(line) for line in response.getvalue().decode().splitlines()])
    stored = pd.read_parquet(BytesIO(client.get(f"{page}items.parquet").getvalue()))
    assert list(rows) == list(stored)
    for name in rows:
        left, right = ([list(v) if hasattr(v, "__len__") else v for v in frame[name]] for frame in (rows, stored))
        assert left == right, name
    assert response["Content-Disposition"] == f'attachment; filename="clozeboard-runs-{site.first.pk}-items.jsonl"'


def test_they_are_compressed_and_not_sent_again_while_they_are_the_same(client: Client, site: Site) -> None:
    address = f"{site.first.get_absolute_url()}items.jsonl"
    plain = client.get(address).getvalue()
    packed = client.get(address, headers={"Accept-Encoding": "gzip"})
    assert packed["Content-Encoding"] == "gzip"
    content = packed.getvalue()
    assert gzip.decompress(content) == plain and len(content) < len(plain) / 3
    again = client.get(address, headers={"If-None-Match": packed["ETag"]})
    assert again.status_code == 304


def test_a_missing_number_is_null(client: Client, site: Site) -> None:
    rows = pd.DataFrame({"relation": ["P30"], "template": [0], "index": [0], "margin": [float("nan")]})
    run = make.stored_items(make.model(), site.benchmark, rows)
    (line,) = client.get(f"{run.get_absolute_url()}items.jsonl").getvalue().decode().splitlines()
    assert json.loads(line, parse_constant=pytest.fail)["margin"] is None


def test_items_that_are_neither_right_nor_wrong_have_no_such_filter(site: Site) -> None:
    values = {name: both for name, both in item_rows.ends(site.first).items() if name != "correct"}
    assert "correct" not in ItemsForm(QueryDict("correct=yes"), run=site.first, values=values).fields
