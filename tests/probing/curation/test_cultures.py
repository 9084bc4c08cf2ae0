"""Sets of countries: those that ship, and new ones."""

from pathlib import Path

import pytest

from probing.curation.cultures import PAIRS, culture, own_pair, pair
from probing.errors import BadInput


@pytest.mark.parametrize(("name", "countries"), [("arab", 22), ("west", 20), ("asia", 13), ("south-america", 12)])
def test_the_four_sets_have_their_countries(name: str, countries: int) -> None:
    assert len(culture(name).sites) == countries


def test_english_is_read_for_every_country() -> None:
    assert culture("west").sites["Q39"] == ("de", "fr", "it", "rm", "en")
    assert all("en" in sites for name in PAIRS for each in pair(name).cultures for sites in each.sites.values())


def test_a_country_may_have_several_ids() -> None:
    assert culture("west").ids("Q55") == ("Q55", "Q29999")
    assert culture("west").ids("Q30") == ("Q30",)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("nordic.toml", 'name = "Nordic"\nregion = "NORDIC"\n[countries]\nQ20 = ["no", "se"]\nQ34 = []\n'),
        ("nordic.yaml", "name: Nordic\nregion: NORDIC\ncountries:\n  Q20: [no, se]\n  Q34: []\n"),
        ("nordic.yml", "name: Nordic\nregion: NORDIC\ncountries:\n  Q20:\n  - no\n  - se\n  Q34: []\n"),
    ],
)
def test_a_new_set_comes_from_a_file(tmp_path: Path, file: str, text: str) -> None:
    path = tmp_path / file
    path.write_text(text)
    made = own_pair("nordic-west", [str(path), "west"], ["en", "ko"])
    assert made.cultures[0].sites == {"Q20": ("no", "se", "en"), "Q34": ("en",)}
    assert [each.region for each in made.cultures] == ["NORDIC", "WESTERN_COUNTRIES"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("region = ", "cannot be read as TOML"),
        ('region = "N"\n[countries]\nQ20 = []', "name is None"),
        ('name = "N"\n[countries]\nQ20 = []', "region is None"),
        ('name = "N"\nregion = "nordic"\n[countries]\nQ20 = []', "in capitals"),
        ('name = "N"\nregion = "N"', "no countries"),
        ('name = "N"\nregion = "N"\n[countries]\nNorway = []', "no id of Wikidata"),
        ('name = "N"\nregion = "N"\n[countries]\n"Q1 } DROP" = []', "no id of Wikidata"),
        ('name = "N"\nregion = "N"\n[countries]\n"Q20 Norway" = []', "no id of Wikidata"),
        ('name = "N"\nregion = "N"\n[countries]\nQ20 = ["no.evil"]', "the sites of Q20"),
        ('name = "N"\nregion = "N"\n[countries]\nQ20 = "no"', "the sites of Q20"),
    ],
)
def test_a_faulty_file_is_told_as_such(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "set.toml").write_text(text)
    with pytest.raises(BadInput, match=message):
        culture(str(tmp_path / "set.toml"))


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("set.yaml", "name: [", "cannot be read as YAML"),
        ("set.yaml", "name: !!python/object/apply:os.getcwd []", "name is"),
        ("set.yaml", "Nordic", "says nothing by name"),
        ("set.yaml", "", "says nothing by name"),
        ("set.yaml", "[" * 600, "cannot be read as YAML"),
        ("set.yml", "name: N\nregion: N\ncountries:\n- Q20", "no countries"),
        ("set.yml", "name: N\nregion: N\ncountries: {Q20: no}", "the sites of Q20"),
        ("set.yml", "name: N\nregion: N\ncountries: {Q20: [{no: se}]}", "the sites of Q20"),
        ("set.yml", "name: N\nregion: N\ncountries: {[Q20]: [no]}", "cannot be read as YAML"),
        ("set.json", "{}", "neither TOML nor YAML"),
    ],
)
def test_a_faulty_yaml_file_is_told_as_such(tmp_path: Path, file: str, text: str, message: str) -> None:
    (tmp_path / file).write_text(text)
    with pytest.raises(BadInput, match=message):
        culture(str(tmp_path / file))


@pytest.mark.parametrize(
    ("name", "cultures", "languages", "message"),
    [
        ("../x", ["arab", "west"], ["en"], "no name for a pair"),
        ("x", ["arab", "arab"], ["en"], "different regions"),
        ("x", ["arab", "mars"], ["en"], "no culture 'mars'"),
        ("x", ["arab"], ["en"], "two cultures or more"),
        ("x", ["arab", "west"], [], "needs a language"),
        ("x", ["arab", "west"], ['en"'], "no language code"),
        ("x", ["arab", "west"], ["ES"], "no language code"),
    ],
)
def test_a_faulty_pair_is_told_as_such(name: str, cultures: list[str], languages: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        own_pair(name, cultures, languages)


def test_an_unknown_pair_is_told_as_such() -> None:
    with pytest.raises(BadInput, match="Choose from: arab-west"):
        pair("moon-mars")
