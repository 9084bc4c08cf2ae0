"""What search engines and chats read of pages: descriptions, canonical links and pictures."""

from html.parser import HTMLParser
from io import BytesIO

import pytest
from django.test import Client
from PIL import Image

from leaderboard.models import Submission
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site

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
            self.meta[values.get("property") or values.get("name", "")] = values.get("content", "")
        if tag == "link":
            self.links[values.get("rel", "")] = values.get("href", "")

    def handle_endtag(self, tag: str) -> None:
        self._element = ""

    def handle_data(self, data: str) -> None:
        if self._element == "title":
            self.title += data


def head(client: Client, address: str) -> Head:
    return Head(client.get(address).content.decode())


def test_no_head_has_hidden_characters_of_a_name(client: Client) -> None:
    on = make.benchmark()
    run = make.finished(on, 0.25, make.model("org/na\u202eme"))
    submission = Submission.objects.create(token="made-up", model_id="org/na\u202eme", benchmark=on, run=run)
    for address in (
        run.get_absolute_url(),
        run.model.get_absolute_url(),
        f"/compare/?m={run.pk}&m={make.finished(on, 0.5).pk}",
        f"/submissions/{submission.token}/",
    ):
        start = client.get(address).content.decode().partition("</head>")[0]
        assert "na\\u202eme" in start, address
        assert "\u202e" not in start, address


def test_a_run_is_described_by_its_figure_and_has_a_picture(client: Client) -> None:
    run = make.finished(make.benchmark(title='A "title" <b>'), 0.25, make.model("org/name"))
    page = head(client, f"{run.get_absolute_url()}?sort=-value")
    assert "0.250" in page.title
    assert page.meta["og:title"] == 'org/name on A "title" <b>'
    assert "accuracy 0.250 (95 % interval" in page.meta["og:description"]
    assert "accuracy 0.250 (95 % interval" in page.meta["description"]
    assert page.links["canonical"] == page.meta["og:url"] == f"http://testserver{run.get_absolute_url()}"
    assert page.meta["og:image"] == f"http://testserver{run.get_absolute_url()}picture.png"


@pytest.mark.parametrize("kind", ["run", "benchmark"])
def test_pictures_have_the_size_that_networks_show_and_differ_by_figure(client: Client, kind: str, site: Site) -> None:
    addresses = {
        "run": [f"/runs/{site.first.pk}/picture.png", f"/runs/{site.second.pk}/picture.png"],
        "benchmark": ["/benchmarks/small/picture.png", "/benchmarks/other/picture.png"],
    }[kind]
    make.finished(make.benchmark("other", title="A title that is far too long for one line of a picture " * 3))
    pictures = []
    for address in addresses:
        response = client.get(address)
        assert response["Content-Type"] == "image/png"
        picture = Image.open(BytesIO(response.content)).convert("RGB")
        assert picture.size == (1200, 630)
        edge = picture.crop((1180, 0, 1200, 630))
        assert edge.getcolors() == [(20 * 630, (252, 251, 248))]  # no text is cut
        pictures.append(picture.tobytes())
    assert pictures[0] != pictures[1]
    assert client.get(addresses[0]).content == client.get(addresses[0]).content


def test_a_page_without_a_reference_has_the_words_of_the_site(client: Client) -> None:
    page = head(client, "/queue/")
    assert page.meta["og:title"] == "Clozeboard"
    assert page.meta["og:description"].startswith("What language models know")
    assert "og:image" not in page.meta
