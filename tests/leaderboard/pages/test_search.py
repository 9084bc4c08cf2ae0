"""The search of the header: suggestions while a reader types, and pages that are named exactly."""

import pytest
from django.test import Client

from leaderboard.pages.search_page import pages_named
from leaderboard.probes.wording import read_relations
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site

pytestmark = pytest.mark.django_db


def test_models_benchmarks_and_relations_are_suggested(site: Site) -> None:
    assert [(page.name, page.kind) for page in pages_named("SECOND")] == [("org/second", "model")]
    assert next((page.name, page.kind) for page in pages_named("small")) == ("small", "benchmark")
    (relation,) = pages_named("capit")
    assert (relation.name, relation.kind) == ("Capital (small)", "relation")
    assert relation.href == "/benchmarks/small/relations/P36/"


@pytest.mark.parametrize("text", ["", " ", "a", "no such name"])
def test_nothing_is_suggested_for_too_few_letters_or_unknown_names(site: Site, text: str) -> None:
    assert pages_named(text) == []


def test_the_field_gets_a_list_of_options(client: Client, site: Site) -> None:
    html = client.get("/suggestions/?search=seco").content.decode()
    assert '<option value="org/second">model</option>' in html
    assert "<html" not in html


@pytest.mark.parametrize("text", ["Capital (small)", "capital", "CAPITAL"])
def test_an_exact_name_opens_its_page(client: Client, site: Site, text: str) -> None:
    assert client.get("/search/", {"search": text})["Location"] == "/benchmarks/small/relations/P36/"


def test_a_model_is_also_found_without_its_owner(client: Client, site: Site) -> None:
    assert client.get("/search/?search=org/second")["Location"] == "/models/org/second/"
    assert client.get("/search/?search=Second")["Location"] == "/models/org/second/"


def test_models_whose_names_begin_with_the_text_come_first_and_all_are_one_step_away(
    client: Client, site: Site
) -> None:
    for name in ("a/al-bert-1", *(f"org/bert-{number}" for number in range(10))):
        make.finished(site.benchmark, 0.5, make.model(name))
    named = [page.name for page in pages_named("bert")]
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
