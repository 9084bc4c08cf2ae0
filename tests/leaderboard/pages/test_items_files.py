"""The files with all items of a run: JSONL has what Parquet has."""

import gzip
import json
from io import BytesIO

import pandas as pd
import pytest
from django.test import Client

from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site

pytestmark = pytest.mark.django_db


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


def test_a_run_without_items_has_no_such_file(client: Client, site: Site) -> None:
    assert client.get(f"{site.published.get_absolute_url()}items.jsonl").status_code == 404
