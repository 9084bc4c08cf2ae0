"""The migration that names the GGUF files from which models were measured."""

from importlib import import_module

import pytest
from django.apps import apps

from leaderboard.models import Benchmark
from tests.leaderboard import factories as make

migration = import_module("leaderboard.migrations.0012_weights_of_models")


@pytest.mark.parametrize(
    ("name", "quantisation"),
    [("small.Q4_1.gguf", "Q4_1"), ("small-iq2_xs.gguf", "IQ2_XS"), ("small-F16.gguf", "F16"), ("small.gguf", "")],
)
def test_the_file_is_taken_from_the_record_of_a_run(small: Benchmark, name: str, quantisation: str) -> None:
    model, other = make.model("org/file"), make.model("org/hub")
    make.finished(small, of=model, provenance_record={"model": {"source": "gguf", "files": {name: "c0ffee"}}})
    make.finished(small, of=other, provenance_record={"model": {"source": "hub", "files": {"model.safetensors": "a"}}})
    migration.name_files(apps, None)
    for row in (model, other):
        row.refresh_from_db()
    assert (model.weights_file, model.quantisation) == (name, quantisation)
    assert (other.weights_file, other.quantisation) == ("", "")
