import hashlib
import json

from django.db import migrations
from django.db.models import Q

# The settings and their default values when this migration was written: later ones are in no run that it changes.
DEFAULTS = {
    "probe": "multiple_choice",
    "relations": [],
    "templates": [0],
    "limit": None,
    "language": "",
    "pll": "within_word_l2r",
    "reduction": "sum",
    "decide": False,
    "dtype": "float32",
    "seed": 0,
    "options": {},
}


def digest(settings):
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def of_changes(settings):
    """Return the digest of those settings only that differ from their defaults."""
    return digest({name: value for name, value in settings.items() if value != DEFAULTS.get(name)})


def of_all(settings):
    return digest({**DEFAULTS, **settings})


def store(apps, digest_of):
    """Store another digest of the settings in every run, in its record and in those of its parts.

    Published runs are left out, as their digest is one of where they were published. If two runs had different digests
    of the same settings, the second one keeps its own, since a run is never lost.
    """
    runs = apps.get_model("leaderboard", "Run").objects
    parts = apps.get_model("leaderboard", "RunPart").objects
    asked_here = runs.filter(Q(provenance__in=["measured", "third-party"]) | Q(provenance="baseline", reference=""))
    fields = ["settings", "settings_digest", "provenance_record"]
    for run in asked_here.only("model_id", "benchmark_id", *fields).order_by("pk").iterator():
        new = digest_of(run.settings)
        if runs.filter(model=run.model_id, benchmark=run.benchmark_id, settings_digest=new).exists():
            continue
        run.settings_digest = new
        _rename(run.provenance_record, new)
        run.save(update_fields=["settings_digest", "provenance_record"])
        for part in parts.filter(run=run).only("record").iterator():
            if _rename(part.record, new):
                part.save(update_fields=["record"])


def _rename(record, new):
    """Put the digest into a record that names one; tell whether it does."""
    if "settings_digest" in record:
        record["settings_digest"] = new
    return "settings_digest" in record


def shorten(apps, schema_editor):
    store(apps, of_changes)


def lengthen(apps, schema_editor):
    store(apps, of_all)


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0009_smallest_difference")]

    operations = [migrations.RunPython(shorten, lengthen)]
