"""The badge of a run."""

from xml.etree import ElementTree

import pytest
from django.test import Client

from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db
SVG = "{http://www.w3.org/2000/svg}"


def test_the_badge_has_the_title_and_the_figure_and_may_be_shown_elsewhere(client: Client) -> None:
    run = make.finished(make.benchmark("bear", title="<BEAR> & co"), 0.25)
    response = client.get(f"/runs/{run.pk}/badge.svg")
    picture = ElementTree.fromstring(response.content)
    title, figure = (text.text for text in picture.iter(f"{SVG}text"))
    assert title == "<BEAR> & co" and figure is not None and figure.startswith("0.250 ± 0.0")
    assert response["Content-Type"] == "image/svg+xml"
    assert response["Cross-Origin-Resource-Policy"] == "cross-origin"
    widths = [float(box.attrib["width"]) for box in picture.iter(f"{SVG}rect")]
    assert sum(widths) == float(picture.attrib["width"])


def test_the_page_offers_the_badge_as_markdown(client: Client) -> None:
    run = make.finished(make.benchmark("bear"), 0.25)
    page = f"http://testserver/runs/{run.pk}/"
    assert f"({page}badge.svg)]({page})" in client.get(run.get_absolute_url()).content.decode()


def test_a_run_without_a_figure_has_neither_badge_nor_picture(client: Client) -> None:
    benchmark = make.benchmark()
    for run in (make.finished(benchmark, None), make.run(make.model(), benchmark)):
        for name in ("badge.svg", "picture.png"):
            assert client.get(f"/runs/{run.pk}/{name}").status_code == 404
        assert "badge.svg" not in client.get(run.get_absolute_url()).content.decode()
