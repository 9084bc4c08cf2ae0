"""The fields of the submit form that are made from declared options and settings."""

from collections.abc import Sequence
from typing import Any

from django import forms

from leaderboard.display import labels
from leaderboard.intake import number_format
from leaderboard.models import Benchmark
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.pages import ProbePages
from leaderboard.probe_pages.questions_in_words import tag_text, wording
from leaderboard.stored.benchmarks import tag_values, templates_to_choose
from probing.options import Option
from probing.probes import probe_named
from probing.probes.probe import offered_options

LONG_CHOICE = 30  # characters, beyond which a field takes a line of its own


def common_fields(benchmarks: Sequence[Benchmark]) -> dict[str, forms.Field]:
    """Return the fields of what can be chosen on each of these benchmarks, as the first of them has them."""
    first, *others = [option_fields(benchmark) for benchmark in benchmarks] or [{}]
    shared = {name: field for name, field in first.items() if all(name in other for other in others)}
    for name, field in shared.items():
        if isinstance(field, forms.ChoiceField):
            field.choices = [choice for choice in _choices(field) if all(choice in _choices(o[name]) for o in others)]
    return shared


def _choices(field: forms.Field) -> list[Any]:
    return list(getattr(field, "choices", ()))


def option_fields(benchmark: Benchmark) -> dict[str, forms.Field]:
    """Return a field for whatever can be chosen on the benchmark, with the benchmark's usual value."""
    offered, settings = offered_options(probe_named(benchmark.probe)), benchmark.settings_with({})
    usual = {**settings.to_json(), **settings.options}
    pages = pages_of(benchmark)
    values = {name: tag_values(benchmark, option.tag) for name, option in offered.items() if option.tag}
    fields = {
        name: option_field(option, pages, usual.get(name, option.default), values.get(name, ()))
        for name, option in offered.items()
        if not option.many and name != "dtype" and (not option.tag or len(values[name]) > 1)
    }
    templates = templates_to_choose(benchmark)
    if len(templates) > 1:
        fields["templates"] = templates_field(offered["templates"], templates, settings.templates)
    return {**fields, "dtype": number_format_field(offered["dtype"])}


def templates_field(option: Option, templates: range, usual: Sequence[int]) -> forms.Field:
    """Return a choice of several of the benchmark's templates."""
    return forms.TypedMultipleChoiceField(
        coerce=int,
        choices=[(number, wording(number)) for number in templates],
        widget=forms.CheckboxSelectMultiple,
        initial=list(usual or templates),
        required=False,
        label=labels.setting(option.name),
        help_text=option.help,
    )


def number_format_field(option: Option) -> forms.Field:
    """Return a choice of the number format, which the model's size decides unless one is chosen."""
    return forms.ChoiceField(
        choices=[("", "by the model's size"), *((value, value) for value in option.choices)],
        required=False,
        label=labels.setting(option.name),
        help_text=number_format.rule(),
    )


def option_field(option: Option, pages: ProbePages, initial: Any, tag_values: Sequence[str] = ()) -> forms.Field:
    """Return a choice for an option with few values, and otherwise a number or a text.

    `tag_values`: those that the benchmark's relations have of the option's tag, of which one is chosen.
    """
    common: dict[str, Any] = {"required": False, "label": pages.option_label(option.name), "help_text": option.help}
    if option.tag:
        everything = [] if option.default else [("", "all")]
        choices = [*everything, *((value, tag_text(option.tag, value)) for value in tag_values)]
        return forms.ChoiceField(choices=choices, initial=initial, **common)
    if option.choices:
        choices = [(str(value), pages.choice_label(option.name, value)) for value in option.choices]
        wide = any(len(title) > LONG_CHOICE for _, title in choices)
        widget = forms.Select(attrs={"class": "wide"} if wide else {})
        return forms.ChoiceField(choices=choices, initial=str(initial), widget=widget, **common)
    if option.value_type is str:
        return forms.CharField(max_length=100, initial=initial, **common)
    if option.name == "sample":
        common["min_value"] = 1
    number, name = (forms.IntegerField, "whole number") if option.value_type is int else (forms.FloatField, "number")
    return number(initial=initial, error_messages={"invalid": f"Give a {name}."}, **common)
