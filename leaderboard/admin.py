"""Admin pages: all rows to read, and actions on runs, tokens and benchmarks from knowledge graphs."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from leaderboard.figures import benchmarks as benchmarks_module
from leaderboard.figures.history import withdraw
from leaderboard.intake import queue, tokens
from leaderboard.models import AccessToken, Benchmark, Model, Run, RunEvent, RunPart
from probing.errors import ProbingError
from probing.statements.graph_statements import Sampling

DEFAULT = Sampling()
MOST_SAMPLES, MOST_REPETITIONS = 5000, 50  # which are drawn within the time of a request
if TYPE_CHECKING:
    EventsOfRun = admin.TabularInline[RunEvent, Run]
    PartsOfRun = admin.TabularInline[RunPart, Run]
    Runs = admin.ModelAdmin[Run]
    Models = admin.ModelAdmin[Model]
    Benchmarks = admin.ModelAdmin[Benchmark]
    Tokens = admin.ModelAdmin[AccessToken]
else:  # Django's classes take type arguments only in their stubs
    EventsOfRun = PartsOfRun = admin.TabularInline
    Runs = Models = Benchmarks = Tokens = admin.ModelAdmin


class SamplingForm(forms.Form):
    """How statements are drawn from a knowledge graph.

    A correction of the grammar needs a second model, which no web process loads: the command `import_benchmark` has it.
    """

    samples = forms.IntegerField(
        min_value=2, max_value=MOST_SAMPLES, initial=DEFAULT.samples, label="True statements in each repetition"
    )
    repetitions = forms.IntegerField(min_value=1, max_value=MOST_REPETITIONS, initial=DEFAULT.repetitions)
    resampled = forms.TypedChoiceField(
        coerce=int,
        choices=[(3, "all three"), (2, "two"), (1, "one, which is hardest")],
        label="Parts of a triple drawn again to make it false",
    )
    within_category = forms.BooleanField(required=False, label="Replace a part only by one of the same category")
    seed = forms.IntegerField(min_value=0, max_value=2**31, initial=DEFAULT.seed)


class ReadOnly:
    """Mixin that allows no adding and no changing: rows come from submissions, workers and commands."""

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class EventInline(ReadOnly, EventsOfRun):
    model = RunEvent
    can_delete = False


class PartInline(ReadOnly, PartsOfRun):
    model = RunPart
    can_delete = False
    fields = ["relation", "template", "items_done", "items", "done", "attempt"]


@admin.register(Run)
class RunAdmin(ReadOnly, Runs):
    list_display = ["pk", "model", "benchmark", "state", "code", "provenance", "created", "finished"]
    list_filter = ["state", "provenance", "benchmark__slug", "code"]
    list_select_related = ["model", "benchmark"]
    search_fields = ["model__hub_id"]
    inlines = [EventInline, PartInline]
    actions = ["cancel", "requeue"]

    def delete_model(self, request: HttpRequest, obj: Run) -> None:
        self.delete_queryset(request, Run.objects.filter(pk=obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        withdraw(Run.objects.filter(pk__in=[run.pk for run in queryset]), "Removed by the maintainer.")

    @admin.action(description="Cancel")
    def cancel(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        count = sum(Run.objects.cancel(run, f"Cancelled by {request.user}.") for run in runs)
        self.message_user(request, f"{count} runs cancelled.")

    @admin.action(description="Queue again")
    def requeue(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        """Restart failed and cancelled runs where they stopped, and enqueue all unfinished ones."""
        count = 0
        for run in runs.exclude(state=Run.State.FINISHED):
            if run.state in Run.FINAL:
                Run.objects.restart(run)
            count += queue.enqueue(run.pk)
        if count:
            self.message_user(request, f"{count} runs queued.")
        else:
            self.message_user(request, "Nothing was queued: no unfinished run, or no Redis.", messages.WARNING)


@admin.register(Model)
class ModelAdmin(ReadOnly, Models):
    list_display = ["hub_id", "commit", "kind", "parameters", "architecture", "source"]
    list_filter = ["source", "kind"]
    search_fields = ["hub_id"]


@admin.register(Benchmark)
class BenchmarkAdmin(ReadOnly, Benchmarks):
    list_display = ["slug", "version", "current", "relations", "items", "created"]
    actions = ["draw_sample"]

    @admin.action(description="Draw another sample of a knowledge graph")
    def draw_sample(self, request: HttpRequest, benchmarks: QuerySet[Benchmark]) -> HttpResponse | None:
        """Ask for the sampling plan of one benchmark, and import the sample as its current version."""
        benchmark = benchmarks.first()
        if benchmark is None or benchmarks.count() > 1 or benchmark.format != benchmarks_module.FORMAT:
            self.message_user(request, "Choose one benchmark that is made from a knowledge graph.", messages.WARNING)
            return None
        form = SamplingForm(request.POST if "draw" in request.POST else None)
        if form.is_valid():
            try:
                version, new = benchmarks_module.sample_again(benchmark, **form.cleaned_data)
            except ProbingError as error:
                form.add_error(None, str(error))
            else:
                text = f"{version} is the current version: {version.items:,} statements."
                self.message_user(request, text if new else f"{version} is the same sample, and is current already.")
                return None
        context = {**self.admin_site.each_context(request), "title": "Draw another sample", "form": form}
        return TemplateResponse(request, "admin/draw_sample.html", {**context, "benchmark": benchmark})


class NewTokenForm(forms.ModelForm):  # type: ignore[type-arg]
    """What a new token is called, and what it allows."""

    class Meta:
        model = AccessToken
        fields = ["name", "purpose", "quota"]

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if not tokens.TOKEN_NAME.fullmatch(name):
            raise forms.ValidationError("Use up to 40 letters, digits, '.', '-' and '_'.")
        return name


@admin.register(AccessToken)
class AccessTokenAdmin(ReadOnly, Tokens):
    """Tokens of programs elsewhere: of third parties that push results, and of programs that submit models.

    A new one shows its secret once. The command `token` makes the same tokens.
    """

    list_display = ["name", "purpose", "quota", "revoked", "last_seen", "created"]
    exclude = ["digest"]
    actions = ["revoke"]

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return admin.ModelAdmin.has_add_permission(self, request)

    def get_form(
        self, request: HttpRequest, obj: AccessToken | None = None, change: bool = False, **kwargs: Any
    ) -> "type[forms.ModelForm[AccessToken]]":
        return super().get_form(request, obj, change, **kwargs) if obj else NewTokenForm

    def get_fieldsets(self, request: HttpRequest, obj: AccessToken | None = None) -> Any:
        return super().get_fieldsets(request, obj) if obj else [(None, {"fields": NewTokenForm.Meta.fields})]

    def save_model(self, request: HttpRequest, obj: AccessToken, form: Any, change: bool) -> None:
        facts = form.cleaned_data
        secret = tokens.create(facts["name"], facts["purpose"], facts["quota"])
        obj.pk = AccessToken.objects.get(name=obj.name).pk
        self.message_user(request, f"The secret of {obj.name}, which nobody can read later: {secret}")

    @admin.action(description="Revoke")
    def revoke(self, request: HttpRequest, chosen: QuerySet[AccessToken]) -> None:
        count = chosen.filter(revoked=False).update(revoked=True)
        self.message_user(request, f"{count} tokens revoked.")
