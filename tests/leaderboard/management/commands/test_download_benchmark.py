"""manage.py download_benchmark: benchmarks of the catalog."""

from pathlib import Path

import pytest
from django.core.management import CommandError

from leaderboard.management.commands import download_benchmark
from leaderboard.models import Benchmark
from probing.errors import SourceUnavailable
from tests.conftest import BearFolder
from tests.leaderboard.management.commands.output import output_of


def test_download_benchmark_names_what_there_is() -> None:
    with pytest.raises(CommandError, match="Choose from") as error:
        output_of("download_benchmark", "nothing")
    assert error.value.returncode == 2


@pytest.mark.django_db
def test_what_was_downloaded_is_imported_under_the_name_of_the_catalog(
    bear_folder: BearFolder, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def download(slug: str, folder: Path, templates: Path | None) -> None:
        folder.parent.mkdir(parents=True)
        bear_folder.write().rename(folder)

    monkeypatch.setattr(download_benchmark, "download", download)
    output = output_of("download_benchmark", "bear")
    assert "2 relations, 6 items" in output and "the digest in the catalog" in output
    benchmark = Benchmark.objects.get()
    assert (benchmark.slug, benchmark.title, benchmark.probe) == ("bear", "BEAR", "multiple_choice")
    assert (data / benchmark.path / "P30.jsonl").exists()


def test_another_name_is_that_of_the_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    slugs: list[str] = []

    def download(slug: str, folder: Path, templates: Path | None) -> None:
        slugs.append(slug)
        raise SourceUnavailable("away", "Try again.")

    monkeypatch.setattr(download_benchmark, "download", download)
    with pytest.raises(CommandError, match="away"):
        output_of("download_benchmark", "lama")
    assert slugs == ["trex"]
