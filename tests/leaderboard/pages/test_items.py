"""/runs/<id>/items/ : filters against counting by hand, the file itself, what is missing."""

from io import BytesIO

import pandas as pd
import pytest
from django.test import Client

from leaderboard.models import Benchmark
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


def test_a_published_run_has_no_items_and_says_so(client: Client, site: Site) -> None:
    response = client.get(f"/runs/{site.published.pk}/items/")
    assert response.status_code == 404
    assert "no items to show" in response.content.decode()
    assert client.get(f"/runs/{site.published.pk}/items.parquet").status_code == 404


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
