"""What forms ask: they only validate; a wrong filter is left out and said."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.urls import reverse_lazy

from leaderboard.display import labels
from leaderboard.lists import queries
from leaderboard.models import Benchmark, Run
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
        field.queryset = queries.benchmarks().exclude(path="")
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
    """Filters over a run's items; the columns that its file has beyond the usual ones are tags.

    `columns`: the ends of each (`items.ends`).
    """

    search = forms.CharField(required=False, max_length=100, label="Subject or answer")
    correct = forms.ChoiceField(
        required=False, label="Answer", choices=[("", "all"), ("yes", "right"), ("no", "wrong")]
    )

    def __init__(self, data: Any, *, run: Run, columns: Mapping[str, set[Any]]) -> None:
        super().__init__(data, label_suffix="")
        if "correct" not in columns:
            del self.fields["correct"]
        if "specific" in columns:
            for name, label in (("specific", "Specific"), ("correct", "Specific, all pairs")):
                self.fields.pop(name, None)
                self.fields[name] = forms.ChoiceField(required=False, choices=YES_NO, label=label)
        self.tags = tag_columns(probe_of(run.benchmark), columns)
        groups: dict[str, list[str]] = {}
        for dimension, group in queries.groups(run):
            groups.setdefault(dimension, []).append(group)
        asked = range(min(columns["template"]), max(columns["template"]) + 1)
        groups.setdefault("template", [str(template) for template in asked])
        for name in ("relation", "template", *self.tags):
            choices = [("", "all"), *((group, group) for group in groups.get(name, []))]
            self.fields[name] = forms.ChoiceField(required=False, choices=choices, label=labels.dimension(name))

    def filter(self) -> ItemFilter:
        """What was asked for, without what is not valid."""
        self.full_clean()
        asked = self.cleaned_data
        template, specific = asked.get("template"), asked.get("specific")
        return ItemFilter(
            correct=TRUTH.get(asked.get("correct", "")),
            relation=asked.get("relation", ""),
            template=int(template) if template else None,
            search=asked.get("search", ""),
            tags={tag: asked[tag] for tag in self.tags if asked.get(tag)}
            | ({"specific": TRUTH[specific]} if specific else {}),
        )
