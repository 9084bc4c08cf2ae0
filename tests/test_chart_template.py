"""Charts of the library look like those of the site."""

import re
from dataclasses import asdict
from pathlib import Path

import pytest

from leaderboard.ui.charts.basics import LAYOUT_TEMPLATE
from probing.chart_template import LIGHT, chart_template

STYLE = (Path(__file__).parent.parent / "static" / "style.css").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in asdict(LIGHT) if name not in ("paper", "font", "series")])
def test_colours_are_those_of_the_light_theme(name: str) -> None:
    assert re.findall(rf"--{name}: light-dark\((#\w+),", STYLE) == [asdict(LIGHT)[name]]


def test_the_colours_of_lines_are_those_of_the_light_theme() -> None:
    assert tuple(re.findall(r"--series-\d: light-dark\((#\w+),", STYLE)) == LIGHT.series


def test_the_font_is_that_of_the_site() -> None:
    assert f"--sans: {LIGHT.font};" in STYLE


def test_site_and_library_differ_in_their_palette_only() -> None:
    assert LAYOUT_TEMPLATE["layout"]["margin"] == chart_template(LIGHT)["layout"]["margin"]
    assert LAYOUT_TEMPLATE["layout"].keys() == chart_template(LIGHT)["layout"].keys()
