"""The search of the header: suggestions while a reader types, and pages that are named exactly."""

import pytest
from django.test import Client

from leaderboard.pages.search_page import page_named, pages_named
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


def test_the_form_leads_to_a_page_of_exactly_this_name(client: Client, site: Site) -> None:
    assert page_named("capital (SMALL)") == "/benchmarks/small/relations/P36/"
    assert client.get("/?search=Capital+(small)")["Location"] == "/benchmarks/small/relations/P36/"
    typed = client.get("/?search=Capital+(small)", headers={"HX-Request": "true"})
    assert typed.status_code == 200
    assert 'href="/benchmarks/small/relations/P36/"' in typed.content.decode()
