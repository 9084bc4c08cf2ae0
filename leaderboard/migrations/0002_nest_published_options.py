from django.db import migrations

SETTINGS = (
    "probe", "relations", "templates", "limit", "language", "pll", "reduction", "decide", "dtype", "seed", "options"
)  # fmt: skip


def nest(apps, schema_editor):
    """Store the options of published runs under "options", as measured runs do."""
    runs = apps.get_model("leaderboard", "Run").objects.exclude(provenance="measured")
    for run in runs.only("settings").iterator():
        options = {name: value for name, value in run.settings.items() if name not in SETTINGS}
        if options:
            own = {name: value for name, value in run.settings.items() if name in SETTINGS}
            run.settings = {**own, "options": {**own.get("options", {}), **options}}
            run.save(update_fields=["settings"])


def flatten(apps, schema_editor):
    """Store the options of published runs beside their settings again."""
    runs = apps.get_model("leaderboard", "Run").objects.filter(provenance__in=["published", "baseline"])
    for run in runs.exclude(reference="").only("settings").iterator():
        options = run.settings.pop("options", {})
        run.settings = {**run.settings, **options}
        run.save(update_fields=["settings"])


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0001_initial")]

    operations = [migrations.RunPython(nest, flatten)]
