"""Runs that third parties sent are those that were measured elsewhere; none of them waits for a check any more."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

FORMER, PRESENT = "third-party", "elsewhere"
# A site that was stopped between receiving a large result and checking it has a run without a result.
UNCHECKED = {
    "state": "failed",
    "code": "measuring-failed",
    "message": "This result was sent to the site and not checked before the site stopped taking results.",
    "next_step": "Import its folder: manage.py import_result.",
}


def rename(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    runs = apps.get_model("leaderboard", "Run").objects
    runs.filter(provenance=FORMER, state="aggregating").update(**UNCHECKED)
    runs.filter(provenance=FORMER).update(provenance=PRESENT)


def rename_back(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("leaderboard", "Run").objects.filter(provenance=PRESENT).update(provenance=FORMER)


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0006_no_snapshots_and_changes")]

    operations = [
        migrations.RunPython(rename, rename_back),
        migrations.AlterField(
            "run",
            "provenance",
            models.CharField(
                choices=[
                    ("measured", "measured here"),
                    ("published", "Published"),
                    ("elsewhere", "measured elsewhere"),
                    ("baseline", "Baseline"),
                ],
                default="measured",
                max_length=12,
            ),
        ),
    ]
