"""/methods/ : the documents of docs/methods/ as pages, with links to each other and to the built documentation."""

import re
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.test import Client
from pytest_django.fixtures import Settings

from leaderboard.pages.methods_page import GUIDES, NAMES, methods_address, read_methods
from leaderboard.ui import labels

FOLDER = settings.BASE_DIR / "docs" / "methods"
every_document = pytest.mark.parametrize("name", NAMES)


def page_of(client: Client, name: str) -> str:
    return client.get(methods_address(name)).content.decode()


def links_of_the_article(client: Client, name: str) -> list[str]:
    article = page_of(client, name).partition("<article")[2].partition("</article>")[0]
    return re.findall(r'href="([^"]+)"', article)


def test_every_document_has_a_page() -> None:
    assert sorted(NAMES) == sorted(path.stem for path in FOLDER.glob("*.md"))


@every_document
def test_it_has_every_heading_of_the_document_with_an_id(name: str, client: Client, db: None) -> None:
    source = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    headings = re.findall(r"^#+ ", source.partition(GUIDES)[0], flags=re.M)
    ids = re.findall(r'<h[1-6] id="([^"]+)">', page_of(client, name))
    assert len(ids) == len(set(ids)) == len(headings) > 3


@every_document
def test_the_contents_lead_to_every_section_and_to_every_other_page(name: str, client: Client, db: None) -> None:
    page = page_of(client, name)
    contents = re.findall(r'<li class="h3">\s*<a href="#([^"]+)">', page)
    assert contents == re.findall(r'<h[23] id="([^"]+)">', page)
    pages = re.findall(r'<li class="h2">\s*<a href="([^"]+)"', page)
    assert pages == [methods_address(other) for other in NAMES]


@every_document
def test_every_chapter_is_a_section_with_its_heading_first(name: str, client: Client, db: None) -> None:
    text = read_methods(name)["text"]
    assert text.count("<section>") == text.count("</section>") == text.count("<h2")
    assert re.findall(r"<section>\s*<(\w+)", text) == ["h2"] * text.count("<h2")
    assert "folds.js" in page_of(client, name)


@pytest.fixture
def read_anew() -> Iterator[None]:
    """Read the documents anew, as they depend on a setting, and forget them afterwards."""
    read_methods.cache_clear()
    yield
    read_methods.cache_clear()


@pytest.mark.usefixtures("read_anew")
def test_links_to_other_documents_lead_to_the_built_documentation(client: Client, db: None, settings: Settings) -> None:
    settings.DOCUMENTATION = "https://docs.example.org"
    links = {link for name in NAMES for link in links_of_the_article(client, name)}
    assert {"https://docs.example.org/judging.html", "https://docs.example.org/start.html"} <= links
    names = {link.rpartition("/")[2].partition(".html")[0] for link in links if "docs.example.org" in link}
    assert all((settings.BASE_DIR / "docs" / f"{name}.md").exists() for name in names)


@pytest.mark.usefixtures("read_anew")
def test_without_its_address_the_words_of_links_to_documents_remain(client: Client, db: None) -> None:
    links = {link for name in NAMES for link in links_of_the_article(client, name)}
    assert all(link.startswith(("http://", "https://", "#", "/methods/")) for link in links)
    assert ">judge the sentences</a>" not in page_of(client, "geography")
    assert "judge the sentences" in page_of(client, "geography")
    assert "guides and the reference" not in page_of(client, "index"), "which has no words without its link"


@every_document
def test_links_between_the_pages_lead_to_what_exists(name: str, client: Client, db: None) -> None:
    ids = {methods_address(other): read_methods(other)["ids"] for other in NAMES}
    links = [link.partition("#") for link in links_of_the_article(client, name) if not link.startswith("http")]
    assert [link for link in links if link[2] and link[2] not in ids[link[0] or methods_address(name)]] == []
    assert {address for address, *_ in links if address} <= ids.keys()


def test_the_former_addresses_of_guides_lead_to_the_methods(client: Client, db: None) -> None:
    names = ("own-sentences", "judging", "curation", "index")
    assert {name: client.get(f"/methods/{name}/")["Location"] for name in names} == dict.fromkeys(names, "/methods/")


def test_the_paragraph_about_every_column_exists() -> None:
    there = {f"/methods/{about}": column for column, about in labels.METHODS_HEADINGS.items()}
    known = {f"{methods_address(name)}#{anchor}" for name in NAMES for anchor in read_methods(name)["ids"]}
    assert {column: address for address, column in there.items() if address not in known} == {}


def test_every_page_says_in_other_words_what_it_is_about() -> None:
    documents = [read_methods(name) for name in NAMES]
    assert len({document["title"] for document in documents}) == len({document["summary"] for document in documents})
    assert all(30 < len(document["summary"]) <= 200 for document in documents)


def test_every_table_scrolls_by_itself_and_has_a_caption_and_column_heads(client: Client, db: None) -> None:
    pages = {name: page_of(client, name) for name in NAMES}
    assert sum(page.count("<table>") for page in pages.values()) >= 1
    for page in pages.values():
        captions = re.findall(r'<div class="scroll" [^>]+><table><caption>([^<]+)</caption>', page)
        assert len(set(captions)) == len(captions) == page.count("<table>") == page.count("</table></div>")
        assert "<th>" not in page
        assert len(re.findall(r"<th [^>]*scope=.col", page)) == len(re.findall(r"<th[ >]", page))
