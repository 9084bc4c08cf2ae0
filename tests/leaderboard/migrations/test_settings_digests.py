"""The migration to digests of only those settings that differ from their defaults."""

import json
from importlib import import_module

import pytest
from django.apps import apps

from leaderboard.models import Benchmark, Run, RunPart
from probing.settings import Settings
from tests.leaderboard import factories as make

migration = import_module("leaderboard.migrations.0010_settings_digests")
pytestmark = pytest.mark.django_db

CHOICES = [
    Settings(),
    Settings(limit=5, templates=(0, 2), options={"k": 3}),
    Settings(probe="ranking", pll="whole_answer", reduction="mean", dtype="bfloat16", language="ar", seed=7),
    Settings(relations=("P30",), decide=True, templates=()),
]


def as_stored_before(settings: Settings) -> dict:
    """The settings that a run had stored before there were further ones."""
    values = json.loads(json.dumps(settings.to_json()))
    return {name: values[name] for name in migration.DEFAULTS}


def measured(on: Benchmark, settings: Settings) -> Run:
    values = as_stored_before(settings)
    old = migration.of_all(values)
    run = make.finished(on, settings=values, settings_digest=old, provenance_record={"settings_digest": old, "seed": 0})
    RunPart.objects.create(
        run=run, relation="P30", template=0, items=3, record={"settings_digest": old, "device": "cpu"}
    )
    RunPart.objects.create(run=run, relation="P36", template=0, items=3)
    return run


@pytest.mark.parametrize("chosen", CHOICES)
def test_stored_digests_become_those_of_the_settings_today_and_go_back(small: Benchmark, chosen: Settings) -> None:
    run = measured(small, chosen)
    before, after = run.settings_digest, chosen.digest
    for change, expected in ((migration.shorten, after), (migration.shorten, after), (migration.lengthen, before)):
        change(apps, None)
        run = Run.objects.get(pk=run.pk)
        assert run.settings_digest == expected
        assert run.provenance_record == {"settings_digest": expected, "seed": 0}
        done, waiting = run.parts.order_by("pk")
        assert done.record == {"settings_digest": expected, "device": "cpu"}
        assert waiting.record == {}


def test_the_same_submission_finds_its_run_after_the_migration(small: Benchmark) -> None:
    run = measured(small, CHOICES[1])
    migration.shorten(apps, None)
    assert Run.objects.get(model=run.model, benchmark=small, settings_digest=CHOICES[1].digest) == run


def test_the_chance_of_guessing_keeps_its_one_run(small: Benchmark) -> None:
    baseline = make.baseline(small)
    settings = small.settings_with({})
    values = as_stored_before(settings)
    Run.objects.filter(pk=baseline.pk).update(settings=values, settings_digest=migration.of_all(values))
    migration.shorten(apps, None)
    assert Run.objects.get(pk=baseline.pk).settings_digest == settings.digest


def test_published_runs_keep_the_digest_of_their_place(small: Benchmark) -> None:
    published = make.published(small, settings={"language": "ar"})
    migration.shorten(apps, None)
    assert Run.objects.get(pk=published.pk).settings_digest == published.settings_digest


def test_two_runs_of_the_same_settings_are_both_kept(small: Benchmark) -> None:
    first = measured(small, Settings())
    second = make.finished(small, of=first.model, settings={}, settings_digest="f" * 64)
    migration.shorten(apps, None)
    assert Run.objects.get(pk=first.pk).settings_digest == Settings().digest
    assert Run.objects.get(pk=second.pk).settings_digest == "f" * 64
