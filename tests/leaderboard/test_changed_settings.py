"""Settings that differ from the usual ones, and those among them that choose the items."""

from typing import Any

import pytest

from leaderboard.changed_settings import asks_other_items, differences, in_words, plan
from probing.settings import Settings

RANKING = Settings(probe="ranking", options={"pair": "arab-west"})


@pytest.mark.parametrize(
    ("values", "changed"),
    [
        ({}, {}),
        ({"templates": [0], "options": {"pair": "arab-west", "objects": "augmented"}}, {}),
        (
            {"templates": [0, 2], "pll": "original"},
            {"templates": "wordings 1 and 3", "pll": "PLL original"},
        ),
        ({"templates": [2]}, {"templates": "wording 3 only"}),
        ({"templates": []}, {"templates": "all wordings"}),
        ({"dtype": "bfloat16", "reduction": "mean"}, {"dtype": "bfloat16", "reduction": "reduction mean"}),
        ({"language": "ar", "options": {"objects": "raw"}}, {"language": "language ar", "objects": "objects raw"}),
        ({"options": {"trained_on": "arXiv"}}, {"trained_on": "trained on arXiv"}),
    ],
)
def test_changed_settings_and_options_are_told_in_words(values: dict[str, Any], changed: dict[str, str]) -> None:
    assert differences(values, RANKING) == changed


def test_some_settings_and_options_choose_the_items_that_are_asked_and_others_leave_them() -> None:
    for values in ({"limit": 5}, {"relations": ["P30"]}, {"language": "ar"}, {"options": {"pair": ""}}):
        assert asks_other_items(differences(values, RANKING), "ranking"), values
    for values in ({}, {"pll": "original"}, {"seed": 3}, {"options": {"trained_on": "arXiv"}}):
        assert not asks_other_items(differences(values, RANKING), "ranking"), values


@pytest.mark.parametrize(
    ("usual", "words"),
    [
        (Settings(templates=(0, 1, 2)), "wordings 1, 2 and 3, PLL within_word_l2r, reduction sum"),
        (Settings(templates=(), reduction="mean"), "all wordings, PLL within_word_l2r, reduction mean"),
        (RANKING, "first wording only, pair arab-west"),
        (Settings(probe="specificity", options={"prompting": "few-shot"}), "prompting few-shot"),
    ],
)
def test_a_plan_names_what_a_submitter_may_choose(usual: Settings, words: str) -> None:
    assert plan(usual).endswith(words)
    assert "float32" not in plan(usual)


def test_a_plan_names_start_token_and_protocol_only_where_they_are_not_the_usual_ones() -> None:
    assert "start" not in plan(Settings())
    assert "protocol" not in plan(Settings())
    assert plan(Settings(start="eos", protocol="lm-eval")).endswith("start token eos, protocol lm-eval")


def test_a_source_that_reports_a_figure_is_named_in_a_sentence() -> None:
    assert in_words("reported", "LM-PUB-QUIZ paper") == "reported in the LM-PUB-QUIZ paper"


def test_a_long_list_is_counted_and_told_from_others_of_its_length() -> None:
    assert in_words("relations", ["P30", "P36"]) == "relations P30 P36"
    many = [in_words("relations", [f"P{first}", "P30", "P36", "P37", "P47"]) for first in (17, 18, 17)]
    many += [in_words("relations", ["P17", "P31", "P36", "P37", "P47"])]
    ends = ["5 relations (P17 to P47", "5 relations (P18 to P47", "5 relations (P17 to P47", "5 relations (P17 to P47"]
    assert [words.partition(", checksum ")[0] for words in many] == ends
    assert many[0] == many[2]
    assert len(set(many)) == 3, "lists with the same ends are told apart"
