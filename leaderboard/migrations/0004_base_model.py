"""A model names the one that its card says it was made from."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0003_active_parameters_and_date")]

    operations = [
        migrations.AddField(
            "model",
            "base_model",
            models.CharField(
                blank=True, help_text="id of the one model that its card says it was made from", max_length=200
            ),
        ),
    ]
