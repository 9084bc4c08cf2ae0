"""The catalog: known benchmarks, opened and downloaded."""

import errno
import io
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from probing.catalog import CATALOG, KnownBenchmark, download, known_benchmark, open_benchmark
from probing.errors import BadInput, DigestMismatch, NoSpace, SourceUnavailable
from probing.files import archives
from probing.formats import FORMATS, bear
from probing.probes import PROBES
from probing.settings import Settings
from tests.conftest import BearFolder

Serve = Callable[[bytes], KnownBenchmark]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def serve(tmp_path: Path, bear_folder: BearFolder, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Put an archive where the catalog expects BEAR's; the digest is that of the small folder."""
    (tmp_path / "served").mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "served")))
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def put(archive: bytes) -> KnownBenchmark:
        (tmp_path / "served" / "archive.tar.gz").write_bytes(archive)
        benchmark = replace(
            CATALOG["bear"],
            archive=f"http://127.0.0.1:{server.server_port}/archive.tar.gz",
            digest=bear.read(bear_folder.write()).digest,
            paths=("small",),
        )
        monkeypatch.setitem(CATALOG, "bear", benchmark)
        return benchmark

    yield put
    server.shutdown()
    server.server_close()


def packed(folder: Path, *extra: tarfile.TarInfo) -> bytes:
    """The folder as the hub of repositories packs it: everything below one top folder."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for member in extra:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
        archive.add(folder, arcname=f"BEAR-3818fdc/{folder.name}")
    return buffer.getvalue()


def member(name: str, **fields: object) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    for field, value in fields.items():
        setattr(info, field, value)
    return info


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


def test_paths_out_of_the_folder_and_links_are_passed_over(
    serve: Serve, bear_folder: BearFolder, tmp_path: Path
) -> None:
    serve(
        packed(
            bear_folder.write(),
            member("top/../../outside.txt", size=1),
            member("top/small/link", type=tarfile.SYMTYPE, linkname="/etc/hostname"),
            member("top/elsewhere/file", size=1),
        )
    )
    download("bear", tmp_path / "var" / "bear")
    names = {path.name for path in (tmp_path / "var").rglob("*")}
    assert names.isdisjoint({"outside.txt", "link", "elsewhere"})


@pytest.mark.parametrize("name", ["top/small/../../../escape.txt", "top/small/../../escape.txt"])
def test_a_path_that_climbs_out_of_a_wanted_folder_is_refused(
    serve: Serve, bear_folder: BearFolder, tmp_path: Path, name: str
) -> None:
    serve(packed(bear_folder.write(), member(name, size=1)))
    with pytest.raises(SourceUnavailable, match="outside"):
        download("bear", tmp_path / "var" / "bear")
    assert not list(tmp_path.rglob("escape.txt"))


def test_an_archive_that_unpacks_without_end_is_refused(
    serve: Serve, bear_folder: BearFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "LARGEST_ARCHIVE", 100)
    serve(packed(bear_folder.write()))
    with pytest.raises(SourceUnavailable, match="larger than 100 bytes"):
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


def test_a_full_disk_is_told_as_such(
    serve: Serve, bear_folder: BearFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    serve(packed(bear_folder.write()))
    monkeypatch.setattr(tarfile.TarFile, "extract", full)
    with pytest.raises(NoSpace):
        download("bear", tmp_path / "bear")


def test_what_ships_with_the_project_is_not_downloaded(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="ships with this project"):
        download("starter", tmp_path)
