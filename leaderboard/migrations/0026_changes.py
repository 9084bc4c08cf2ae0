from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0025_snapshots")]

    operations = [
        migrations.CreateModel(
            name="Change",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("time", models.DateTimeField(auto_now_add=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("added", "result added"),
                            ("rescored", "scores computed again"),
                            ("withdrawn", "result withdrawn"),
                            ("version", "new version of a benchmark"),
                        ],
                        max_length=12,
                    ),
                ),
                ("benchmark", models.CharField(help_text="name of the benchmark", max_length=200)),
                ("model", models.CharField(blank=True, help_text="title of the model", max_length=300)),
                (
                    "run",
                    models.PositiveBigIntegerField(
                        blank=True, help_text="number of the run, which may be gone", null=True
                    ),
                ),
                ("text", models.TextField(blank=True, help_text="the reason, or what has changed")),
            ],
            options={"ordering": ["-pk"]},
        ),
    ]
