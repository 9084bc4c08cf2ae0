"""What the submit form accepts, and what is chosen in it."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.http import QueryDict

from leaderboard.models import Benchmark
from leaderboard.pages.submit_page import SubmitForm, problem_of
from probing.probes import PROBES
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
