"""Facts that two benchmarks share are counted by the command line alone."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0012_printed")]

    operations = [migrations.RemoveField("benchmark", "shared_facts")]
