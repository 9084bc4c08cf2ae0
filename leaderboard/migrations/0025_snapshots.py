from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0024_difficulty")]

    operations = [
        migrations.CreateModel(
            name="Snapshot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "digest",
                    models.CharField(
                        help_text="SHA-256 of the document, and its address", max_length=64, unique=True
                    ),
                ),
                ("title", models.CharField(max_length=200)),
                ("document", models.BinaryField(help_text="the tables as JSON, compressed by gzip")),
                (
                    "length",
                    models.PositiveBigIntegerField(help_text="of the document before it was compressed, in bytes"),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
            ],
            options={"ordering": ["-pk"]},
        ),
    ]
