"""/embed/ : parts of pages in frames of other sites."""

import re
from html import unescape
from urllib.parse import urlsplit

import pytest
from django.http import HttpResponse
from django.test import Client

from leaderboard.models import FormerName
from tests.leaderboard.conftest import Site
from tests.leaderboard.views.html_table import Tables

pytestmark = pytest.mark.django_db


def frames(client: Client, page: str) -> list[str]:
    """Return the addresses of the frames that a page offers."""
    html = client.get(page).content.decode()
    assert "<iframe" not in html  # the code is shown, and frames nothing here
    html = unescape(html)
    return [unescape(address) for address in re.findall(r'<iframe src="([^"]+)"', html)]


def shown(client: Client, address: str) -> HttpResponse:
    parts = urlsplit(address)
    return client.get(f"{parts.path}?{parts.query}")


def pages(site: Site) -> list[str]:
    run, other = site.first.pk, site.second.pk
    return [
        "/",
        "/benchmarks/small/",
        "/benchmarks/small/relations/P30/",
        "/models/org/first/",
        f"/runs/{run}/",
        f"/compare/?m={run}&m={other}",
    ]


def test_every_frame_that_a_page_offers_shows_a_part_with_its_source(client: Client, site: Site) -> None:
    for page in pages(site):
        addresses = frames(client, page)
        assert addresses, page
        for address in addresses:
            response = shown(client, address)
            html = response.content.decode()
            assert response.status_code == 200, address
            assert ("data-chart=" in html) == ("chart=" in address)
            assert f'<a href="http://testserver{page}"' in unescape(html)


def test_only_frames_may_be_shown_by_other_sites_and_they_set_no_cookies(client: Client, site: Site) -> None:
    for address in frames(client, "/benchmarks/small/"):
        response = shown(client, address)
        assert "frame-ancestors *" in response["Content-Security-Policy"]
        assert "script-src 'self';" in response["Content-Security-Policy"]
        assert "X-Frame-Options" not in response and not response.cookies
    for address in ("/", "/benchmarks/small/", "/embed/benchmarks/small/?chart=none", "/embed/nowhere/"):
        response = client.get(address)
        assert response["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in response["Content-Security-Policy"]


def test_a_chart_has_a_table_for_readers_without_scripts(client: Client, site: Site) -> None:
    (address, *_) = [address for address in frames(client, "/benchmarks/small/") if "chart=" in address]
    html = shown(client, address).content.decode()
    assert '<div class="no-js">' in html and Tables(html).found


def test_the_rows_of_a_table_can_be_chosen(client: Client, site: Site) -> None:
    address = "/embed/benchmarks/small/?table=leaderboard&search=org/first&rows=1"
    (name, rows), *more = Tables(client.get(address).content.decode()).found.items()
    assert (name, len(rows), more) == ("leaderboard", 2, [])  # the heads and one row
    assert "org/first" in " ".join(rows[1])
    assert "?sort=" not in client.get(address).content.decode()


def test_the_colours_can_be_chosen(client: Client, site: Site) -> None:
    page = f"/embed/runs/{site.first.pk}/?table=scores"
    assert 'data-theme="dark"' in client.get(f"{page}&theme=dark").content.decode()
    for address in (page, f"{page}&theme=<b>"):
        assert "data-theme" not in client.get(address).content.decode()


@pytest.mark.parametrize("page", ["submit/", "admin/", "embed/", "queue/", "runs/999999/", "benchmarks/none/"])
def test_other_pages_have_no_parts_for_frames(client: Client, site: Site, page: str) -> None:
    assert client.get(f"/embed/{page}").status_code == 404


@pytest.mark.parametrize("part", ["chart=none", "table=none"])
def test_a_part_that_the_page_does_not_have_is_not_found(client: Client, site: Site, part: str) -> None:
    assert client.get(f"/embed/benchmarks/small/?{part}").status_code == 404


def test_a_frame_of_a_renamed_model_follows_it(client: Client, site: Site) -> None:
    FormerName.objects.create(name="old/name", hub_id="org/first")
    assert client.get("/embed/models/old/name/")["Location"].startswith("/embed/models/")
