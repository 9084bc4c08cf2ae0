"""The submit form: a model, benchmarks, and what can be chosen on all of these."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from django import forms
from django.http import QueryDict
from django.urls import reverse_lazy

from leaderboard.intake.checks.identity import refuse_malformed
from leaderboard.intake.model_names import full_ids, listed_revisions, parse_name, refuse_revision
from leaderboard.intake.requests import named_revisions
from leaderboard.lists import runs
from leaderboard.models import Benchmark
from leaderboard.stored.benchmarks import usual_plan
from leaderboard.views.option_fields import common_fields
from probing.errors import BadInput
from probing.probes import probe_named, probe_of
from probing.probes.probe import offered_options
from probing.settings import SETTINGS

REVISIONS_LENGTH = 50_000  # characters

OPTION = "set-"  # prefix of the fields that hold settings of the run and options of the probe


class SubmitForm(forms.Form):
    """A model's id or address, the benchmarks to measure it on, and what can be chosen on all of these.

    The fields of settings and options are made from their declarations (`offered_options`). `minutes` maps a benchmark
    to the time of a usual run in words, empty where it is not known.
    """

    model = forms.CharField(
        label="Model id or link",
        max_length=300,
        help_text="Paste a Hugging Face model id or the address of its page.",
        widget=forms.TextInput(
            attrs={
                "list": "models",
                "autocomplete": "off",
                "spellcheck": "false",
                "autocapitalize": "none",
                "placeholder": "openai-community/gpt2",
            }
        ),
    )
    benchmark = forms.MultipleChoiceField(
        label="Benchmarks",
        error_messages={"required": "Tick at least one benchmark."},
        widget=forms.CheckboxSelectMultiple(
            attrs={
                "hx-get": reverse_lazy("submit"),
                "hx-include": "[name=benchmark]",
                "hx-target": "#options",
                "hx-select": "#options",
                "hx-swap": "outerHTML",
            }
        ),
    )

    revisions = forms.CharField(
        label="Several revisions",
        required=False,
        max_length=REVISIONS_LENGTH,
        help_text="Branches, tags or commits, one per line or with commas between them; each becomes a run of its own.",
        widget=forms.Textarea(
            attrs={
                "rows": 3,
                "autocomplete": "off",
                "spellcheck": "false",
                "autocapitalize": "none",
                "placeholder": "step1000\nstep2000",
            }
        ),
    )

    def __init__(self, data: Any = None, *, initial: QueryDict, minutes: Callable[[Benchmark], str]) -> None:
        self.offered = {benchmark.name: benchmark for benchmark in runs.benchmarks().exclude(path="")}
        names = list(self.offered)
        ticked = [name for name in initial.getlist("benchmark") if name in names] or names[:1]
        super().__init__(data, initial={**initial.dict(), "benchmark": ticked}, label_suffix="")
        self.full_ids: list[str] = []
        field = cast(forms.MultipleChoiceField, self.fields["benchmark"])
        field.choices = [(name, benchmark_label(row, minutes(row))) for name, row in self.offered.items()]
        chosen = [row for name, row in self.offered.items() if name in ticked]
        self.fields |= {f"{OPTION}{name}": field for name, field in common_fields(chosen).items()}

    def options(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith(OPTION)]

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """Return the fields of options and those of settings, under the titles of the two groups."""
        settings = [field for field in self.options() if field.name.removeprefix(OPTION) in SETTINGS]
        options = [field for field in self.options() if field.name.removeprefix(OPTION) not in SETTINGS]
        titled = [("Options of the probe", options), ("Settings of the run", settings)]
        return [(title, fields) for title, fields in titled if fields]

    def shows_options(self) -> bool:
        """Tell whether the address or an error names an option, so that the fold of the options should be open."""
        return any(name.startswith(OPTION) for name in (self.errors if self.is_bound else self.initial))

    def shows_revisions(self) -> bool:
        """Tell whether revisions were sent or are named by the address, so that their fold should be open."""
        return bool(self["revisions"].value())

    def benchmarks(self) -> list[Benchmark]:
        """Return the ticked benchmarks, in the order of the form."""
        return [row for name, row in self.offered.items() if name in self.cleaned_data["benchmark"]]

    def revisions_named(self) -> list[str]:
        return listed_revisions(self.cleaned_data["revisions"])

    def chosen(self) -> dict[str, Any]:
        """Return what was sent along, by name; an empty text is a value, an empty number or choice is not."""
        names = [field.name.removeprefix(OPTION) for field in self.options() if field.name in self.data]
        offered = offered_options(probe_named(self.benchmarks()[0].probe))
        values = {name: self.cleaned_data.get(f"{OPTION}{name}") for name in names}
        return {
            name: offered[name].parse(value) if isinstance(value, str) else value
            for name, value in values.items()
            if value is not None and (value or not (offered[name].choices or offered[name].many))
        }

    def clean_model(self) -> str:
        """Refuse what is no id at once, and offer the full ids of a model that was named without its organisation."""
        text = str(self.cleaned_data["model"])
        try:
            hub_id, revision = parse_name(text)
            refuse_malformed(hub_id)
            refuse_revision(revision)
        except BadInput as error:
            raise forms.ValidationError(str(error)) from error
        self.full_ids = full_ids(hub_id)
        if self.full_ids:
            raise forms.ValidationError(f"{hub_id} has no organisation in front. Choose the full id.")
        return text

    def clean(self) -> None:
        """Check the options together; an error that one of them has by itself is shown at its field."""
        if self.errors:
            return
        try:
            named_revisions(self.cleaned_data["model"], self.revisions_named())
        except BadInput as error:
            self.add_error("revisions", str(error))
            return
        chosen = self.chosen()
        for benchmark in self.benchmarks():
            if problem := problem_of(benchmark, chosen):
                alone = {name: problem_of(benchmark, {name: value}) for name, value in chosen.items()}
                single = {f"{OPTION}{name}": text for name, text in alone.items() if text}
                for name, text in single.items() or [(None, problem)]:
                    self.add_error(name, text)
                return


def benchmark_label(benchmark: Benchmark, minutes: str) -> str:
    """Return a benchmark's title with its number of items and the minutes that a usual run takes, if known."""
    facts = [f"{benchmark.items:,} questions", minutes]
    return f"{benchmark.title} · {' · '.join(filter(None, facts))}"


def problem_of(benchmark: Benchmark, chosen: Mapping[str, Any]) -> str:
    """Return what is wrong with these settings and options, or an empty text."""
    try:
        probe_of(benchmark.settings_with(chosen))
        if any(offered_options(probe_named(benchmark.probe))[name].tag for name in chosen):
            usual_plan(benchmark, chosen)
    except BadInput as error:
        return str(error)
    return ""
