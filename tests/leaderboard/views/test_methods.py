"""/methods/ : docs/methods.md as a page."""

import re

from django.conf import settings
from django.test import Client

from leaderboard.views.methods import SCROLLED


def test_it_has_every_heading_of_the_document(client: Client, db: None) -> None:
    page = client.get("/methods/").content.decode()
    source = (settings.BASE_DIR / "docs" / "methods.md").read_text(encoding="utf-8")
    headings = re.findall(r"^#+ ", source, flags=re.M)
    assert len(re.findall(r"<h[1-6]>", page)) >= len(headings) > 5


def test_every_table_scrolls_by_itself(client: Client, db: None) -> None:
    page = client.get("/methods/").content.decode()
    assert 0 < page.count("<table>") == page.count(SCROLLED) == page.count("</table></div>")
