import secrets

from django.db import migrations


def store_as_submissions(apps, schema_editor):
    """Turn runs that wait for a first answer of the hub into submissions, which is what they would be now.

    Such a run has a model without a commit. The public page of that model disappears with it.
    """
    models = apps.get_model("leaderboard", "Model")
    submissions = apps.get_model("leaderboard", "Submission")
    runs = apps.get_model("leaderboard", "Run").objects.filter(
        model__commit="", model__source="hub", provenance="measured", state__in=["waiting", "checking"]
    )
    for run in runs.select_related("model"):
        submission = submissions.objects.create(
            token=secrets.token_urlsafe(32),
            model_id=run.model.hub_id,
            benchmark_id=run.benchmark_id,
            options=run.settings.get("options", {}),
            submitter=run.submitter,
            state="waiting",
        )
        submissions.objects.filter(pk=submission.pk).update(created=run.created)
        run.delete()
        models.objects.filter(pk=run.model_id, runs=None).delete()


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0003_workers_and_submissions")]

    operations = [migrations.RunPython(store_as_submissions, migrations.RunPython.noop)]
