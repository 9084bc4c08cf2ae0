from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0028_remeasurements")]

    operations = [
        migrations.AddField(
            model_name="benchmark",
            name="shared_facts",
            field=models.JSONField(
                help_text="numbers of facts that other benchmarks have as well, by their slug; None if not counted",
                null=True,
            ),
        ),
    ]
