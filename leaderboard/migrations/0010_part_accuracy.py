"""Parts of runs keep their share of right answers, from which pages show a provisional figure."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0009_group_and_family")]

    operations = [
        migrations.AddField(
            "runpart",
            "accuracy",
            models.FloatField(help_text="share of right answers, where answers are right or wrong", null=True),
        ),
    ]
