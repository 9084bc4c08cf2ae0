"""The world map: names of countries, shades, and the shapes that are drawn."""

import pytest

from leaderboard.ui.world_map import country_code, world, world_map


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("France", "FR"),
        ("the Gambia", "GM"),
        ("The United States", "US"),
        ("Turkey", "TR"),
        ("Ivory Coast", "CI"),
        ("Côte d'Ivoire", "CI"),
        ("مصر", "EG"),
        ("프랑스", "FR"),
        ("España", "ES"),
        ("Lyon", ""),
        ("", ""),
    ],
)
def test_countries_are_known_by_their_usual_names_in_several_languages(name: str, code: str) -> None:
    assert country_code(name) == code


def test_every_country_has_a_shape_or_a_place_on_the_map() -> None:
    earth = world()
    assert len(earth.countries) > 200
    for country in earth.countries.values():
        assert bool(country.path) != bool(country.position)
        if country.position:
            assert 0 <= country.position[0] <= earth.width
            assert 0 <= country.position[1] <= earth.height


@pytest.mark.parametrize(("share", "shade"), [(0, "step-0"), (0.19, "step-0"), (0.2, "step-1"), (1, "step-4")])
def test_a_share_has_one_of_five_shades(share: float, shade: str) -> None:
    shapes = {shape.country.code: shape for shape in world_map({"FR": share}, {}, "", differences=False).shapes}
    assert shapes["FR"].shade == shade
    assert shapes["DE"].shade == "blank"


@pytest.mark.parametrize(
    ("difference", "shade"), [(0.05, "even"), (-0.1, "less-1"), (-0.5, "less-2"), (0.2, "more-1"), (0.3, "more-2")]
)
def test_differences_have_the_hue_of_their_side(difference: float, shade: str) -> None:
    shapes = {shape.country.code: shape for shape in world_map({"FR": difference}, {}, "", differences=True).shapes}
    assert shapes["FR"].shade == shade


def test_dots_of_small_countries_lie_above_the_shapes_and_are_drawn_only_with_a_value() -> None:
    shapes = world_map({"SG": 0.5}, {}, "", differences=False).shapes
    dots = [shape for shape in shapes if not shape.country.path]
    assert [dot.country.code for dot in dots] == ["SG"]
    assert shapes[-1] == dots[0]


def test_the_legend_names_every_shade_of_the_map() -> None:
    for differences, values in ((False, [0, 0.3, 0.5, 0.7, 1]), (True, [-1, -0.2, 0, 0.2, 1])):
        codes = dict(zip(["FR", "DE", "IT", "ES", "PT"], values, strict=True))
        shown_map = world_map(codes, {}, "", differences=differences)
        assert {shape.shade for shape in shown_map.shapes} - {"blank"} == {shade.shade for shade in shown_map.legend}
