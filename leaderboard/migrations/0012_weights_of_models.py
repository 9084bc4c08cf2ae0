import re

from django.db import migrations, models

# The encoding stands at the end of the name of a GGUF file, by the naming convention of that format.
ENCODING = re.compile(r"(?:^|[.-])((?:I?Q\d\w*|BF16|F16|F32))\.gguf$", re.IGNORECASE)


def name_files(apps, schema_editor):
    """Store the name of the GGUF file, and the encoding that it names, with every model that was measured from one."""
    rows = apps.get_model("leaderboard", "Model").objects
    runs = apps.get_model("leaderboard", "Run").objects
    for run in runs.exclude(provenance_record={}).only("model_id", "provenance_record").iterator():
        card = run.provenance_record.get("model") or {}
        name = next(iter(card.get("files") or {}), "") if card.get("source") == "gguf" else ""
        if name:
            encoding = ENCODING.search(name)
            quantisation = encoding[1].upper()[:20] if encoding else ""
            rows.filter(pk=run.model_id, weights_file="").update(weights_file=name[:200], quantisation=quantisation)


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0011_finishing_lease")]

    operations = [
        migrations.AddField(
            model_name="model",
            name="weights_file",
            field=models.CharField(
                blank=True, default="", help_text="name of the GGUF file, if the weights are one", max_length=200
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="model",
            name="quantisation",
            field=models.CharField(
                blank=True, default="", help_text="that the GGUF file states, such as Q4_1", max_length=20
            ),
            preserve_default=False,
        ),
        migrations.RunPython(name_files, migrations.RunPython.noop),
    ]
