"""Search, names that are nearly right, robots.txt and the sitemaps: what is there is found, and opens."""

import re

import pytest
from django.test import Client

from leaderboard.pages.search_page import pages_named
from leaderboard.probes.wording import read_relations
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site

pytestmark = pytest.mark.django_db


def test_models_benchmarks_and_relations_are_suggested(site: Site) -> None:
    assert [(page["name"], page["kind"]) for page in pages_named("SECOND")] == [("org/second", "model")]
    assert next((page["name"], page["kind"]) for page in pages_named("small")) == ("small", "benchmark")
    (relation,) = pages_named("capit")
    assert (relation["name"], relation["kind"]) == ("Capital (small)", "relation")
    assert relation["href"] == "/benchmarks/small/relations/P36/"


def test_nothing_is_suggested_for_too_few_letters_or_unknown_names(site: Site) -> None:
    assert [pages_named(text) for text in ("", " ", "a", "no such name")] == [[]] * 4


def test_the_field_gets_a_list_of_options(client: Client, site: Site) -> None:
    html = client.get("/suggestions/?search=seco").content.decode()
    assert '<option value="org/second">model</option>' in html
    assert "<html" not in html


def test_an_exact_name_opens_its_page_and_that_of_a_model_needs_no_owner(client: Client, site: Site) -> None:
    capital, second = "/benchmarks/small/relations/P36/", "/models/org/second/"
    names = {"Capital (small)": capital, "capital": capital, "CAPITAL": capital, "org/second": second, "Second": second}
    assert {name: client.get("/search/", {"search": name})["Location"] for name in names} == names


def test_models_whose_names_begin_with_the_text_come_first_and_all_are_one_step_away(
    client: Client, site: Site
) -> None:
    for name in ("a/al-bert-1", *(f"org/bert-{number}" for number in range(10))):
        make.finished(site.benchmark, 0.5, make.model(name))
    named = [page["name"] for page in pages_named("bert")]
    assert named == [f"org/bert-{number}" for number in range(10)]
    html = client.get("/search/?search=bert").content.decode()
    assert 'href="/?topic=all&amp;search=bert">Models with this in their names on the overview</a>' in html
    assert "Models with this" not in client.get("/search/?search=secon").content.decode()


def test_questions_are_found_by_their_words(client: Client, site: Site) -> None:
    relation = read_relations(site.benchmark)[0]
    item = relation.items[0]
    html = client.get("/search/", {"search": item.subject}).content.decode()
    assert f'href="/benchmarks/small/items/{relation.label}-{item.index}/"' in html
    assert "Questions of small" in html


def test_what_has_no_such_name_is_said_and_near_names_are_offered(client: Client, site: Site) -> None:
    assert "at least 2 letters" in client.get("/search/?search=a").content.decode()
    assert "Nothing here has this in its name" in client.get("/search/?search=qqqqqqq").content.decode()
    html = client.get("/search/?search=org/secnod").content.decode()
    assert "Did you mean one of these" in html
    assert '<a href="/models/org/second/">org/second</a>' in html


def test_a_name_that_is_nearly_right_leads_to_the_model_or_the_benchmark(client: Client, site: Site) -> None:
    near = ("/models/org/frist/", "/models/org/FIRST1/", "/frist", "/org/first")
    of_model = dict.fromkeys(near, "/models/org/first/")
    for address, page in {**of_model, "/benchmarks/smal/": "/benchmarks/small/"}.items():
        response = client.get(address)
        assert (response.status_code, f'href="{page}"' in response.content.decode()) == (404, True), address


def test_a_name_that_is_near_to_nothing_has_a_search_only(client: Client, site: Site) -> None:
    response = client.get("/models/xx/qqqqqqqqqqqq/")
    page = response.content.decode()
    assert response.status_code == 404
    assert "Did you mean" not in page
    assert 'role="search"' in page


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


def test_a_run_states_when_it_was_measured_and_models_of_papers_are_there_too(client: Client) -> None:
    benchmark = make.benchmark()
    make.finished(benchmark)
    make.published(benchmark)
    make.published(benchmark, name="Human", baseline=True)
    assert "<lastmod>2026-11-01</lastmod>" in client.get("/sitemap-runs.xml").content.decode()
    assert len(addresses(client, "/sitemap-models.xml")) == 2
