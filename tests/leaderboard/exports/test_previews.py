"""What search engines and chats read of pages: titles, descriptions and canonical links."""

from html.parser import HTMLParser

import pytest
from django.test import Client

from leaderboard.models import Submission
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db


class Head(HTMLParser):
    """The title, the meta elements and the links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.meta: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.title = ""
        self._element = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self._element = tag
        if tag == "meta":
            self.meta[values.get("name", "")] = values.get("content", "")
        if tag == "link":
            self.links[values.get("rel", "")] = values.get("href", "")

    def handle_endtag(self, tag: str) -> None:
        self._element = ""

    def handle_data(self, data: str) -> None:
        if self._element == "title":
            self.title += data


def head(client: Client, address: str) -> Head:
    return Head(client.get(address).content.decode())


def test_neither_heads_nor_the_feed_have_hidden_characters_of_a_name(client: Client) -> None:
    on = make.benchmark()
    run = make.finished(on, 0.25, make.model("org/na\u202eme"))
    submission = Submission.objects.create(token="made-up", model_id="org/na\u202eme", benchmark=on, run=run)
    for address in (
        run.get_absolute_url(),
        run.model.get_absolute_url(),
        f"/submissions/{submission.token}/",
    ):
        start = client.get(address).content.decode().partition("</head>")[0]
        assert "na\\u202eme" in start, address
        assert "\u202e" not in start, address
    feed, page = (client.get(address).content.decode() for address in ("/feed.atom", run.model.get_absolute_url()))
    assert "\u202e" not in feed and "na\\u202eme" in feed
    assert "na\\u202eme" in page.partition("<main")[2]


def test_a_run_is_described_by_its_figure(client: Client) -> None:
    run = make.finished(make.benchmark(title='A "title" <b>'), 0.25, make.model("org/name"))
    page = head(client, f"{run.get_absolute_url()}?sort=-value")
    assert "0.250" in page.title
    assert 'org/name on A "title" <b>: accuracy 0.250 (95 % interval' in page.meta["description"]
    assert page.links["canonical"] == f"http://testserver{run.get_absolute_url()}"


def test_a_page_without_a_reference_and_words_of_its_own_has_those_of_the_site(client: Client) -> None:
    assert head(client, "/nowhere/").meta["description"].startswith("What language models know")
