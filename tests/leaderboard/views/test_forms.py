"""What the forms accept, and what they make of it."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django import forms
from django.http import QueryDict
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.models import Benchmark
from leaderboard.stored import item_rows
from leaderboard.stored.item_rows import ItemFilter
from leaderboard.views.forms import ItemsForm, SubmitForm, option_fields, problem_of
from probing.probes import PROBES
from probing.probes.cloze import INSTRUCTIONS
from probing.probes.probe import offered_options
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site


def fields_of(benchmark: Benchmark) -> dict[str, type[forms.Field]]:
    return {name: type(field) for name, field in option_fields(benchmark).items()}


@pytest.mark.parametrize("probe", PROBES)
def test_everything_that_is_offered_has_a_field_with_a_label_and_a_help_text(probe: str) -> None:
    fields = option_fields(Benchmark(probe=probe))
    offered = offered_options(PROBES[probe])
    of_files = {"templates", *(name for name, option in offered.items() if option.tag)}
    assert fields.keys() == offered.keys() - of_files, "without files, there are none of these"
    assert all(field.label and field.help_text for field in fields.values())


def test_a_field_fits_the_type_of_its_option() -> None:
    assert fields_of(Benchmark(probe="answering")) == {
        "chat": forms.ChoiceField,
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


def test_an_instruction_is_the_same_value_by_form_api_and_command(db: None) -> None:
    benchmark = make.benchmark("geography", probe="cloze", path="geography")
    form = submitted("geography", **{"set-instruction": "0"})
    assert form.is_valid(), form.errors
    parsed = offered_options(PROBES["cloze"])["instruction"].parse("0")  # as the command does
    assert form.chosen() == {"instruction": parsed} == {"instruction": 0}
    assert problem_of(benchmark, {"instruction": 0}) == ""
    assert "Choose from: 0, 1, 2, 3, 4, 5." in problem_of(benchmark, {"instruction": 6})


def test_templates_are_offered_where_there_are_several_and_the_usual_ones_are_ticked(
    small: Benchmark, pairs: Benchmark
) -> None:
    field = option_fields(small)["templates"]
    assert isinstance(field, forms.TypedMultipleChoiceField)
    assert (field.choices, field.initial) == ([(0, "Wording 1"), (1, "Wording 2"), (2, "Wording 3")], [0])
    assert "templates" not in option_fields(pairs)


def test_the_number_format_follows_from_the_size_unless_one_is_chosen(
    small: Benchmark, settings: DjangoSettings
) -> None:
    settings.FLOAT32_PARAMETERS = 7_200_000_000
    field = option_fields(small)["dtype"]
    assert isinstance(field, forms.ChoiceField)
    assert field.choices[0] == ("", "by the model's size")
    assert "up to 7.2 billion parameters float32" in str(field.help_text)
    assert submitted("small", **{"set-dtype": ""}).is_valid()


@pytest.mark.parametrize(
    ("sent", "chosen"),
    [
        ({}, {}),
        ({"set-templates": []}, {}),
        ({"set-templates": ["0", "2"]}, {"templates": [0, 2]}),
        ({"set-pll": "original", "set-reduction": "mean"}, {"pll": "original", "reduction": "mean"}),
        ({"set-dtype": ""}, {}),
        ({"set-dtype": "bfloat16"}, {"dtype": "bfloat16"}),
    ],
)
def test_settings_of_the_run_are_chosen_as_options_are(
    small: Benchmark, sent: dict[str, Any], chosen: dict[str, Any]
) -> None:
    query = QueryDict(mutable=True)
    query.update({"model": "org/name", "benchmark": "small"})
    for name, values in sent.items():
        query.setlist(name, values if isinstance(values, list) else [values])
    form = SubmitForm(query, initial=query, minutes=lambda benchmark: "")
    assert form.is_valid(), form.errors
    assert form.chosen() == chosen
    assert [title for title, _ in form.groups()] == ["Options of the probe", "Settings of the run"]


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


def submitted(benchmark: str, **options: str) -> SubmitForm:
    sent = QueryDict(urlencode({"model": "org/name", "benchmark": benchmark, **options}))
    return SubmitForm(sent, initial=sent, minutes=lambda benchmark: "")


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ({}, {}),
        ({"set-shots": ""}, {}),
        ({"set-prompting": ""}, {}),
        ({"set-prompting": "few-shot", "set-shots": "3"}, {"prompting": "few-shot", "shots": 3}),
        ({"set-by": "word"}, {}),
    ],
)
def test_only_options_of_the_benchmarks_probe_that_have_a_value_are_chosen(
    pairs: Benchmark, options: dict[str, str], chosen: dict[str, Any]
) -> None:
    form = submitted("pairs", **options)
    assert form.is_valid()
    assert form.chosen() == chosen


def test_a_benchmark_without_files_cannot_be_chosen(pairs: Benchmark) -> None:
    Benchmark.objects.update(path="")
    assert list(submitted("pairs").errors) == ["benchmark"]


def test_options_that_are_right_have_no_problem() -> None:
    benchmark = Benchmark(slug="pairs", probe="specificity")
    assert problem_of(benchmark, {"shots": 3}) == ""
    assert "Give 1 or more" in problem_of(benchmark, {"shots": 0})


@pytest.mark.parametrize(
    ("query", "filters"),
    [
        ("", ItemFilter(tags={})),
        ("correct=yes&template=1", ItemFilter(correct=True, template=1, tags={})),
        ("correct=no&relation=P36&search=norw", ItemFilter(correct=False, relation="P36", search="norw", tags={})),
        ("domain=Political", ItemFilter(tags={"domain": "Political"})),
        ("correct=maybe&template=9&relation=P99&domain=None", ItemFilter(tags={})),
    ],
)
def test_a_filter_of_items_leaves_out_what_is_not_valid(site: Site, query: str, filters: ItemFilter) -> None:
    form = ItemsForm(QueryDict(query), run=site.first, values=item_rows.ends(site.first))
    assert form.filter() == filters


def test_items_that_are_neither_right_nor_wrong_have_no_such_filter(site: Site) -> None:
    values = {name: both for name, both in item_rows.ends(site.first).items() if name != "correct"}
    assert "correct" not in ItemsForm(QueryDict("correct=yes"), run=site.first, values=values).fields
