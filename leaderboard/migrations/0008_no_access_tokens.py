"""Programs elsewhere have no tokens any more."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0007_measured_elsewhere")]

    operations = [
        migrations.RemoveField("run", "token"),
        migrations.DeleteModel("AccessToken"),
    ]
