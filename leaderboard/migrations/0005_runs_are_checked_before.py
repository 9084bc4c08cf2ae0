from django.db import migrations, models

STATES = ["queued", "downloading", "scoring", "aggregating", "finished", "waiting", "cancelled", "failed"]
CHOICES = [(state, state.capitalize()) for state in STATES]


def queue_checked_runs(apps, schema_editor):
    """Queue runs that older versions still had to check: submissions are checked now before they have a run."""
    runs = apps.get_model("leaderboard", "Run").objects.filter(state="checking")
    runs.update(state="queued")


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0004_waiting_submissions")]

    operations = [
        migrations.RunPython(queue_checked_runs, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="run",
            name="state",
            field=models.CharField(choices=CHOICES, db_index=True, default="queued", max_length=12),
        ),
        migrations.AlterField(
            model_name="runevent",
            name="state",
            field=models.CharField(choices=CHOICES, max_length=12),
        ),
    ]
