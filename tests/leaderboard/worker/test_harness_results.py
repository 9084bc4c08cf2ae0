"""The site takes a result that was read from samples of lm-evaluation-harness as any that a third party measured."""

from itertools import count
from pathlib import Path

import pytest
from django.test import Client

from leaderboard.figures import benchmarks
from leaderboard.models import Benchmark
from leaderboard.worker.third_party import import_result
from probing.harness.importing import import_samples
from probing.harness.samples import read_facts, read_samples, results_beside
from tests.probing.harness.tasks import bear_task, write_log
from tests.tiny_models import build_gpt2


@pytest.mark.django_db
def test_samples_of_the_harness_become_a_run_of_a_third_party(client: Client, small: Benchmark, tmp_path: Path) -> None:
    content = benchmarks.read(small)
    config = bear_task(tmp_path / "task", content, templates=(0, 1, 2))
    path = write_log(tmp_path, config, build_gpt2(tmp_path / "model"), (-20.5 - number for number in count()))
    result = import_samples(read_samples(path), read_facts(results_beside(path)), content, model="org/elsewhere")
    result.save(tmp_path / "result")
    run = import_result(tmp_path / "result", "Example University")
    assert (run.state, run.provenance, run.settings["protocol"]) == ("finished", "third-party", "lm-eval")
    page = client.get(run.get_absolute_url()).content.decode()
    assert "Measured by lm-evaluation-harness 0.4.13 with the model hf" in page
