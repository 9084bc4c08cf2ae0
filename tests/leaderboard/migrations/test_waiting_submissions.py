from importlib import import_module

from django.apps import apps

from leaderboard.models import Benchmark, Model, Run, Submission
from tests.leaderboard import factories as make

migration = import_module("leaderboard.migrations.0004_waiting_submissions")


def test_a_run_that_waits_for_a_first_answer_of_the_hub_becomes_a_submission(small: Benchmark) -> None:
    unknown = make.model("org/unknown", commit="")
    waiting = make.run(unknown, small, Run.State.WAITING, settings={"options": {"shots": 3}}, submitter="192.0.2.1")
    ended = make.run(make.model("org/ended", commit=""), small, Run.State.FAILED)
    known = make.run(make.model("org/known"), small, Run.State.WAITING)
    migration.store_as_submissions(apps, None)
    submission = Submission.objects.get()
    assert (submission.model_id, submission.options, submission.state) == ("org/unknown", {"shots": 3}, "waiting")
    assert (submission.submitter, submission.run, submission.created) == ("192.0.2.1", None, waiting.created)
    assert len(submission.token) == 43
    assert not Model.objects.filter(pk=unknown.pk).exists()
    assert set(Run.objects.exclude(provenance="baseline")) == {ended, known}
