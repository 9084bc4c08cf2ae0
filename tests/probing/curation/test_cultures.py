"""Cultures: those that ship with the library, new ones, and the items that belong to one."""

from pathlib import Path

import pytest

from probing.curation.cultures import KNOWN_PAIRS, known_pair, members, new_pair, read_countries, read_culture
from probing.errors import BadInput
from tests.probing.curation.conftest import Serve
from tests.probing.curation.world import World


@pytest.mark.parametrize(("name", "countries"), [("arab", 22), ("west", 20), ("asia", 13), ("south-america", 12)])
def test_the_four_sets_have_their_countries(name: str, countries: int) -> None:
    assert len(read_culture(name).sites) == countries


def test_english_is_read_for_every_country() -> None:
    assert read_culture("west").sites["Q39"] == ("de", "fr", "it", "rm", "en")
    assert all(
        "en" in sites
        for name in KNOWN_PAIRS
        for culture in known_pair(name).cultures
        for sites in culture.sites.values()
    )


def test_a_country_may_have_several_ids() -> None:
    assert read_culture("west").ids("Q55") == ("Q55", "Q29999")
    assert read_culture("west").ids("Q30") == ("Q30",)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("nordic.toml", 'name = "Nordic"\nregion = "NORDIC"\n[countries]\nQ20 = ["no", "se"]\nQ34 = []\n'),
        ("nordic.yaml", "name: Nordic\nregion: NORDIC\ncountries:\n  Q20: [no, se]\n  Q34: []\n"),
        ("nordic.yml", "name: Nordic\nregion: NORDIC\ncountries:\n  Q20:\n  - no\n  - se\n  Q34: []\n"),
    ],
)
def test_a_culture_can_be_read_from_a_file(tmp_path: Path, file: str, text: str) -> None:
    path = tmp_path / file
    path.write_text(text)
    made = new_pair("nordic-west", [str(path), "west"], ["en", "ko"])
    assert made.cultures[0].sites == {"Q20": ("no", "se", "en"), "Q34": ("en",)}
    assert [culture.region for culture in made.cultures] == ["NORDIC", "WESTERN_COUNTRIES"]


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("set.toml", "region = ", "cannot be read as TOML"),
        ("set.toml", 'region = "N"\n[countries]\nQ20 = []', "name is None"),
        ("set.toml", 'name = "N"\n[countries]\nQ20 = []', "region is None"),
        ("set.toml", 'name = "N"\nregion = "nordic"\n[countries]\nQ20 = []', "in capitals"),
        ("set.toml", 'name = "N"\nregion = "N"', "no countries"),
        ("set.toml", 'name = "N"\nregion = "N"\n[countries]\nNorway = []', "not an id of Wikidata"),
        ("set.toml", 'name = "N"\nregion = "N"\n[countries]\n"Q1 } DROP" = []', "not an id of Wikidata"),
        ("set.toml", 'name = "N"\nregion = "N"\n[countries]\n"Q20 Norway" = []', "not an id of Wikidata"),
        ("set.toml", 'name = "N"\nregion = "N"\n[countries]\nQ20 = ["no.evil"]', "the sites of Q20"),
        ("set.toml", 'name = "N"\nregion = "N"\n[countries]\nQ20 = "no"', "the sites of Q20"),
        ("set.yaml", "name: [", "cannot be read as YAML"),
        ("set.yaml", "name: !!python/object/apply:os.getcwd []", "name is"),
        ("set.yaml", "Nordic", "has no named values"),
        ("set.yaml", "", "has no named values"),
        ("set.yaml", "[" * 600, "cannot be read as YAML"),
        ("set.yml", "name: N\nregion: N\ncountries:\n- Q20", "no countries"),
        ("set.yml", "name: N\nregion: N\ncountries: {Q20: no}", "the sites of Q20"),
        ("set.yml", "name: N\nregion: N\ncountries: {Q20: [{no: se}]}", "the sites of Q20"),
        ("set.yml", "name: N\nregion: N\ncountries: {[Q20]: [no]}", "cannot be read as YAML"),
        ("set.json", "{}", "neither TOML nor YAML"),
    ],
)
def test_a_faulty_file_is_refused(tmp_path: Path, file: str, text: str, message: str) -> None:
    (tmp_path / file).write_text(text)
    with pytest.raises(BadInput, match=message):
        read_culture(str(tmp_path / file))


@pytest.mark.parametrize(
    ("name", "cultures", "languages", "message"),
    [
        ("../x", ["arab", "west"], ["en"], "cannot be the name of a pair"),
        ("x", ["arab", "arab"], ["en"], "different regions"),
        ("x", ["arab", "mars"], ["en"], "no culture 'mars'"),
        ("x", ["arab"], ["en"], "two cultures or more"),
        ("x", ["arab", "west"], [], "needs a language"),
        ("x", ["arab", "west"], ['en"'], "not a language code"),
    ],
)
def test_a_faulty_pair_is_refused(name: str, cultures: list[str], languages: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        new_pair(name, cultures, languages)


def test_citizens_and_what_lies_in_a_country_however_far_below_belong_to_it(serve: Serve) -> None:
    world = World()
    world.claim("Q90", "P131", "Q13917")  # Paris lies in a region
    world.claim("Q13917", "P17", "Q142")  # which lies in France
    world.claim("Q7186", "P27", "Q36", "Q142")  # a citizen of Poland and of France
    world.claim("Q85", "P17", "Q79")  # Cairo lies in Egypt
    world.claim("Q9999", "P27", "Q29999")  # a citizen of the Kingdom of the Netherlands
    items = ["Q90", "Q142", "Q7186", "Q85", "Q79", "Q9999", "Q4"]
    assert members(serve(world).endpoint(), read_culture("west"), items) == {"Q90", "Q142", "Q7186", "Q9999"}


def test_a_table_names_the_countries_of_ids(tmp_path: Path) -> None:
    path = tmp_path / "countries.tsv"
    path.write_text("Q90\tQ142\n\nQ7186\tQ36\tQ142\nQ90\tQ183\n")
    assert read_countries(path) == {"Q90": {"Q142", "Q183"}, "Q7186": {"Q36", "Q142"}}
    path.write_text("Q90\tQ142\nQ85\n")
    with pytest.raises(BadInput, match=r"countries\.tsv, line 2: no id or no country"):
        read_countries(path)
