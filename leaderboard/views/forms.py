"""What forms ask: they only validate; a wrong filter is left out and said."""

from typing import Any

from django import forms
from django.urls import reverse_lazy

from leaderboard.display import labels
from leaderboard.lists import runs
from leaderboard.lists.scores import dimension_groups
from leaderboard.models import Benchmark, Run
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.item_columns import ColumnValues
from leaderboard.stored.item_rows import ItemFilter
from probing.probes import (
    probe_named,
)
from probing.probes.probe import Probe, choices, parse, tag_columns

TRUTH = {"yes": True, "no": False}
YES_NO = [("", "all"), ("yes", "yes"), ("no", "no")]

OPTION = "set-"  # in front of the name of a probe's option


class SubmitForm(forms.Form):
    """A model's id, the benchmark to measure it on, and those options of its probe that have only a few values."""

    model = forms.CharField(
        label="Model id",
        max_length=200,
        help_text="As the hub spells it, for example HuggingFaceTB/SmolLM2-135M-Instruct.",
        widget=forms.TextInput(
            attrs={"list": "local-models", "autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}
        ),
    )
    benchmark = forms.ModelChoiceField(
        Benchmark.objects.none(),
        to_field_name="slug",
        empty_label=None,
        label="Benchmark",
        widget=forms.Select(
            attrs={
                "hx-get": reverse_lazy("submit"),
                "hx-target": "#options",
                "hx-select": "#options",
                "hx-swap": "outerHTML",
            }
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, label_suffix="", **kwargs)
        field = self.fields["benchmark"]
        field.queryset = runs.benchmarks().exclude(path="")
        field.label_from_instance = lambda benchmark: f"{benchmark.title} ({benchmark.items:,} items)"
        asked = field.queryset.filter(slug=self["benchmark"].value()).first() or field.queryset.first()
        if asked:
            self.fields |= {f"{OPTION}{name}": field for name, field in option_fields(asked).items()}

    def options(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith(OPTION)]

    def chosen(self) -> dict[str, Any]:
        """The options that were sent along, by name."""
        sent = {name: self.cleaned_data[name] for name in self.fields if name.startswith(OPTION)}
        texts = [f"{name.removeprefix(OPTION)}={value}" for name, value in sent.items() if value]
        return parse(probe_of(self.cleaned_data["benchmark"]), texts)


def option_fields(benchmark: Benchmark) -> dict[str, forms.ChoiceField]:
    """A choice for each option of the benchmark's probe that has only a few values."""
    probe, usual = probe_of(benchmark), benchmark.settings_with({}).options
    return {
        name: forms.ChoiceField(
            required=False,
            label=labels.option(name),
            choices=[(str(value), labels.choice(value)) for value in values],
            initial=str(usual.get(name, getattr(probe, name))),
        )
        for name, values in choices(probe).items()
    }


def probe_of(benchmark: Benchmark) -> type[Probe]:
    return probe_named(benchmark.probe)


class ItemsForm(forms.Form):
    """Filters over a run's items by text, correctness, relation, template, and every tag that its file has.

    `values`: the least and the greatest value of each stored column (`item_rows.ends`).
    """

    search = forms.CharField(required=False, max_length=100, label="Subject or answer")
    correct = forms.ChoiceField(
        required=False, label="Answer", choices=[("", "all"), ("yes", "right"), ("no", "wrong")]
    )

    def __init__(self, data: Any, *, run: Run, values: ColumnValues) -> None:
        super().__init__(data, label_suffix="")
        if "correct" not in values:
            del self.fields["correct"]
        self.yes_no = pages_of(run.benchmark).item_columns.yes_no
        for name, label in self.yes_no.items():
            self.fields.pop(name, None)
            self.fields[name] = forms.ChoiceField(required=False, choices=YES_NO, label=label)
        self.tags = tag_columns(probe_named(run.benchmark.probe), values)
        groups: dict[str, list[str]] = {}
        for dimension, group in dimension_groups(run):
            groups.setdefault(dimension, []).append(group)
        templates = range(min(values["template"]), max(values["template"]) + 1)
        groups.setdefault("template", [str(template) for template in templates])
        for name in ("relation", "template", *self.tags):
            choices = [("", "all"), *((group, group) for group in groups.get(name, []))]
            self.fields[name] = forms.ChoiceField(required=False, choices=choices, label=labels.dimension(name))

    def filter(self) -> ItemFilter:
        """Return the filter without what is not valid."""
        self.full_clean()
        values = self.cleaned_data
        template = values.get("template")
        yes_no = {name: TRUTH[values[name]] for name in self.yes_no if name != "correct" and values.get(name)}
        return ItemFilter(
            correct=TRUTH.get(values.get("correct", "")),
            relation=values.get("relation", ""),
            template=int(template) if template else None,
            search=values.get("search", ""),
            tags={tag: values[tag] for tag in self.tags if values.get(tag)} | yes_no,
        )
