"""The digest of the rows of a part was stored and never read."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0013_no_shared_facts")]

    operations = [migrations.RemoveField("runpart", "digest")]
