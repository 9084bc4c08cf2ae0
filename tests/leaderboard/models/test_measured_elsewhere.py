"""The migration of runs that third parties sent: each keeps its figures, under the name that such runs have now."""

from importlib import import_module

import pytest
from django.apps import apps

from leaderboard.models import Benchmark, Run
from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db
migration = import_module("leaderboard.migrations.0007_measured_elsewhere")


def test_runs_that_third_parties_sent_keep_their_figures_and_unchecked_ones_say_what_to_do(tiny: Benchmark) -> None:
    sent, unchecked = (make.finished(tiny, 0.5, of=make.model(f"org/{name}")) for name in ("sent", "unchecked"))
    here = make.finished(tiny, 0.4, of=make.model("org/here"))
    Run.objects.exclude(pk=here.pk).update(provenance="third-party")
    Run.objects.filter(pk=unchecked.pk).update(state=Run.State.AGGREGATING)
    migration.rename(apps, None)
    runs = {run.pk: run for run in Run.objects.all()}
    assert runs[sent.pk].provenance == runs[unchecked.pk].provenance == Run.Provenance.ELSEWHERE
    assert (runs[here.pk].provenance, runs[sent.pk].state) == (Run.Provenance.MEASURED, Run.State.FINISHED)
    assert runs[sent.pk].scores.get(metric=tiny.main_metric, dimension="overall").value == 0.5
    assert (runs[unchecked.pk].state, "import_result" in runs[unchecked.pk].next_step) == (Run.State.FAILED, True)
