"""Predicates of culture facts: which values count, and which subjects and objects belong to a country."""

import re
from pathlib import Path

import pytest

from probing.curation.predicates import PREDICATES, STRICT_PREDICATES, Predicate, choose, read_predicates
from probing.curation.wikidata import Query
from probing.errors import BadInput
from tests.probing.curation.conftest import Serve, Source
from tests.probing.curation.world import SOVEREIGN, World

NORWAY = ("Q20",)


def facts(source: Source, predicate: Predicate) -> list[tuple[str, str]]:
    """Return the pairs of subject and object that the first query finds for Norway."""
    patterns = (predicate.region(NORWAY), *predicate.filters, predicate.facts(), *predicate.first, *predicate.objects)
    rows = source.endpoint().rows(Query("Facts", ("subject", "object"), patterns))
    return [(row["subject"], row["object"]) for row in rows]


@pytest.fixture
def world() -> World:
    world = World()
    world.claim("Q20", "P31", SOVEREIGN)
    world.claim("Q34", "P31", SOVEREIGN)
    for person in ("Q1", "Q2", "Q3"):
        world.claim(person, "P31", "Q5")
    world.claim("Q1", "P27", "Q20")
    world.claim("Q2", "P27", "Q20")
    world.claim("Q3", "P27", "Q34")
    return world


def test_there_are_twenty_predicates_under_their_ids() -> None:
    assert len(PREDICATES) == 20
    assert all(id == predicate.id for id, predicate in PREDICATES.items())


def test_facts_about_people_are_those_of_citizens_who_are_human_and_neighbours_are_sovereign_states(
    serve: Serve, world: World
) -> None:
    world.claim("Q4", "P27", "Q20")
    for subject in ("Q1", "Q3", "Q4"):
        world.claim(subject, "P106", "Q100")
    world.claim("Q20", "P47", "Q34", "Q999")
    source = serve(world)
    assert facts(source, PREDICATES["P106"]) == [("Q1", "Q100")]
    assert facts(source, PREDICATES["P47"]) == [("Q20", "Q34")]


def test_the_papers_rules_keep_historical_countries_the_voice_and_places_without_coordinates() -> None:
    for id in ("P17", "P27", "P495", "P1303"):
        assert PREDICATES[id].objects == ()
        assert len(STRICT_PREDICATES[id].objects) == 1
    assert PREDICATES["P17"].filters == ()
    assert {predicate.values for predicate in PREDICATES.values()} == {"best"}
    assert {predicate.values for predicate in STRICT_PREDICATES.values()} == {"current", "stated"}


def test_by_the_papers_rules_only_values_of_the_best_rank_count(serve: Serve, world: World) -> None:
    world.claim("Q1", "P106", "Q100", rank="preferred", end="1999-01-01")
    world.claim("Q1", "P106", "Q101")
    assert facts(serve(world), PREDICATES["P106"]) == [("Q1", "Q100")]
    assert facts(serve(world), STRICT_PREDICATES["P106"]) == [("Q1", "Q100"), ("Q1", "Q101")]


ENTRY = """
[P140]
name = "religion"
subject = "person"
object = "religion"
"""


def entry(folder: Path, text: str = "", file: str = ENTRY) -> Path:
    path = folder / "own.toml"
    path.write_text(file + text, encoding="utf-8")
    return path


def test_an_entry_takes_over_from_the_kind_of_its_subject_what_it_does_not_say_otherwise(tmp_path: Path) -> None:
    predicate = read_predicates(entry(tmp_path))["P140"]
    assert predicate.region(NORWAY) == PREDICATES["P106"].region(NORWAY)
    assert predicate.filters == PREDICATES["P106"].filters
    assert predicate.values == "best"
    path = entry(tmp_path, 'country = "P19 | P20"\nvalues = "current"\naugment = "territories"\nsubject_is = {}\n')
    predicate = read_predicates(path)["P140"]
    assert "?subject (wdt:P19|wdt:P20) ?country ." in predicate.region(NORWAY)
    assert predicate.values == "current" and predicate.by_territory and predicate.filters == ()


def test_a_file_describes_kinds_of_subjects_of_its_own(serve: Serve, world: World, tmp_path: Path) -> None:
    band = '[kinds.band]\ncountry = "P495"\nsubject_is = { Q215380 = "musical group" }\nsubject_has = "P571"\n'
    path = entry(tmp_path, file=band + '[P136]\nname = "genre"\nsubject = "band"\nobject = "genre"\n')
    for subject in ("Q50", "Q51", "Q52"):
        world.claim(subject, "P495", "Q20")
        world.claim(subject, "P136", "Q60")
    world.claim("Q50", "P31", "Q215380")
    world.claim("Q51", "P31", "Q215380")
    world.claim("Q50", "P571", "Q999")
    assert facts(serve(world), read_predicates(path)["P136"]) == [("Q50", "Q60")]


def test_objects_are_filtered_by_class_and_one_by_one(serve: Serve, world: World, tmp_path: Path) -> None:
    filters = (
        'object_is = { Q1 = "religion" }\nobject_is_not = { Q2 = "former religion" }\nobject_except = { Q63 = "none" }'
    )
    path = entry(tmp_path, filters)
    for item, classes in (("Q60", ["Q1"]), ("Q61", ["Q1", "Q2"]), ("Q62", []), ("Q63", ["Q1"])):
        world.claim(item, "P31", *classes)
        world.claim("Q1", "P140", item)
    assert facts(serve(world), read_predicates(path)["P140"]) == [("Q1", "Q60")]


def test_templates_and_questions_stand_in_the_entry(tmp_path: Path) -> None:
    texts = '[P140.templates]\nfr = "[X] croit en [Y]."\n[P140.questions]\nfr = "Quelle est la religion de [X] ?"\n'
    predicate = read_predicates(entry(tmp_path, texts))["P140"]
    assert predicate.templates == {"fr": "[X] croit en [Y]."}
    assert predicate.questions == {"fr": "Quelle est la religion de [X] ?"}


def test_own_predicates_have_a_template_and_a_question_in_four_languages() -> None:
    languages = {id: (sorted(one.templates), sorted(one.questions)) for id, one in PREDICATES.items()}
    four = ["ar", "en", "es", "ko"]
    assert {id: names for id, names in languages.items() if names != (four, four)} == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('templtes = "x"', r"own\.toml, P140: the key 'templtes' is not known\. Did you mean 'templates'\?"),
        ('country = "Q20"', r"own\.toml, P140: 'country' is 'Q20', which is not a property of Wikidata"),
        ('subject_has = "P27 P19"', "'subject_has' is 'P27P19'"),
        ('values = "past"', r"'values' is 'past'\. Choose from: best, current, stated"),
        ('augment = "wholes"', "Choose from: superclasses, territories"),
        ('object_is = "Q5"', "P140, object_is: not a table"),
        ('object_is = { human = "Q5" }', "'human' is not an item of Wikidata"),
        ('object_is = { Q5 = "" }', "'Q5' holds ''"),
        (f'object_is = {{ Q5 = "{"x" * 101}" }}', "has more than 100 characters"),
        ('[P140.templates]\nEnglish = "[X] is [Y]."', r"P140, templates: 'English' is not a language code"),
        ('[P140.templates]\nen = "[X] believes."', r"P140, templates\.en: .* must have \[Y\] exactly once"),
        ('[P140.questions]\nen = "Who are you?"', r"P140, questions\.en: .* must have \[X\] exactly once"),
        ('[P140.questions]\nen = "Is [X] in [Y]?"', r"no \[Y\]"),
        ('[kinds.band]\nmembers = "P527"', r"own\.toml, kinds\.band: the key 'members' is not known"),
        ('[Q140]\nname = "x"', r"own\.toml: 'Q140' is not a property of Wikidata"),
    ],
)
def test_an_entry_at_fault_is_refused_with_its_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_predicates(entry(tmp_path, text))


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("", "No property is named"),
        ("[P140]\n", "the field 'subject' is missing"),
        (ENTRY.replace("person", "parson"), r"no kind of subjects is called 'parson'\. Choose from: city, country,"),
        ("P140 = 3\n", "P140: not a table"),
        ("[P140", "cannot be read as TOML"),
    ],
)
def test_a_file_without_whole_entries_is_refused(tmp_path: Path, file: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_predicates(entry(tmp_path, file=file))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="No such file"):
        read_predicates(tmp_path / "other.toml")


def test_names_of_an_entry_cannot_break_out_of_a_comment(tmp_path: Path) -> None:
    path = entry(tmp_path, 'object_is = { Q5 = """human\n} DROP ALL #""" }\n')
    assert read_predicates(path)["P140"].objects == ("?object wdt:P31 wd:Q5 .  # human } DROP ALL #",)


def test_an_unknown_predicate_is_refused_and_the_users_own_goes_first(tmp_path: Path) -> None:
    own = read_predicates(entry(tmp_path))
    assert list(choose([], own)) == ["P140"]
    assert list(choose(["P36", "P140"], own)) == ["P36", "P140"]
    assert list(choose([], {})) == list(PREDICATES)
    assert choose(["P36"], {"P36": own["P140"]})["P36"] is own["P140"]
    with pytest.raises(BadInput, match=r"No predicate P141\. Choose from: .*, P140; .* named by own"):
        choose(["P141"], own)


def test_the_examples_of_the_documentation_can_be_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "curation.md").read_text(encoding="utf-8")
    entry_text, kind, *_ = re.findall(r"```toml\n(\[.*?)```", page, re.DOTALL)
    (predicate,) = read_predicates(entry(tmp_path, kind, entry_text)).values()
    assert predicate.id == "P140"
    assert sorted(predicate.templates) == sorted(predicate.questions) == ["en", "es"]
