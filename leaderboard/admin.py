"""For maintainers: everything to read, and two things to do."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from leaderboard.intake import queue
from leaderboard.models import Benchmark, Model, Run, RunEvent, RunPart


class ReadOnly:
    """Rows are made by submissions, workers and commands, never by hand."""

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class EventInline(ReadOnly, admin.TabularInline):
    model = RunEvent
    can_delete = False


class PartInline(ReadOnly, admin.TabularInline):
    model = RunPart
    can_delete = False
    fields = ["relation", "template", "items_done", "items", "done", "worker", "attempts", "lease_until"]


@admin.register(Run)
class RunAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ["pk", "model", "benchmark", "state", "code", "provenance", "created", "finished"]
    list_filter = ["state", "provenance", "benchmark__slug", "code"]
    list_select_related = ["model", "benchmark"]
    search_fields = ["model__hub_id"]
    inlines = [EventInline, PartInline]
    actions = ["cancel", "requeue"]

    @admin.action(description="Cancel")
    def cancel(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        count = sum(Run.objects.cancel(run, f"Cancelled by {request.user}.") for run in runs)
        self.message_user(request, f"{count} runs cancelled.")

    @admin.action(description="Queue again")
    def requeue(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        """Failed and cancelled runs begin again where they stopped; for the others a worker is called."""
        rung = 0
        for run in runs.exclude(state=Run.State.FINISHED):
            if run.state in Run.FINAL:
                Run.objects.restart(run)
            rung += queue.enqueue(run.pk)
        if rung:
            self.message_user(request, f"{rung} runs queued.")
        else:
            self.message_user(request, "Nothing was queued: no unfinished run, or no Redis.", messages.WARNING)


@admin.register(Model)
class ModelAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ["hub_id", "commit", "kind", "parameters", "architecture", "source"]
    list_filter = ["source", "kind"]
    search_fields = ["hub_id"]


@admin.register(Benchmark)
class BenchmarkAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ["slug", "version", "current", "relations", "items", "created"]
