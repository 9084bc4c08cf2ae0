"""/submit/ : take a model, benchmarks and options; show what that costs, or go to the page of the submission."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, cast

from django import forms
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse_lazy

from leaderboard.figures import runs as runs_module
from leaderboard.figures.benchmarks import tag_values, templates_to_choose, usual_plan
from leaderboard.figures.progress import expected_time, worked_queue
from leaderboard.intake import hub, number_format, submissions
from leaderboard.intake.checks import refuse_malformed
from leaderboard.intake.hub import full_ids, listed_revisions, parse_name, refuse_revision, suggestions
from leaderboard.intake.quotas import OverQuota
from leaderboard.intake.submissions import named_revisions, usual_positions
from leaderboard.line import MEASURE
from leaderboard.models import Benchmark, Model
from leaderboard.probes import pages_of
from leaderboard.probes.probe_pages import ProbePages
from leaderboard.probes.wording import Names, read_relations, tag_text, wording, wording_names
from leaderboard.serving.errors import with_retry_after
from leaderboard.serving.limits import client_address
from leaderboard.ui import labels
from probing.errors import BadInput, ProbingError
from probing.probes import probe_named, probe_of
from probing.probes.probe import offered_options
from probing.settings import SETTINGS, Option


def submit_view(request: HttpRequest) -> HttpResponse:
    looking = "look" in request.POST  # at the options of other benchmarks, without JavaScript
    form = SubmitForm(None if looking else request.POST or None, initial=_initial(request))
    preview: dict[str, Any] | None = None
    problem: ProbingError | None = None
    try:
        valid = form.is_valid()
        if valid and "preview" not in request.POST:
            submitted = submissions.receive_all(
                form.cleaned_data["model"],
                form.benchmarks(),
                form.chosen(),
                revisions=form.revisions_named(),
                submitter=client_address(request),
            )
            return redirect("submission", submitted[0].token)
        preview = _preview(form) if valid else None
        status = 422 if form.errors else 200
    except ProbingError as error:
        problem = error
        form.add_error(None, str(error))
        status = 429 if isinstance(error, OverQuota) else 422 if error.permanent else 503
    context = {
        "form": form,
        "local": hub.local_ids(),
        "known_models": suggestions(),
        "preview": preview,
        "without_files": list(runs_module.benchmarks().filter(path="")),
    }
    return with_retry_after(render(request, "submit.html", context, status=status), problem)


def _initial(request: HttpRequest) -> QueryDict:
    """Return what the form holds at first: what was sent, or else what the address names."""
    initial = request.GET.copy()
    for name, values in request.POST.lists():
        initial.setlist(name, values)
    return initial


# The submit form: a model, benchmarks, and what can be chosen on all of these.


REVISIONS_LENGTH = 50_000  # characters


class SubmitForm(forms.Form):
    """A model's id or address, the benchmarks to measure it on, and what can be chosen on all of these.

    The fields of settings and options are made from their declarations (`offered_options`).
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

    def __init__(self, data: Any = None, *, initial: QueryDict) -> None:
        self.offered = {benchmark.name: benchmark for benchmark in runs_module.benchmarks().exclude(path="")}
        names = list(self.offered)
        ticked = [name for name in initial.getlist("benchmark") if name in names] or names[:1]
        super().__init__(data, initial={**initial.dict(), "benchmark": ticked}, label_suffix="")
        self.full_ids: list[str] = []
        field = cast(forms.MultipleChoiceField, self.fields["benchmark"])
        field.choices = [
            (name, f"{row.title} · {labels.number_of(row.items, row.noun)}") for name, row in self.offered.items()
        ]
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


def _preview(form: SubmitForm) -> dict[str, Any]:
    """Return what the runs that the form asks for would take, at the pace of the runs that finished last.

    There are no times while the number of the model's parameters is not known here (`size_known`). For each benchmark,
    `measuring` is how long its runs are measured, and `ready` is when their last result is there.
    """
    hub_id, names = submissions.named_revisions(form.cleaned_data["model"], form.revisions_named())
    size = Model.objects.filter(hub_id=hub_id).exclude(parameters=None).values_list("kind", "parameters").first()
    benchmarks, queue, number = form.benchmarks(), worked_queue(MEASURE), len(names)
    works = [usual_positions(benchmark, form.chosen()) for benchmark in benchmarks]
    needed = [
        expected_time(queue.rates, benchmark.probe, work, *size) if size else None
        for benchmark, work in zip(benchmarks, works, strict=True)
    ]
    ready = queue.ends_of_new(needed * number)[-len(needed) :]  # of the last revision
    costs = [
        {
            "benchmark": benchmark,
            "measuring": time and time * number,
            "ready": ready[position] if ready else None,
        }
        for position, (benchmark, time) in enumerate(zip(benchmarks, needed, strict=True))
    ]
    times = [time * number for time in needed if time]
    return {
        "runs": number * len(costs),
        "revisions": number,
        "measuring": sum(times, timedelta()) if len(times) == len(costs) else None,
        "costs": costs,
        "size_known": size is not None,
        "has_worker": queue.has_worker,
    }


OPTION = "set-"  # prefix of the fields that hold settings of the run and options of the probe


def problem_of(benchmark: Benchmark, chosen: Mapping[str, Any]) -> str:
    """Return what is wrong with these settings and options, or an empty text."""
    try:
        probe_of(benchmark.settings_with(chosen))
        if any(offered_options(probe_named(benchmark.probe))[name].tag for name in chosen):
            usual_plan(benchmark, chosen)
    except BadInput as error:
        return str(error)
    return ""


# The fields of the submit form that are made from declared options and settings.


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
        names = wording_names(read_relations(benchmark))
        fields["templates"] = templates_field(offered["templates"], templates, settings.templates, names)
    return {**fields, "dtype": number_format_field(offered["dtype"])}


def templates_field(option: Option, templates: range, usual: Sequence[int], names: Names) -> forms.Field:
    """Return a choice of several of the benchmark's templates, which these names have by their numbers."""
    return forms.TypedMultipleChoiceField(
        coerce=int,
        choices=[(number, names.get(str(number)) or wording(number)) for number in templates],
        widget=forms.CheckboxSelectMultiple,
        initial=list(usual or templates),
        required=False,
        label=labels.setting(option.name),
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
