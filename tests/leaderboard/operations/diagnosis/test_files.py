"""What doctor says about files."""

import shutil
from collections import namedtuple
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from pytest_django.fixtures import Settings as DjangoSettings

from leaderboard.operations.diagnosis import files
from leaderboard.stored import artefacts
from tests.leaderboard.conftest import Site
from tests.leaderboard.operations.diagnosis.only import only

pytestmark = pytest.mark.django_db
Usage = namedtuple("Usage", "total used free")


def test_a_site_that_is_in_order_has_nothing_to_mend(site: Site) -> None:
    for check in (files.storage, files.local_models, files.orphans, files.results, files.benchmarks):
        assert only(list(check())).state == "ok"


def test_a_storage_that_cannot_be_written_is_a_problem(data: Path) -> None:
    (data / "artefacts").write_text("")
    assert only(list(files.storage())).state == "problem"


@pytest.mark.parametrize(("free", "state"), [(10**8, "problem"), (5 * 10**9, "warning"), (10**12, "ok")])
def test_the_disk_needs_space_for_the_largest_model(monkeypatch: pytest.MonkeyPatch, free: int, state: str) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 0, free))
    assert {finding.state for finding in files.space()} == {state}


def test_a_folder_of_models_that_is_a_file_is_a_problem(settings: DjangoSettings) -> None:
    settings.MODELS.write_text("")
    assert only(list(files.local_models())).state == "problem"
    settings.MODELS.unlink()
    settings.MODELS.mkdir()
    assert only(list(files.local_models())).state == "ok"


def test_results_without_a_run_are_orphans(site: Site) -> None:
    artefacts.storage().save("runs/gone/items.parquet", ContentFile(b""))
    finding = only(list(files.orphans()))
    assert finding.state == "warning"
    assert "runs/gone" in finding.message and f"runs/{site.first.pk}" not in finding.message


def test_missing_results_and_benchmarks_are_named(site: Site, data: Path) -> None:
    artefacts.storage().delete(f"{site.first.artefact}/items.parquet")
    assert f"{site.first.artefact}/items.parquet (1 in all)" in only(list(files.results())).message
    shutil.rmtree(data / site.benchmark.path)
    finding = only(list(files.benchmarks()))
    assert (finding.state, site.benchmark.path in finding.message) == ("problem", True)
