"""Admin pages: all rows to read, and actions on runs."""

from typing import TYPE_CHECKING

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from leaderboard.figures.ranks import withdraw
from leaderboard.intake import queue
from leaderboard.models import Benchmark, Model, Run, RunEvent, RunPart

if TYPE_CHECKING:
    EventsOfRun = admin.TabularInline[RunEvent, Run]
    PartsOfRun = admin.TabularInline[RunPart, Run]
    Runs = admin.ModelAdmin[Run]
    Models = admin.ModelAdmin[Model]
    Benchmarks = admin.ModelAdmin[Benchmark]
else:  # Django's classes take type arguments only in their stubs
    EventsOfRun = PartsOfRun = admin.TabularInline
    Runs = Models = Benchmarks = admin.ModelAdmin


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
        withdraw(Run.objects.filter(pk__in=[run.pk for run in queryset]))

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
