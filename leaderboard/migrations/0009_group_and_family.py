"""What sets a run apart and the family of a model are stored, and computed here for the rows that are there already."""

from typing import Any

from django.db import migrations, models

from leaderboard.models import Benchmark, Model, Run
from leaderboard.models.families import family_of


def fill(apps: Any, schema_editor: Any) -> None:
    """Fill both columns by the rules of the present code; historical rows have no methods."""
    for model in apps.get_model("leaderboard", "Model").objects.only("hub_id"):
        model.family = family_of(model.hub_id)
        model.save(update_fields=["family"])
    runs = apps.get_model("leaderboard", "Run").objects.select_related("model", "benchmark")
    names = ("settings", "items_left_out", "benchmark__probe", "benchmark__settings")
    for run in runs.only(*names, "model__parameters", "model__stored_dtype"):
        run.group = Run(
            settings=run.settings,
            items_left_out=run.items_left_out,
            benchmark=Benchmark(probe=run.benchmark.probe, settings=run.benchmark.settings),
            model=Model(parameters=run.model.parameters, stored_dtype=run.model.stored_dtype),
        ).group_now()
        if run.group:
            run.save(update_fields=["group"])


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0008_no_access_tokens")]

    operations = [
        migrations.AddField(
            "model",
            "family",
            models.CharField(blank=True, help_text="such as GPT-2; empty where no rule names one", max_length=30),
        ),
        migrations.AddField(
            "run",
            "group",
            models.JSONField(
                default=list,
                help_text=(
                    "what sets it apart from the benchmark's usual runs: pairs of a setting and its choice in words"
                ),
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
