"""The command `push` against a real site: what it sends is what the site takes."""

from dataclasses import replace
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from leaderboard.figures import benchmarks
from leaderboard.intake import tokens
from leaderboard.models import Benchmark, Run
from probing.__main__ import main
from probing.runner import run as measure
from tests.fakes import FAKE_CARD, Pupil

CARD = replace(FAKE_CARD, id="./checkpoints", source="folder", commit="", kind="causal", parameters=125_000_000)


@pytest.mark.django_db(transaction=True)
def test_the_steps_of_a_training_are_pushed_and_stand_as_its_points(
    live_server: LiveServer, small: Benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for step in (100, 200):
        card = replace(CARD, revision=f"step{step}", files={"model.safetensors": f"{step:064}"})
        measure(Pupil(card=card), benchmarks.read(small), out=tmp_path / f"step{step}", templates=(0,))
    secret = tokens.create("lab", tokens.Purpose.PUSH)
    command = ["push", str(tmp_path), "--site", live_server.url, "--token", secret, "--model", "org/trained"]
    assert main(command) == 0
    runs = list(Run.objects.filter(provenance=Run.Provenance.THIRD_PARTY).select_related("model").order_by("pk"))
    assert [(run.model.hub_id, run.model.revision, run.model.step) for run in runs] == [
        ("org/trained", "step100", 100),
        ("org/trained", "step200", 200),
    ]
    assert [run.reference for run in runs] == ["lab", "lab"]
    out = capsys.readouterr().out
    assert all(f"{live_server.url}{run.get_absolute_url()} (finished)" in out for run in runs)
    assert main(command) == 0
    assert capsys.readouterr().out.count("was there already") == 2
    assert main([*command[:-1], "no model"]) == 1
    assert "2 of 2 results are not taken" in capsys.readouterr().err
