"""One run is one job of RQ: runs name their queue, and a table of claims takes the place of leases of parts."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

QUEUES = {"default": "measure", "large": "measure-large"}  # by the former names of lanes


def rename_queues(apps: Any, schema_editor: Any) -> None:
    runs = apps.get_model("leaderboard", "Run").objects
    for lane, queue in QUEUES.items():
        runs.filter(queue=lane).update(queue=queue)


def rename_lanes(apps: Any, schema_editor: Any) -> None:
    runs = apps.get_model("leaderboard", "Run").objects
    for lane, queue in QUEUES.items():
        runs.filter(queue=queue).update(queue=lane)


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0001_initial")]

    operations = [
        migrations.RenameField("run", "lane", "queue"),
        migrations.AlterField(
            "run",
            "queue",
            models.CharField(
                default="measure", help_text="the queue of the workers that measure it", max_length=20
            ),
        ),
        migrations.RunPython(rename_queues, rename_lanes),
        migrations.AddField(
            "run",
            "standing_since",
            models.DateTimeField(
                blank=True,
                help_text="since when a queued run stands in RQ; empty while it waits for its turn to",
                null=True,
            ),
        ),
        migrations.RemoveField("run", "finishing_until"),
        migrations.RemoveIndex("runpart", "leaderboard_lease_u_bfe453_idx"),
        migrations.RemoveField("runpart", "lease_until"),
        migrations.RemoveField("runpart", "worker"),
        migrations.RenameField("runpart", "attempts", "attempt"),
        migrations.AlterField(
            "runpart",
            "attempt",
            models.PositiveIntegerField(
                default=0, help_text="the number of the claim under which it was measured"
            ),
        ),
        migrations.CreateModel(
            "Claim",
            [
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="claim",
                        serialize=False,
                        to="leaderboard.run",
                    ),
                ),
                (
                    "worker",
                    models.CharField(blank=True, help_text="empty while no worker has the run", max_length=100),
                ),
                (
                    "number",
                    models.PositiveIntegerField(default=0, help_text="how often a worker has taken the run"),
                ),
                (
                    "losses",
                    models.SmallIntegerField(
                        default=0, help_text="workers that took it since its last part and were lost"
                    ),
                ),
                (
                    "seen",
                    models.DateTimeField(blank=True, help_text="last report of its worker", null=True),
                ),
            ],
        ),
    ]
