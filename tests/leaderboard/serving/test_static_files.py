"""Static files: addresses that change with the content, and caching."""

import re

import pytest
from django.test import Client

from leaderboard.serving.web_server import VersionedFiles


@pytest.mark.django_db  # a page is kept by the version of the data, which the database holds
def test_a_style_sheet_has_an_address_with_its_digest_and_may_be_cached_for_a_year(client: Client) -> None:
    address = re.search(r'href="(/static/style\.css\?v=\w{12})"', client.get("/methods/").content.decode())
    assert address
    answer = client.get(address[1])
    assert "max-age=31536000" in answer["Cache-Control"]
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_a_missing_file_has_an_address_without_a_digest() -> None:
    assert VersionedFiles().url("nowhere.css") == "/static/nowhere.css"
