"""robots.txt and the sitemaps: every page that should be found is named, and opens."""

import re

import pytest
from django.test import Client

from leaderboard.models import Run
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site

pytestmark = pytest.mark.django_db


def addresses(client: Client, sitemap: str) -> list[str]:
    response = client.get(sitemap)
    assert response.status_code == 200
    assert response["Content-Type"].startswith("application/xml")
    return re.findall(r"<loc>http://testserver(.*?)</loc>", response.content.decode())


def test_robots_are_led_to_the_sitemap_and_away_from_what_is_personal(client: Client) -> None:
    text = client.get("/robots.txt").content.decode()
    assert "\nDisallow: /submissions/\n" in text
    assert "\nSitemap: http://testserver/sitemap.xml\n" in text


def test_every_page_of_the_sitemaps_opens(client: Client, site: Site) -> None:
    pages = [page for part in addresses(client, "/sitemap.xml") for page in addresses(client, part)]
    assert {"/", "/benchmarks/small/", f"/runs/{site.first.pk}/", f"/models/{site.first.model.hub_id}/"} <= set(pages)
    assert f"/runs/{site.running.pk}/" not in pages
    assert len(pages) == len(set(pages))
    for page in pages:
        assert client.get(page).status_code == 200


def test_a_run_states_when_it_was_measured_and_baselines_are_no_models(client: Client) -> None:
    benchmark = make.benchmark()
    make.finished(benchmark)
    make.finished(benchmark, of=make.model("baseline/chance"), provenance=Run.Provenance.BASELINE)
    assert "<lastmod>2026-11-01</lastmod>" in client.get("/sitemap-runs.xml").content.decode()
    assert len(addresses(client, "/sitemap-models.xml")) == 1
