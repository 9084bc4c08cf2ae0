"""A probe's own options: declared as fields, checked by type."""

import inspect
from dataclasses import dataclass
from typing import ClassVar, Literal

import pandas as pd
import pytest

from probing.benchmark import Item, Relation
from probing.errors import BadInput
from probing.probes import PROBES, probe_named
from probing.probes.probe import changed_options, declared_options, finding, make, offered_options, parse, tag_cells
from probing.probes.similarity import Similarity
from probing.runner import run
from probing.settings import SETTINGS
from probing.statements.prompting import PROMPTINGS


@dataclass(frozen=True)
class Few(Similarity):
    name: ClassVar[str] = "few"

    prompting: Literal["vanilla", "few-shot"] = "vanilla"
    k: int = 10
    weight: float = 0.5
    shuffled: bool = False


def test_each_probe_stands_under_its_name() -> None:
    assert all(kind.name == name for name, kind in PROBES.items())


def test_an_unknown_probe_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match=r"Choose from: .*multiple_choice"):
        probe_named("guess")


def test_texts_become_the_declared_types() -> None:
    given = parse(declared_options(Few), ["prompting=few-shot", "k=3", "weight=1", "shuffled=True"], "Few")
    assert given == {"prompting": "few-shot", "k": 3, "weight": 1.0, "shuffled": True}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("k=many", "k cannot be 'many'.*whole number"),
        ("shuffled=perhaps", "shuffled cannot be 'perhaps'.*true or false"),
        ("prompting=loud", "prompting cannot be 'loud'.*Choose from: vanilla, few-shot"),
        ("prompting=fewshot", "prompting cannot be 'fewshot'.*Did you mean 'few-shot'?"),
        ("k", "Write it as name=value"),
        ("colour=red", "no option 'colour'.*prompting, k, weight, shuffled"),
    ],
)
def test_a_bad_option_says_what_would_do(text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        parse(declared_options(Few), [text], "Few")


def test_an_option_that_takes_many_values_takes_them_with_commas_between() -> None:
    assert parse(SETTINGS, ["templates=0, 2"], "The run") == {"templates": [0, 2]}
    with pytest.raises(BadInput, match=r"templates cannot be ''\. Give it a value of type whole number"):
        parse(SETTINGS, ["templates="], "The run")


def test_what_is_offered_is_declared_once_and_used_by_the_probe(subtests: pytest.Subtests) -> None:
    every_probe = {"templates", "sample", "language", "dtype", "start"}
    for name, probe in PROBES.items():
        with subtests.test(name):
            offered = offered_options(probe)
            own, settings = declared_options(probe), {option for option in offered if option in SETTINGS}
            assert not own.keys() & SETTINGS.keys(), "a name would have two meanings"
            assert offered.keys() == own.keys() | settings
            assert every_probe <= settings <= {*every_probe, "pll", "reduction", "protocol"} - probe.fixed.keys()


def test_a_probe_without_options_says_so() -> None:
    with pytest.raises(BadInput, match=r"no option 'k'.*It has none"):
        make(Similarity, {"k": 1})


@pytest.mark.parametrize(
    ("name", "value"), [("k", "3"), ("k", True), ("shuffled", 1), ("prompting", "loud"), ("prompting", ["few-shot"])]
)
def test_a_value_of_another_type_is_refused(name: str, value: object) -> None:
    with pytest.raises(BadInput, match=f"{name} cannot be"):
        make(Few, {name: value})


def test_each_option_names_its_type_and_its_choices() -> None:
    declared = {name: (option.value_type, option.choices) for name, option in declared_options(Few).items()}
    assert declared == {
        "prompting": (str, ("vanilla", "few-shot")),
        "k": (int, ()),
        "weight": (float, ()),
        "shuffled": (bool, (False, True)),
    }
    assert declared_options(PROBES["specificity"])["prompting"].choices == tuple(PROMPTINGS)
    assert list(declared_options(PROBES["multiple_choice"])) == ["generic_subjects", "few_shot", "chat"]
    assert declared_options(PROBES["similarity"]) == {}


def test_every_option_of_a_shipped_probe_is_explained_and_hides_no_setting() -> None:
    arguments = {*inspect.get_annotations(run), *SETTINGS}  # its signature shows settings and options as well
    options = [(key, name, option) for key, probe in PROBES.items() for name, option in declared_options(probe).items()]
    assert [(key, name) for key, name, option in options if not option.help or name in arguments] == []


def test_only_options_that_differ_from_their_defaults_enter_the_digest() -> None:
    assert changed_options(make(Few, {"k": 10, "weight": 0.25})) == {"weight": 0.25}


def test_tags_of_an_item_go_before_those_of_its_relation() -> None:
    relation = Relation("P36", (), (), (), tags={"domain": "Politics", "language": "en"})
    item = Item(0, "Chad", (0,), tags={"domain": "Geography"})
    assert tag_cells(relation, item) == {"domain": "Geography", "language": "en"}


def test_several_values_of_a_tag_stay_together_in_one_cell() -> None:
    relation = Relation("P36", (), (), (), tags={"domain": ("Politics", "Geography"), "language": "en"})
    cells = [tag_cells(relation, Item(index, "Chad", (0,))) for index in range(2)]
    assert cells[0] == {"domain": ["Politics", "Geography"], "language": "en"}
    assert pd.DataFrame(cells).shape == (2, 2)
    assert cells[0]["domain"] is not cells[1]["domain"]


def test_an_item_without_tags_adds_no_columns() -> None:
    assert tag_cells(Relation("P36", (), (), ()), Item(0, "Chad", (0,))) == {}


UNTOLD = (float("nan"), float("nan"))
SENTENCES = {
    "multiple_choice": "knows {} of these 1,155 facts",
    "ranking": "knows {} of these 1,155 facts",
    "cloze": "knows {} of these 1,155 facts, as the mean over relations",
    "specificity": "prefers the more specific answer in {} of these 1,155 pairs, as the mean over relations",
    "perplexity": "finds a true sentence more plausible than a false one in {} of all cases with these 1,155 sentences",
    "answering": "answers {} of these 1,155 questions rightly",
    "similarity": "finds the right answer nearest to the subject for {} of these 1,155 facts",
}


@pytest.mark.parametrize("name", PROBES)
def test_each_probe_says_what_a_model_does(name: str) -> None:
    assert finding(PROBES[name].finds, 0.49, (0.41, 0.57), 1155, {}) == SENTENCES[name].format("49 % (41 to 57)")


def test_a_finding_stands_beside_what_is_reached_without_a_model() -> None:
    ways = {"guessing": 0.034, "always the commonest answer": 0.34}
    assert finding("knows {share}", 0.12, UNTOLD, 10, ways) == (
        "knows 12 %; guessing 3.4 %, always the commonest answer 34 %"
    )
    assert finding("knows {share}", 0.125, UNTOLD, 10, {}) == "knows 13 %", "and not the even 12"
    equal = dict.fromkeys(ways, 0.13)
    assert finding("knows {share}", 0, UNTOLD, 10, equal) == "knows 0 %; guessing 13 %"


@pytest.mark.parametrize(("n", "words"), [(1, "this one pair, as"), (2, "these 2 pairs, as")])
def test_a_finding_of_one_item_is_in_the_singular(n: int, words: str) -> None:
    assert words in finding(PROBES["specificity"].finds, 0.5, (0.2, 0.8), n, {})
