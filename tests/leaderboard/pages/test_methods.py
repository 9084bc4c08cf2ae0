"""/methods/ : docs/methods.md as a page, with links to the built documentation."""

import re
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.test import Client
from pytest_django.fixtures import Settings

from leaderboard.pages.methods_page import read_methods
from leaderboard.ui import labels


def test_it_has_every_heading_of_the_document_with_an_id(client: Client, db: None) -> None:
    page = client.get("/methods/").content.decode()
    source = (settings.BASE_DIR / "docs" / "methods.md").read_text(encoding="utf-8")
    headings = re.findall(r"^#+ ", source, flags=re.M)
    ids = re.findall(r'<h[1-6] id="([^"]+)">', page)
    assert len(ids) == len(set(ids)) == len(headings) > 5


def test_the_contents_lead_to_every_section(client: Client, db: None) -> None:
    page = client.get("/methods/").content.decode()
    contents = re.findall(r'<li class="h[23]">\s*<a href="#([^"]+)">', page)
    assert contents == re.findall(r'<h[23] id="([^"]+)">', page)


def test_every_chapter_is_a_section_with_its_heading_first(client: Client, db: None) -> None:
    text = read_methods().text
    assert text.count("<section>") == text.count("</section>") == text.count("<h2")
    assert re.findall(r"<section>\s*<(\w+)", text) == ["h2"] * text.count("<h2")
    assert "folds.js" in client.get("/methods/").content.decode()


def links_of_the_page(client: Client) -> set[str]:
    article = client.get("/methods/").content.decode().partition("<article")[2].partition("</article>")[0]
    return set(re.findall(r'href="([^"]+)"', article))


@pytest.fixture
def read_anew() -> Iterator[None]:
    """Read the document anew, as it depends on a setting, and forget it afterwards."""
    read_methods.cache_clear()
    yield
    read_methods.cache_clear()


@pytest.mark.usefixtures("read_anew")
def test_links_to_other_documents_lead_to_the_built_documentation(client: Client, db: None, settings: Settings) -> None:
    settings.DOCUMENTATION = "https://docs.example.org"
    links = links_of_the_page(client)
    assert "https://docs.example.org/judging.html" in links
    names = {link.rpartition("/")[2].partition(".html")[0] for link in links if "docs.example.org" in link}
    assert all((settings.BASE_DIR / "docs" / f"{name}.md").exists() for name in names)


@pytest.mark.usefixtures("read_anew")
def test_without_its_address_the_words_of_links_to_documents_remain(client: Client, db: None) -> None:
    links = links_of_the_page(client)
    assert all(link.startswith(("http://", "https://", "#")) for link in links)
    assert {link.removeprefix("#") for link in links if link.startswith("#")} <= read_methods().ids
    assert "sentences (how)." in client.get("/methods/").content.decode()


def test_the_former_addresses_of_guides_lead_to_the_methods(client: Client, db: None) -> None:
    names = ("own-sentences", "judging", "curation")
    assert {name: client.get(f"/methods/{name}/")["Location"] for name in names} == dict.fromkeys(names, "/methods/")


def test_the_paragraph_about_every_column_exists() -> None:
    ids = read_methods().ids
    assert {column: paragraph for column, paragraph in labels.ABOUT.items() if paragraph not in ids} == {}


def test_every_table_scrolls_by_itself_and_has_a_caption_and_column_heads(client: Client, db: None) -> None:
    page = client.get("/methods/").content.decode()
    captions = re.findall(r'<div class="scroll" [^>]+><table><caption>([^<]+)</caption>', page)
    assert 0 < len(captions) == page.count("<table>") == page.count("</table></div>")
    assert len(set(captions)) == len(captions)
    assert page.count("<th") > page.count("<thead") and "<th>" not in page
    assert len(re.findall(r"<th [^>]*scope=.col", page)) == len(re.findall(r"<th[ >]", page))
