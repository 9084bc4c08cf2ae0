"""The migration that nests the options of published runs."""

from importlib import import_module

import pytest
from django.apps import apps

from leaderboard.models import Benchmark, Run
from tests.leaderboard import factories as make

migration = import_module("leaderboard.migrations.0002_nest_published_options")
pytestmark = pytest.mark.django_db


def stored(run: Run) -> dict:
    return Run.objects.get(pk=run.pk).settings


def test_options_of_published_runs_are_nested_and_flattened_again(small: Benchmark) -> None:
    flat = {"language": "ar", "pair": "arab-west", "reported": "README"}
    run = make.published(small, settings=flat)
    plain = make.published(small, settings={"language": "ar"})
    migration.nest(apps, None)
    assert stored(run) == {"language": "ar", "options": {"pair": "arab-west", "reported": "README"}}
    assert stored(plain) == {"language": "ar"}
    migration.nest(apps, None)
    assert stored(run)["options"] == {"pair": "arab-west", "reported": "README"}, "nesting twice does no harm"
    migration.flatten(apps, None)
    assert (stored(run), stored(plain)) == (flat, {"language": "ar"})


def test_measured_runs_and_baselines_stay_as_they_are(small: Benchmark) -> None:
    measured = make.finished(small, settings={"limit": 5, "options": {"k": 3}})
    baseline = make.baseline(small)
    Run.objects.filter(pk=baseline.pk).update(settings={"seed": 0, "options": {}})
    for change in (migration.nest, migration.flatten):
        change(apps, None)
        assert stored(measured) == {"limit": 5, "options": {"k": 3}}
        assert stored(baseline) == {"seed": 0, "options": {}}
