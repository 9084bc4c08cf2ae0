"""The fields that are made from declared options and settings."""

import pytest
from django import forms
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.models import Benchmark
from leaderboard.pages.submit_page import option_fields
from probing.probes import PROBES
from probing.probes.cloze import INSTRUCTIONS
from probing.probes.probe import offered_options


def fields_of(benchmark: Benchmark) -> dict[str, type[forms.Field]]:
    return {name: type(field) for name, field in option_fields(benchmark).items()}


def test_everything_that_is_offered_has_a_field_with_a_label_and_a_help_text(subtests: pytest.Subtests) -> None:
    for probe in PROBES:
        with subtests.test(probe):
            fields = option_fields(Benchmark(probe=probe))
            offered = offered_options(PROBES[probe])
            of_files = {"templates", *(name for name, option in offered.items() if option.tag)}
            assert fields.keys() == offered.keys() - of_files, "without files, there are none of these"
            assert all(field.label and field.help_text for field in fields.values())


def test_a_field_fits_the_type_of_its_option() -> None:
    assert fields_of(Benchmark(probe="answering")) == {
        "questions": forms.ChoiceField,
        "chat": forms.ChoiceField,
        "may_decline": forms.ChoiceField,
        "tokens": forms.IntegerField,
        "start": forms.CharField,
        "dtype": forms.ChoiceField,
        "sample": forms.IntegerField,
    }
    assert fields_of(Benchmark(probe="perplexity")) == {
        "by": forms.ChoiceField,
        "public_code": forms.ChoiceField,
        "start": forms.CharField,
        "dtype": forms.ChoiceField,
        "sample": forms.IntegerField,
    }
    assert fields_of(Benchmark(probe="multiple_choice"))["protocol"] is forms.ChoiceField


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


def test_the_number_format_follows_from_the_size_unless_one_is_chosen(
    small: Benchmark, settings: DjangoSettings
) -> None:
    settings.FLOAT32_PARAMETERS = 7_200_000_000
    field = option_fields(small)["dtype"]
    assert isinstance(field, forms.ChoiceField)
    assert field.choices[0] == ("", "by the model's size")
    assert "up to 7.2 billion parameters float32" in str(field.help_text)
