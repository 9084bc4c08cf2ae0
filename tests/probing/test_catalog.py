"""The catalog: known benchmarks, opened and downloaded."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from probing.catalog import CATALOG, KnownBenchmark, download, known_benchmark, open_benchmark
from probing.errors import BadInput, DigestMismatch, SourceUnavailable
from probing.formats import FORMATS, bear
from probing.probes import PROBES
from probing.settings import Settings
from tests.conftest import BearFolder
from tests.probing.files.served_archive import packed, serving

Serve = Callable[[bytes], KnownBenchmark]


@pytest.fixture
def serve(tmp_path: Path, bear_folder: BearFolder, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Put an archive where the catalog expects BEAR's; the digest is that of the small folder."""
    (tmp_path / "served").mkdir()
    with serving(tmp_path / "served") as address:

        def put(archive: bytes) -> KnownBenchmark:
            (tmp_path / "served" / "archive.tar.gz").write_bytes(archive)
            benchmark = replace(
                CATALOG["bear"],
                archive=f"{address}/archive.tar.gz",
                digest=bear.read(bear_folder.write()).digest,
                paths=("small",),
            )
            monkeypatch.setitem(CATALOG, "bear", benchmark)
            return benchmark

        yield put


def test_each_known_benchmark_names_what_exists() -> None:
    for slug, benchmark in CATALOG.items():
        assert slug == benchmark.slug
        assert benchmark.format in FORMATS
        assert benchmark.probe in PROBES
        assert Settings.from_json(benchmark.settings)
        assert benchmark.description and benchmark.licence


def test_the_real_bear_has_the_digest_of_the_catalog(real_bear: Path) -> None:
    assert bear.read(real_bear).digest == CATALOG["bear"].digest


def test_it_opens_a_folder(bear_folder: BearFolder) -> None:
    assert open_benchmark(bear_folder.write()).slug == "small"


def test_it_opens_a_known_benchmark_where_it_was_downloaded(bear_folder: BearFolder, tmp_path: Path) -> None:
    bear_folder.path = tmp_path / "bear"
    bear_folder.write()
    assert open_benchmark("bear", tmp_path).title == "BEAR"


def test_it_says_how_to_get_a_known_benchmark(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"not on this machine.*download bear"):
        open_benchmark("bear", tmp_path)


def test_it_says_what_it_knows_when_the_name_is_unknown() -> None:
    with pytest.raises(BadInput, match=r"neither a folder nor a known benchmark.*starter, .*bear"):
        open_benchmark("no-such-thing")
    with pytest.raises(BadInput, match="No benchmark is called"):
        known_benchmark("no-such-thing")


def test_it_downloads_and_checks(serve: Serve, bear_folder: BearFolder, tmp_path: Path) -> None:
    serve(packed(bear_folder.write()))
    benchmark = download("bear", tmp_path / "var" / "bear")
    assert (benchmark.slug, benchmark.size) == ("bear", 6)
    assert open_benchmark("bear", tmp_path / "var") == benchmark


def test_a_second_download_needs_no_network(serve: Serve, bear_folder: BearFolder, tmp_path: Path) -> None:
    serve(packed(bear_folder.write()))
    first = download("bear", tmp_path / "bear")
    serve(b"")
    assert download("bear", tmp_path / "bear") == first


def test_a_changed_source_is_refused_and_leaves_nothing(serve: Serve, bear_folder: BearFolder, tmp_path: Path) -> None:
    bear_folder.lines["P30"][0]["sub_label"] = "Tchad"
    archive = packed(bear_folder.write())
    bear_folder.lines["P30"][0]["sub_label"] = "Chad"
    serve(archive)
    with pytest.raises(DigestMismatch, match="have the digest"):
        download("bear", tmp_path / "var" / "bear")
    assert list((tmp_path / "var").iterdir()) == []


def test_a_folder_that_was_changed_by_hand_is_not_taken_for_the_original(
    serve: Serve, bear_folder: BearFolder, tmp_path: Path
) -> None:
    serve(packed(bear_folder.write()))
    download("bear", tmp_path / "bear")
    (tmp_path / "bear" / "small" / "P30.jsonl").write_text("{}")
    with pytest.raises(DigestMismatch, match="not the expected BEAR"):
        download("bear", tmp_path / "bear")


@pytest.mark.parametrize("cut", [0, 100, 500])
def test_a_broken_off_download_leaves_nothing(serve: Serve, bear_folder: BearFolder, tmp_path: Path, cut: int) -> None:
    serve(packed(bear_folder.write())[:cut])
    with pytest.raises((SourceUnavailable, DigestMismatch)):
        download("bear", tmp_path / "var" / "bear")
    assert list((tmp_path / "var").iterdir()) == []


def test_without_a_network_it_says_what_to_do(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = serve(b"")
    monkeypatch.setitem(CATALOG, "bear", replace(benchmark, archive="http://127.0.0.1:9/archive.tar.gz"))
    with pytest.raises(SourceUnavailable) as caught:
        download("bear", tmp_path / "bear")
    assert not caught.value.permanent
    assert "by hand" in caught.value.next_step
    assert "import_benchmark bear" in caught.value.next_step


def test_what_ships_with_the_project_is_not_downloaded(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="ships with this project"):
        download("starter", tmp_path)
