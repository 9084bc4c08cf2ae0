"""Titles of what scores are stored under, small phrases, and text in which hidden characters are written out."""

import pytest

from leaderboard.models import Model, Run
from leaderboard.ui import labels
from leaderboard.ui.spelled import figure_with_uncertainty
from leaderboard.ui.visible import LINES, visible
from probing.curation.cultures import FOLDER, read_culture
from probing.formats import dlama


def run(hub_id: str) -> Run:
    return Run(model=Model(hub_id=hub_id))


def test_settings_without_a_title_are_made_readable() -> None:
    assert [labels.setting(name) for name in ("pll", "dtype", "templates")] == ["PLL", "Number format", "Wordings"]


def test_a_title_within_a_sentence_keeps_the_capitals_of_names() -> None:
    within = {
        "P@1": "P@1",
        "Accuracy": "accuracy",
        "log₁₀ p, Welch": "log₁₀ p, Welch",
        "": "",
    }
    assert {title: labels.within(title) for title in within} == within


def test_a_language_has_its_english_name_or_else_its_code() -> None:
    languages = {
        "ar": "Arabic",
        "en": "English",
        "xx": "xx",
        "": "",
    }
    assert {code: labels.language(code) for code in languages} == languages


def test_a_culture_within_a_sentence_is_a_noun() -> None:
    within = {
        "Arab": "the Arab world",
        "West": "the West",
        "Asia": "Asia",
        "Nordic": "the culture Nordic",
    }
    assert {name: labels.culture(name) for name in within} == within


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
    assert labels.counted(models) == text


def test_a_figure_stands_with_its_interval() -> None:
    texts = {
        (0.412, 0.385, 0.439): "0.412 ± 0.027",
        (0.412, None, None): "0.412",
        (0.412, 0.385, None): "0.412",
        (-0.1, -0.2, 0.0): "−0.100 ± 0.100",
        (0.0, 0.0, 0.354): "0.000 (0.000 to 0.354)",
    }
    assert {figure: figure_with_uncertainty(*figure) for figure in texts} == texts


def test_what_cannot_be_seen_is_written_out() -> None:
    shown = {
        "Apache 2.0 – für alle, 中文, العربية": "Apache 2.0 – für alle, 中文, العربية",
        "org/\u202egnp.exe": r"org/\u202egnp.exe",
        "a\u200bb\u2066c\ufeff": r"a\u200bb\u2066c\ufeff",
        "bell\x07 null\x00 line\nend\u2028": r"bell\x07 null\x00 line\x0aend\u2028",
        "tag\U000e0041": r"tag\U000e0041",
        "half \ud800": r"half \ud800",
    }
    assert {text: visible(text) for text in shown} == shown


def test_a_log_keeps_its_lines() -> None:
    assert visible("first\n\tsecond\x1b[31m", LINES) == "first\n\tsecond\\x1b[31m"
