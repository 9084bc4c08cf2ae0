"""Figures of papers get a table of their own, and what is reached without a model a column of its benchmark."""

from collections.abc import Iterator
from typing import Any

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from probing.probes import probe_named

NOT_MEASURED = ("published", "baseline")
ERROR = "_sem"  # what followed the name of a metric whose standard error a score was
BASELINES = {
    "baseline/chance": "chance",
    "baseline/majority-answer": "majority_answer",
    "baseline/most-frequent-answer": "most_frequent_answer",
    "baseline/rarer-answer": "rarer_answer",
}


def move(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Store the scores of runs that were never measured where they belong, and delete these runs."""
    run_class, printed_class = apps.get_model("leaderboard", "Run"), apps.get_model("leaderboard", "Printed")
    runs = run_class.objects.filter(provenance__in=NOT_MEASURED).select_related("model", "benchmark")
    for run in runs.order_by("pk").prefetch_related("scores").iterator(chunk_size=500):
        if run.provenance == "baseline" and not run.reference:
            store_baseline(run)
        else:
            printed_class.objects.bulk_create(printed_class(**figure) for figure in figures(run))
    models_of_baselines = set(runs.filter(reference="", provenance="baseline").values_list("model", flat=True))
    apps.get_model("leaderboard", "RunEvent").objects.filter(run__provenance__in=NOT_MEASURED).delete()
    runs.delete()
    rows = apps.get_model("leaderboard", "Model").objects.filter(pk__in=models_of_baselines)
    rows.filter(runs=None, printed=None).delete()


def figures(run: Any) -> Iterator[dict[str, Any]]:
    """Yield the fields of each figure of a published run; standard errors stand beside what they are about."""
    record = run.provenance_record
    scores = {(score.metric, score.dimension, score.group): score for score in run.scores.all()}
    for (metric, dimension, group), score in scores.items():
        if score.value is None or (metric.endswith(ERROR) and (metric[: -len(ERROR)], dimension, group) in scores):
            continue
        error = scores.get((metric + ERROR, dimension, group))
        yield {
            "row": run.pk,
            "model": run.model,
            "benchmark": run.benchmark,
            "name": record.get("name") or run.model.printed_name or run.model.hub_id,
            "baseline": run.provenance == "baseline",
            "settings": run.settings,
            "metric": metric,
            "dimension": dimension,
            "part": group,
            "value": score.value,
            "error": error.value if error else None,
            "n": score.n,
            "source": record.get("source") or {"title": run.reference, "authors": "", "url": run.reference_url},
            "place": run.reference.rpartition(", ")[2] if record.get("source") else "",
            "differs": record.get("differs", ""),
        }


def store_baseline(run: Any) -> None:
    """Store the figure of a baseline with its benchmark; of several settings, those of the newest run."""
    name, metric = BASELINES.get(run.model.hub_id), probe_named(run.benchmark.probe).main_metric
    for score in run.scores.all():
        if name and (score.metric, score.dimension) == (metric, "overall") and score.value is not None:
            benchmark = type(run.benchmark).objects.get(pk=run.benchmark_id)
            benchmark.baselines[name] = score.value
            benchmark.save(update_fields=["baselines"])


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0011_stored_verdicts")]

    operations = [
        migrations.AddField(
            "benchmark",
            "baselines",
            models.JSONField(
                default=dict,
                help_text="what is reached without a model, in the main metric, by the name of the baseline",
            ),
        ),
        migrations.CreateModel(
            "Printed",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "row",
                    models.PositiveBigIntegerField(
                        help_text="the row of a source that it stands in, numbered over all sources"
                    ),
                ),
                ("name", models.CharField(help_text="of the model, as the source prints it", max_length=200)),
                ("baseline", models.BooleanField(default=False, help_text="it is about no model")),
                (
                    "settings",
                    models.JSONField(default=dict, help_text="how models were asked, as far as the source says so"),
                ),
                ("metric", models.CharField(max_length=50)),
                ("dimension", models.CharField(max_length=50)),
                ("part", models.CharField(help_text="the group of the dimension that it is about", max_length=200)),
                ("value", models.FloatField()),
                (
                    "error",
                    models.FloatField(
                        blank=True, help_text="standard error or deviation, if the source prints one", null=True
                    ),
                ),
                (
                    "n",
                    models.FloatField(default=0, help_text="number of items; 0 where the source does not state it"),
                ),
                ("source", models.JSONField(help_text="title, authors, year, venue and url of the source")),
                (
                    "place",
                    models.CharField(blank=True, help_text="where in the source, such as Table 2", max_length=100),
                ),
                (
                    "differs",
                    models.TextField(
                        blank=True, help_text="in what it differs from what is measured here, if in anything"
                    ),
                ),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="printed",
                        to="leaderboard.benchmark",
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="printed", to="leaderboard.model"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["benchmark", "metric", "dimension"], name="leaderboard_benchma_434aa5_idx")
                ]
            },
        ),
        migrations.RunPython(move, migrations.RunPython.noop),
        migrations.AlterField(
            "run",
            "provenance",
            models.CharField(
                choices=[("measured", "measured here"), ("elsewhere", "measured elsewhere")],
                default="measured",
                max_length=12,
            ),
        ),
        migrations.AlterField(
            "run",
            "reference",
            models.CharField(blank=True, help_text="who measured it elsewhere", max_length=300),
        ),
    ]
