from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0007_run_ranks")]

    operations = [
        migrations.AddField(model_name="score", name="cluster_low", field=models.FloatField(null=True)),
        migrations.AddField(model_name="score", name="cluster_high", field=models.FloatField(null=True)),
    ]
