import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0027_submit_tokens")]

    operations = [
        migrations.AlterField(
            model_name="change",
            name="kind",
            field=models.CharField(
                choices=[
                    ("added", "result added"),
                    ("rescored", "scores computed again"),
                    ("withdrawn", "result withdrawn"),
                    ("version", "new version of a benchmark"),
                    ("remeasured", "other predictions when measured again"),
                ],
                max_length=12,
            ),
        ),
        migrations.CreateModel(
            name="Remeasurement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("time", models.DateTimeField(auto_now_add=True)),
                ("device", models.CharField(help_text="where it was measured again", max_length=100)),
                ("first_device", models.CharField(blank=True, help_text="where the run was measured", max_length=100)),
                ("parts", models.PositiveIntegerField()),
                ("items", models.PositiveIntegerField()),
                ("changed", models.PositiveIntegerField(help_text="items with another prediction")),
                (
                    "largest",
                    models.FloatField(help_text="the largest difference of a score; None without scores", null=True),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="remeasurements",
                        to="leaderboard.run",
                    ),
                ),
            ],
            options={"ordering": ["-pk"]},
        ),
    ]
