"""Addresses that this site had once: each leads to what is nearest, or says that it is gone."""

import re

import pytest
from django.test import Client

from leaderboard.urls import GONE

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("former", "nearest"),
    [
        ("/benchmarks/small/try/", "/benchmarks/small/items/"),
        ("/runs/1/map/", "/runs/1/"),
        ("/feeds/results.atom", "/feed.atom"),
        ("/feeds/benchmarks/small.atom", "/feed.atom"),
    ],
)
def test_a_former_address_leads_to_what_is_nearest(client: Client, former: str, nearest: str) -> None:
    assert client.get(former)["Location"] == nearest


@pytest.mark.parametrize("pattern", GONE)
def test_a_page_that_nothing_replaces_is_gone(client: Client, pattern: str) -> None:
    response = client.get(f"/{re.sub('<.*?>', '1', pattern)}")
    assert response.status_code == 410
    assert "no longer" in response.content.decode()
