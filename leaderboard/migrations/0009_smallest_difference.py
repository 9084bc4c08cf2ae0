from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0008_cluster_intervals")]

    operations = [
        migrations.AddField(
            model_name="benchmark",
            name="smallest_difference",
            field=models.JSONField(
                default=dict, help_text="that measured runs can tell apart; empty if fewer than two were measured"
            ),
        ),
    ]
