"""Settings and options: what a dataclass field declares, which values are accepted, and what the digest covers."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from probing.errors import BadInput
from probing.settings import Settings, declared, option, usual_names


def test_settings_survive_json() -> None:
    settings = Settings(relations=("P30",), templates=(0, 2), limit=5, options={"k": 3})
    assert Settings.from_json(json.loads(json.dumps(settings.to_json()))) == settings


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(BadInput, match="Unknown setting colour"):
        Settings.from_json({"colour": "red"})


@pytest.mark.parametrize(
    "change", [{"pll": "original"}, {"seed": 1}, {"options": {"k": 1}}, {"templates": (1,)}, {"start": "eos"}]
)
def test_whatever_can_change_a_number_changes_the_digest(change: dict[str, object]) -> None:
    assert Settings(**change).digest != Settings().digest  # type: ignore[arg-type]


def test_the_digest_covers_nothing_but_what_differs_from_the_defaults() -> None:
    assert Settings().digest == Settings.from_json({}).digest == hashlib.sha256(b"{}").hexdigest()
    changed = Settings(limit=5, templates=(0, 2), options={"k": 3})
    text = b'{"limit": 5, "options": {"k": 3}, "templates": [0, 2]}'
    assert changed.digest == hashlib.sha256(text).hexdigest()


def test_a_setting_that_is_added_later_changes_no_digest() -> None:
    @dataclass(frozen=True)
    class Later(Settings):
        shade: int = 0

    assert Later(limit=5).digest == Settings(limit=5).digest


def test_both_names_of_a_setting_stand_for_the_one_that_records_have() -> None:
    assert usual_names({"relation": "P30", "template": 1, "seed": 2}) == {
        "relations": "P30",
        "templates": 1,
        "seed": 2,
    }
    assert usual_names({"relations": ["P30"], "templates": (1,)}) == {"relations": ["P30"], "templates": (1,)}
    with pytest.raises(BadInput, match="template and templates are the same setting"):
        usual_names({"template": 0, "templates": 1})


@dataclass(frozen=True)
class Dish:
    taste: Literal["sweet", "sour"] = option("sweet", "of the whole dish", chooses_items=True, offered=True)
    hot: bool = False
    weight: float = 0.5
    eggs: int = 2
    guests: int | None = option(None)
    spices: tuple[str, ...] = option((), flag="spice")
    times: tuple[int, ...] = (1,)
    notes: Mapping[str, Any] = field(default_factory=dict)


OPTIONS = declared(Dish, "dish")


def test_each_field_with_a_plain_default_is_an_option_as_its_annotation_and_declaration_say() -> None:
    assert list(OPTIONS) == ["taste", "hot", "weight", "eggs", "guests", "spices", "times"]
    assert {name: option.default for name, option in OPTIONS.items()} == {
        "taste": "sweet", "hot": False, "weight": 0.5, "eggs": 2, "guests": None, "spices": (), "times": (1,),
    }  # fmt: skip
    assert (OPTIONS["taste"].value_type, OPTIONS["taste"].choices) == (str, ("sweet", "sour"))
    assert OPTIONS["hot"].choices == (False, True)
    assert (OPTIONS["guests"].value_type, OPTIONS["guests"].optional) == (int, True)
    assert (OPTIONS["times"].value_type, OPTIONS["times"].many) == (int, True)
    taste, spices = OPTIONS["taste"], OPTIONS["spices"]
    assert (taste.help, taste.chooses_items, taste.flag) == ("of the whole dish", True, "taste")
    assert (spices.help, spices.chooses_items, spices.flag) == ("", False, "spice")
    assert (taste.offered, spices.offered) == (True, False)


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        ("guests", None, None),
        ("guests", 3, 3),
        ("spices", "salt", ("salt",)),
        ("spices", ["salt", "mint"], ("salt", "mint")),
        ("times", 2, (2,)),
        ("times", (), ()),
    ],
)
def test_a_value_is_accepted_as_it_is_stored(name: str, value: object, stored: object) -> None:
    assert OPTIONS[name].check(value) == stored


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("taste", "salty", "dish: taste cannot be 'salty'. Choose from: sweet, sour."),
        ("taste", "sweat", "dish: taste cannot be 'sweat'. Choose from: sweet, sour. Did you mean 'sweet'?"),
        ("hot", 1, "dish: hot cannot be 1. Give it a value of type true or false."),
        ("eggs", True, "dish: eggs cannot be True. Give it a value of type whole number."),
        ("eggs", None, "dish: eggs cannot be None. Give it a value of type whole number."),
        ("times", ["1"], "dish: times cannot be '1'. Give it a value of type whole number."),
        ("weight", "much", "dish: weight cannot be 'much'. Give it a value of type number."),
    ],
)
def test_another_value_is_refused_with_what_would_do(name: str, value: object, words: str) -> None:
    with pytest.raises(BadInput) as caught:
        OPTIONS[name].check(value)
    assert str(caught.value) == words
