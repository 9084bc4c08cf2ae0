"""Fixtures of the tests of the tables."""

import pytest

from leaderboard.models import Benchmark, Model, Run, RunPart


@pytest.fixture
def run(small: Benchmark) -> Run:
    model = Model.objects.create(hub_id="org/name", commit="c0ffee")
    run = Run.objects.create(model=model, benchmark=small, settings_digest="d", state=Run.State.QUEUED)
    RunPart.objects.create(run=run, relation="P30", template=0, items=4)
    RunPart.objects.create(run=run, relation="P36", template=0, items=2)
    return run
