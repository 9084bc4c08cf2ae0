"""What the submit form offers and accepts, and what is chosen in it."""

from urllib.parse import urlencode

import pytest
from django import forms
from django.http import QueryDict

from leaderboard.models import Benchmark
from leaderboard.pages.submit_page import SubmitForm, option_fields, problem_of
from probing.probes import PROBES
from probing.probes.cloze import INSTRUCTIONS
from probing.probes.probe import offered_options
from tests.leaderboard import factories as make


def submitted(benchmark: str, **options: str) -> SubmitForm:
    sent = QueryDict(urlencode({"model": "org/name", "benchmark": benchmark, **options}))
    return SubmitForm(sent, initial=sent, minutes=lambda benchmark: "")


def test_an_instruction_is_the_same_value_by_form_api_and_command(db: None) -> None:
    benchmark = make.benchmark("geography", probe="cloze", path="geography")
    form = submitted("geography", **{"set-instruction": "0"})
    assert form.is_valid(), form.errors
    parsed = offered_options(PROBES["cloze"])["instruction"].parse("0")  # as the command does
    assert form.chosen() == {"instruction": parsed} == {"instruction": 0}
    assert problem_of(benchmark, {"instruction": 0}) == ""
    assert "Choose from: 0, 1, 2, 3, 4, 5." in problem_of(benchmark, {"instruction": 6})


@pytest.mark.parametrize("name", ["templates", "pll", "reduction", "dtype"])
def test_a_value_that_is_not_offered_is_an_error_of_its_field(small: Benchmark, name: str) -> None:
    form = submitted("small", **{f"set-{name}": "7"})
    assert list(form.errors) == [f"set-{name}"]


def test_a_start_token_that_does_not_exist_is_an_error_of_its_field_and_an_empty_one_the_usual(
    small: Benchmark,
) -> None:
    form = submitted("small", **{"set-start": "cls"})
    assert list(form.errors) == ["set-start"]
    assert "start token cannot be" in str(form.errors)
    empty = submitted("small", **{"set-start": ""})
    assert empty.is_valid()
    assert small.settings_with(empty.chosen()) == small.settings_with({})


def test_a_benchmark_without_files_cannot_be_chosen(pairs: Benchmark) -> None:
    Benchmark.objects.update(path="")
    assert list(submitted("pairs").errors) == ["benchmark"]


def test_everything_that_is_offered_has_a_field_with_a_label_and_a_help_text(subtests: pytest.Subtests) -> None:
    for probe in PROBES:
        with subtests.test(probe):
            fields = option_fields(Benchmark(probe=probe))
            offered = offered_options(PROBES[probe])
            of_files = {"templates", *(name for name, option in offered.items() if option.tag)}
            assert fields.keys() == offered.keys() - of_files, "without files, there are none of these"
            assert all(field.label and field.help_text for field in fields.values())


def test_the_instructions_of_cloze_are_listed_with_their_texts() -> None:
    field = option_fields(Benchmark(probe="cloze"))["instruction"]
    assert isinstance(field, forms.ChoiceField)
    titles = dict(field.choices)
    assert list(titles) == [str(number) for number in range(len(INSTRUCTIONS))]
    assert titles["0"] == "0: none, the sentence alone"
    assert titles["1"] == "1: Complete the following sentence: [sentence]"
    assert field.initial == "2"


def test_templates_are_offered_where_there_are_several_and_the_usual_ones_are_ticked(
    small: Benchmark, pairs: Benchmark
) -> None:
    field = option_fields(small)["templates"]
    assert isinstance(field, forms.TypedMultipleChoiceField)
    examples = ["X is located in ____.", "____ contains X.", "X belongs to ____."]
    choices = [(number, f"Wording {number + 1}, for example “{text}”") for number, text in enumerate(examples)]
    assert (field.choices, field.initial) == (choices, [0])
    assert "templates" not in option_fields(pairs)
