from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0005_runs_are_checked_before")]

    operations = [
        migrations.AddField(
            model_name="submission",
            name="losses",
            field=models.PositiveSmallIntegerField(
                default=0, help_text="processes that were lost on its checks in a row"
            ),
        ),
    ]
