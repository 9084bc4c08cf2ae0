"""Titles of what scores are stored under, and small phrases about runs and languages."""

import pytest

from leaderboard.models import Model, Run
from leaderboard.ui import labels
from probing.curation.cultures import FOLDER, read_culture
from probing.formats import dlama


def run(hub_id: str) -> Run:
    return Run(model=Model(hub_id=hub_id))


def test_settings_without_a_title_are_made_readable() -> None:
    assert [labels.setting(name) for name in ("pll", "dtype", "templates")] == ["PLL", "Number format", "Wordings"]


def test_dimensions_and_metrics_without_a_title_are_made_readable() -> None:
    assert (labels.dimension("culture_pair"), labels.dimension("head_size")) == ("Culture pair", "Head size")
    assert (labels.metric("accuracy_sem"), labels.metric("in_top_1")) == ("Spread over wordings", "In top 1")


@pytest.mark.parametrize(
    ("title", "within"), [("P@1", "P@1"), ("Accuracy", "accuracy"), ("log₁₀ p, Welch", "log₁₀ p, Welch"), ("", "")]
)
def test_a_title_within_a_sentence_keeps_the_capitals_of_names(title: str, within: str) -> None:
    assert labels.within(title) == within


@pytest.mark.parametrize(("code", "name"), [("ar", "Arabic"), ("en", "English"), ("xx", "xx"), ("", "")])
def test_a_language_has_its_english_name_or_else_its_code(code: str, name: str) -> None:
    assert labels.language(code) == name


@pytest.mark.parametrize(
    ("name", "within"),
    [("Arab", "the Arab world"), ("West", "the West"), ("Asia", "Asia"), ("Nordic", "the culture Nordic")],
)
def test_a_culture_within_a_sentence_is_a_noun(name: str, within: str) -> None:
    assert labels.culture(name) == within


def test_every_culture_that_ships_has_a_name_within_sentences() -> None:
    shipped = {read_culture(path.stem).name for path in FOLDER.glob("*.toml")}
    assert shipped == set(labels.CULTURES) == {*dlama.CULTURES.values(), dlama.WEST}


@pytest.mark.parametrize(
    ("models", "text"),
    [
        ([], "0 models"),
        (["org/a"], "1 model"),
        (["org/a", "org/b"], "2 models"),
        (["org/a", "org/a"], "1 model in 2 runs"),
        (["org/a", "org/a", "org/b"], "2 models in 3 runs"),
    ],
)
def test_models_are_counted_and_runs_where_they_are_more(models: list[str], text: str) -> None:
    assert labels.counted([run(name) for name in models]) == text
