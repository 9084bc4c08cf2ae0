from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Sum


def store_work(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Take the expected work of each benchmark from its largest run, as that has the most parts."""
    benchmarks, parts = (apps.get_model("leaderboard", name) for name in ("Benchmark", "RunPart"))
    for benchmark in benchmarks.objects.all():
        runs = parts.objects.filter(run__benchmark=benchmark).values("run").annotate(total=Sum("work"))
        benchmark.work = max((row["total"] for row in runs), default=None)
        benchmark.save(update_fields=["work"])


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0013_former_names")]

    operations = [
        migrations.AddField(
            model_name="benchmark",
            name="work",
            field=models.FloatField(
                null=True, help_text="expected token positions of a usual run; None if not estimated"
            ),
        ),
        migrations.AddField(
            model_name="submission",
            name="group",
            field=models.CharField(
                max_length=43,
                blank=True,
                default="",
                db_index=True,
                help_text="shared by submissions that were sent together",
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="submission",
            name="revision",
            field=models.CharField(
                max_length=100, blank=True, default="", help_text="branch, tag or commit; the newest if empty"
            ),
            preserve_default=False,
        ),
        migrations.RunPython(store_work, migrations.RunPython.noop),
    ]
