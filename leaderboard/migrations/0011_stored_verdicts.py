"""Ranks hold the verdicts on all pairs. Those of the former rule are deleted, and the workers rank all runs again."""

from typing import Any

from django.db import migrations, models


def delete_ranks(apps: Any, schema_editor: Any) -> None:
    apps.get_model("leaderboard", "RunRank").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0010_part_accuracy")]

    operations = [
        migrations.RunPython(delete_ranks, migrations.RunPython.noop),
        migrations.AddField(
            "runrank",
            "undecided",
            models.PositiveIntegerField(
                help_text="the pairs of its group that cannot be told apart, by which Holm's correction multiplies p",
                null=True,
            ),
        ),
        migrations.AddField(
            "runrank",
            "ahead_of",
            models.JSONField(default=list, help_text="the runs of its group that it is certainly better than"),
        ),
        migrations.AddField(
            "runrank",
            "level_with",
            models.JSONField(default=list, help_text="the runs of its group that it cannot be told apart from"),
        ),
    ]
