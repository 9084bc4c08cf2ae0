from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0023_probes_of_benchmarks'),
    ]

    operations = [
        migrations.AddField(
            model_name='benchmark',
            name='difficulty',
            field=models.JSONField(default=list, help_text='numbers of questions by their share of right answers; empty before a run was measured'),
        ),
    ]
