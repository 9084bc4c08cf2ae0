"""/methods/ : docs/methods.md and the documents that it leads to as pages."""

import re
from urllib.parse import urljoin

import pytest
from django.conf import settings
from django.test import Client

from leaderboard.display import labels
from leaderboard.views.methods import GUIDES, METHODS, read_document
from tests.leaderboard.conftest import Site


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
    text = read_document(METHODS).text
    assert text.count("<section>") == text.count("</section>") == text.count("<h2")
    assert re.findall(r"<section>\s*<(\w+)", text) == ["h2"] * text.count("<h2")
    assert "folds.js" in client.get("/methods/").content.decode()


@pytest.mark.parametrize("address", ["/methods/", *(f"/methods/{name}/" for name in GUIDES)])
def test_every_link_of_a_document_leads_to_a_paragraph_of_a_page(client: Client, db: None, address: str) -> None:
    article = client.get(address).content.decode().partition("<article")[2].partition("</article>")[0]
    links = {urljoin(address, link) for link in re.findall(r'href="([^"]+)"', article)}
    assert links
    for page, _, anchor in (link.partition("#") for link in links):
        if not page.startswith(("http://", "https://")):
            answer = client.get(page)
            assert answer.status_code == 200, page
            assert not anchor or f'id="{anchor}"' in answer.content.decode(), f"{page}#{anchor}"


def test_the_documents_that_the_methods_lead_to_have_their_own_title_and_lead_back(client: Client, db: None) -> None:
    page = client.get("/methods/judging/").content.decode()
    assert "<title>Judging sentences · Clozeboard</title>" in page
    assert 'href="/methods/">← Methods</a>' in page


def test_other_files_of_the_documentation_are_no_pages(client: Client, db: None) -> None:
    assert client.get("/methods/deployment/").status_code == 404


@pytest.mark.parametrize("column", labels.ABOUT)
def test_the_paragraph_about_a_column_exists(column: str) -> None:
    assert labels.ABOUT[column] in read_document(METHODS).ids


def test_every_link_to_the_methods_from_the_text_of_a_page_leads_to_a_paragraph(client: Client, site: Site) -> None:
    links = set()
    for address in site.addresses:
        text = client.get(address).content.decode().partition("<main")[2].partition("</main>")[0]
        links |= set(re.findall(r'href="/methods/([^"/]*)"', text))
    assert len(links) > 5
    assert links <= {f"#{identifier}" for identifier in read_document(METHODS).ids}


def test_every_table_scrolls_by_itself_and_has_a_caption_and_column_heads(client: Client, db: None) -> None:
    page = client.get("/methods/").content.decode()
    captions = re.findall(r'<div class="scroll" [^>]+><table><caption>([^<]+)</caption>', page)
    assert 0 < len(captions) == page.count("<table>") == page.count("</table></div>")
    assert len(set(captions)) == len(captions)
    assert page.count("<th") > page.count("<thead") and "<th>" not in page
    assert len(re.findall(r"<th [^>]*scope=.col", page)) == len(re.findall(r"<th[ >]", page))
