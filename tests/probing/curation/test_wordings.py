"""Templates of predicates: those of this project, of a folder or of the user, and one made of a property's name."""

from pathlib import Path

import pytest

from probing.curation.culture_facts import CulturePlan
from probing.curation.cultures import new_pair
from probing.curation.wordings import (
    check_languages,
    check_names,
    check_properties,
    checked_template,
    property_templates,
    templates,
)
from probing.errors import BadInput
from probing.formats.own_wordings import own_templates
from tests.probing.curation.conftest import Serve, Source
from tests.probing.curation.world import World


@pytest.fixture
def source(serve: Serve) -> Source:
    world = World()
    world.item("P4661", "shore")
    world.item("P9999", "")
    return serve(world)


def write_templates(folder: Path, language: str, template: str) -> Path:
    (folder / language).mkdir(parents=True)
    line = f'{{"relation": "P36", "template": "{template}"}}'
    (folder / language / "templates.jsonl").write_text(line)
    return folder


def test_languages_without_templates_are_refused() -> None:
    with pytest.raises(BadInput, match=r"no template for P17.*'fr'.*as templates"):
        CulturePlan((new_pair("new", ["arab", "west"], ["en", "fr"]),))


def test_templates_of_a_folder_replace_those_of_the_project(tmp_path: Path) -> None:
    folder = write_templates(tmp_path, "en", "[Y] rules [X].")
    texts = {"P36": {"en": "[X] is ruled from [Y]."}}
    assert templates(texts, "en", folder) == {"P36": "[Y] rules [X]."}
    assert templates(texts, "en") == {"P36": "[X] is ruled from [Y]."}


def test_a_folder_without_a_predicate_is_refused_with_its_name(tmp_path: Path) -> None:
    folder = write_templates(tmp_path, "en", "[Y] rules [X].")
    with pytest.raises(BadInput, match=rf"{tmp_path}: no template for P30, P37 in 'en'\. Give a folder"):
        templates({"P30": {}, "P36": {}, "P37": {}}, "en", folder)


@pytest.mark.parametrize("template", ["[X] is here.", "[X] [Y] [Y]", "[Y]", ""])
def test_a_template_needs_each_slot_once(tmp_path: Path, template: str) -> None:
    with pytest.raises(BadInput, match=r"P36: .* must have \[[XY]\] exactly once\. Correct the template\."):
        checked_template(template, "P36")


def test_a_faulty_template_of_a_folder_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"templates\.jsonl, line 1: .* must have \[Y\] exactly once"):
        templates({"P36": {}}, "en", write_templates(tmp_path, "en", "[X] is here."))


def test_a_template_of_the_user_goes_before_that_of_the_project(source: Source) -> None:
    own = property_templates(source.endpoint(), ["P36"], "en", {})
    user = property_templates(source.endpoint(), ["P36"], "en", {"P36": ["[X]: [Y]", "[Y], [X]"]})
    assert user == {"P36": ["[X]: [Y]", "[Y], [X]"]}
    assert own == {"P36": [own_templates("en")["P36"]]}
    assert source.sparql.requests == []


def test_a_property_without_a_template_is_worded_by_its_english_name(source: Source) -> None:
    worded = property_templates(source.endpoint(), ["P4661", "P36"], "en", {})
    assert list(worded) == ["P4661", "P36"]
    assert worded["P4661"] == ["The shore of [X] is [Y]."]


def test_a_property_without_a_name_is_refused(source: Source) -> None:
    with pytest.raises(BadInput, match=r"has no P9999\. Check the property"):
        property_templates(source.endpoint(), ["P4661", "P9999"], "en", {})


def test_a_property_of_an_entry_that_the_endpoint_lacks_is_refused(source: Source) -> None:
    check_names(source.endpoint(), ["P4661"])
    with pytest.raises(BadInput, match=r"has no P9999\. Check the property in the entry"):
        check_names(source.endpoint(), ["P4661", "P9999"])


def test_a_template_is_made_of_a_name_in_english_only(source: Source) -> None:
    with pytest.raises(BadInput, match=r"No template for P4661 in 'de'\. Give one as templates\."):
        property_templates(source.endpoint(), ["P4661"], "de", {})


@pytest.mark.parametrize("properties", [[], ["Q36"], ["P036"], ["P36", "p30"], ["P36 "]])
def test_ids_that_are_no_properties_are_refused(properties: list[str]) -> None:
    with pytest.raises(BadInput, match=r"such as P36"):
        check_properties(properties)


@pytest.mark.parametrize("code", ["", "EN", "english", "e", "en_GB", "../en", "en-"])
def test_codes_that_are_no_languages_are_refused(code: str) -> None:
    with pytest.raises(BadInput, match="is not a language code"):
        check_languages(["ar", code])


def test_codes_of_languages_and_their_variants_are_accepted() -> None:
    check_languages(["en", "ast", "zh-hant", "be-x-old"])
