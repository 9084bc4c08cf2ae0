"""The catalog: known benchmarks, opened and downloaded."""

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from probing.catalog import CATALOG, Download, KnownBenchmark, download, how_checked, known_benchmark, open_benchmark
from probing.errors import BadInput, DigestMismatch, SourceUnavailable
from probing.formats import FORMATS, bear
from probing.formats.own_wordings import own_templates
from probing.probes import PROBES
from probing.settings import Settings
from tests.conftest import BearFolder
from tests.probing.files.served_archive import packed, serving
from tests.probing.formats.dlama_folder import DlamaFolder

Serve = Callable[[bytes], KnownBenchmark]


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., KnownBenchmark]]:
    """Put an archive where the catalog expects a benchmark's, whose entry may be changed."""
    (tmp_path / "served").mkdir()
    with serving(tmp_path / "served") as address:

        def put(slug: str, name: str, archive: bytes, folders: tuple[str, ...] = (), **changes: Any) -> KnownBenchmark:
            (tmp_path / "served" / name).write_bytes(archive)
            benchmark = replace(CATALOG[slug], downloads=(Download(f"{address}/{name}", folders),), **changes)
            monkeypatch.setitem(CATALOG, slug, benchmark)
            return benchmark

        yield put


@pytest.fixture
def serve(put: Callable[..., KnownBenchmark], bear_folder: BearFolder) -> Serve:
    """Put an archive where the catalog expects BEAR's; the digest is that of the small folder."""
    digest = bear.read(bear_folder.write()).digest
    return lambda archive: put("bear", "archive.tar.gz", archive, ("small",), digest=digest)


def test_each_known_benchmark_names_what_exists() -> None:
    for slug, benchmark in CATALOG.items():
        assert slug == benchmark.slug
        assert benchmark.format in FORMATS
        assert benchmark.probe in PROBES
        assert Settings.from_json(benchmark.settings)
        assert benchmark.description and 0 < len(benchmark.licence) <= 200  # what a site has room for
        assert not benchmark.digest or benchmark.downloads


def test_the_real_bear_has_the_digest_of_the_catalog(real_bear: Path) -> None:
    assert bear.read(real_bear).digest == CATALOG["bear"].digest


def test_it_opens_a_folder_and_what_was_downloaded(bear_folder: BearFolder, tmp_path: Path) -> None:
    assert open_benchmark(bear_folder.write()).slug == "small"
    bear_folder.path = tmp_path / "bear"
    bear_folder.write()
    assert open_benchmark("bear", tmp_path).title == "BEAR"


def test_it_says_how_to_get_a_benchmark_and_what_it_knows(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"not on this machine.*download bear"):
        open_benchmark("bear", tmp_path)
    with pytest.raises(BadInput, match=r"neither a folder nor a known benchmark.*starter, .*bear"):
        open_benchmark("no-such-thing")
    with pytest.raises(BadInput, match="No benchmark is called"):
        known_benchmark("no-such-thing")
    with pytest.raises(BadInput, match="ships with this project"):
        download("starter", tmp_path)


def test_it_downloads_and_checks_and_needs_no_network_a_second_time(
    serve: Serve, bear_folder: BearFolder, tmp_path: Path
) -> None:
    serve(packed(bear_folder.write()))
    benchmark = download("bear", tmp_path / "var" / "bear")
    assert (benchmark.slug, benchmark.size) == ("bear", 6)
    assert open_benchmark("bear", tmp_path / "var") == benchmark
    serve(b"")
    assert download("bear", tmp_path / "var" / "bear") == benchmark
    (tmp_path / "var" / "bear" / "small" / "P30.jsonl").write_text("{}")
    with pytest.raises(DigestMismatch, match="not the expected BEAR"):
        download("bear", tmp_path / "var" / "bear")


def test_a_changed_source_is_refused_and_leaves_nothing(serve: Serve, bear_folder: BearFolder, tmp_path: Path) -> None:
    bear_folder.lines["P30"][0]["sub_label"] = "Tchad"
    archive = packed(bear_folder.write())
    bear_folder.lines["P30"][0]["sub_label"] = "Chad"
    serve(archive)
    with pytest.raises(DigestMismatch, match="have the digest"):
        download("bear", tmp_path / "var" / "bear")
    assert list((tmp_path / "var").iterdir()) == []


@pytest.mark.parametrize("cut", [0, 100, 500])
def test_a_broken_off_download_leaves_nothing(serve: Serve, bear_folder: BearFolder, tmp_path: Path, cut: int) -> None:
    serve(packed(bear_folder.write())[:cut])
    with pytest.raises((SourceUnavailable, DigestMismatch)):
        download("bear", tmp_path / "var" / "bear")
    assert list((tmp_path / "var").iterdir()) == []


def test_without_a_network_it_says_what_to_do(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = serve(b"")
    monkeypatch.setitem(
        CATALOG, "bear", replace(benchmark, downloads=(Download("http://127.0.0.1:9/archive.tar.gz", ("small",)),))
    )
    with pytest.raises(SourceUnavailable) as caught:
        download("bear", tmp_path / "bear")
    assert not caught.value.permanent
    assert "by hand" in caught.value.next_step
    assert "https://github.com/lm-pub-quiz/BEAR tells about it" in caught.value.next_step
    assert "import_benchmark bear" in caught.value.next_step


# Sources whose files the project has never seen: DLAMA, an archive that is kept, and FB15k-237, from two archives.


@pytest.fixture
def serve_dlama(put: Callable[..., KnownBenchmark]) -> Callable[[Path], KnownBenchmark]:
    """Put an archive of facts where the catalog expects DLAMA's."""
    return lambda archive: put("dlama", "facts.tar.gz", archive.read_bytes())


@pytest.fixture
def facts(tmp_path: Path) -> DlamaFolder:
    folder = DlamaFolder(tmp_path / "facts")
    folder.add_arabic()
    return folder


def test_dlama_is_read_with_the_templates_of_this_project_and_says_so(
    serve_dlama: Callable[[Path], KnownBenchmark], facts: DlamaFolder, tmp_path: Path
) -> None:
    serve_dlama(facts.pack())
    benchmark = download("dlama", tmp_path / "var" / "dlama")
    assert (benchmark.slug, benchmark.probe, benchmark.size) == ("dlama", "ranking", 10)
    assert benchmark.title == "DLAMA-v1 with templates of Clozeboard"
    assert {relation.templates for relation in benchmark.relations} == {
        (own_templates(language)["P37"],) for language in ("ar", "en")
    }
    assert benchmark.notes == (
        "Templates from Clozeboard: 1 in ar, 1 in en. Compare figures only with those of the same templates.",
    )
    assert open_benchmark("dlama", tmp_path / "var") == benchmark


@pytest.mark.parametrize("beside", [True, False])
def test_the_users_templates_go_first_and_are_named(
    serve_dlama: Callable[[Path], KnownBenchmark], facts: DlamaFolder, tmp_path: Path, beside: bool
) -> None:
    serve_dlama(facts.pack())
    folder = tmp_path / "var" / "templates" if beside else tmp_path / "mlama1.1"
    (folder / "en").mkdir(parents=True)
    (folder / "en" / "templates.jsonl").write_text('{"relation": "P37", "template": "[Y] is heard in [X]."}\n')
    benchmark = download("dlama", tmp_path / "var" / "dlama", None if beside else folder)
    assert benchmark["P37.arab-west.en"].templates == ("[Y] is heard in [X].",)
    assert benchmark["P37.arab-west.ar"].templates == (own_templates("ar")["P37"],)
    assert any(note.startswith(f"Templates from {folder.name}: 1 in en.") for note in benchmark.notes)
    assert any(note.startswith("Templates from Clozeboard: 1 in ar.") for note in benchmark.notes)


def test_templates_that_would_not_be_used_are_refused(
    serve_dlama: Callable[[Path], KnownBenchmark], facts: DlamaFolder, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match="BEAR has templates of its own"):
        download("bear", tmp_path / "bear", tmp_path)
    serve_dlama(facts.pack())
    with pytest.raises(BadInput, match=r"has no templates.*<language>/templates\.jsonl"):
        download("dlama", tmp_path / "var" / "dlama", tmp_path / "served")
    download("dlama", tmp_path / "var" / "dlama")
    with pytest.raises(BadInput, match="downloaded already, with other templates"):
        download("dlama", tmp_path / "var" / "dlama", facts.path / "templates")


def test_files_without_a_known_digest_must_be_those_of_the_first_download(
    serve_dlama: Callable[[Path], KnownBenchmark], facts: DlamaFolder, tmp_path: Path
) -> None:
    target = tmp_path / "var" / "dlama"
    serve_dlama(facts.pack())
    first = download("dlama", target)
    sha = hashlib.sha256((target / "facts.tar.gz").read_bytes()).hexdigest()
    assert (tmp_path / "var" / "dlama.sha256").read_text() == f"{sha}  facts.tar.gz\n"
    assert download("dlama", target) == first

    shutil.rmtree(target)
    changed = DlamaFolder(tmp_path / "changed")
    serve_dlama(changed.pack())
    with pytest.raises(DigestMismatch, match=r"facts\.tar\.gz differs from the first download"):
        download("dlama", target)
    assert not target.exists()


def test_a_changed_file_is_noticed_and_changed_templates_are_the_users_own_affair(
    serve_dlama: Callable[[Path], KnownBenchmark], facts: DlamaFolder, tmp_path: Path
) -> None:
    target = tmp_path / "var" / "dlama"
    archive = facts.pack()
    serve_dlama(archive)
    first = download("dlama", target)
    (target / "templates" / "en" / "templates.jsonl").write_text('{"relation": "P37", "template": "[X]: [Y]."}')
    assert download("dlama", target).digest != first.digest
    (target / "facts.tar.gz").write_bytes(archive.read_bytes() + b" ")
    with pytest.raises(DigestMismatch, match="differs from the first download"):
        download("dlama", target)


@pytest.mark.parametrize("cut", [0, 100, -50])
def test_half_of_an_archive_leaves_nothing_and_no_digest(
    serve_dlama: Callable[[Path], KnownBenchmark], facts: DlamaFolder, tmp_path: Path, cut: int
) -> None:
    archive = facts.pack()
    archive.write_bytes(archive.read_bytes()[:cut])
    serve_dlama(archive)
    with pytest.raises(DigestMismatch, match="not the expected DLAMA-v1"):
        download("dlama", tmp_path / "var" / "dlama")
    assert list((tmp_path / "var").iterdir()) == []


@pytest.mark.slow  # unpacks and reads the real archive
def test_the_predecessor_of_dlama_is_downloaded_in_its_place(
    serve_dlama: Callable[[Path], KnownBenchmark], real_dlama: Path, tmp_path: Path
) -> None:
    serve_dlama(real_dlama / "cultlama_v1.tar.gz")
    benchmark = download("dlama", tmp_path / "dlama", real_dlama / "templates")
    english = [r for r in benchmark.relations if r.id.endswith(".en")]
    assert {str(relation.tags["culture_pair"]) for relation in english} == {"arab-west", "asia-west"}
    assert sum(len(r.items) for r in english if r.tags["culture_pair"] == "arab-west") == 10_480


def test_what_was_checked_is_said(serve: Serve, bear_folder: BearFolder, tmp_path: Path) -> None:
    assert how_checked("bear", tmp_path) == "Its files have the digest in the catalog (eed65ee0d50d)."
    dlama, graph = (how_checked(slug, tmp_path / slug) for slug in ("dlama", "fb15k237"))
    assert "has no digest of DLAMA-v1" in dlama and "for commit a3a722df86aa" in dlama
    assert "at present" in graph and "fb15k237.sha256" in graph


def zipped(files: Mapping[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.fixture
def freebase(tmp_path: Path) -> Path:
    """A folder with the two sources of FB15k-237 in small: names and sentences, and triples with Windows line ends."""
    inner = tmp_path / "packed" / "llmkg" / "data" / "FB15k-237"
    inner.mkdir(parents=True)
    relation = "/location/country/capital"
    (inner / "relation_mapping.json").write_text(json.dumps({relation: "{TAIL} is the capital of {HEAD}"}))
    names = {"/m/1": "Norway", "/m/2": "Oslo", "/m/3": "Peru", "/m/4": "Lima"}
    (inner / "entity2wikidata.json").write_text(json.dumps({id: {"label": name} for id, name in names.items()}))
    (inner / "train.txt").write_text("not from here\n")
    served = tmp_path / "served"
    served.mkdir()
    (served / "words.tar.gz").write_bytes(packed(tmp_path / "packed" / "llmkg"))
    triples = {"train": "/m/1 /m/2", "valid": "/m/3 /m/4", "test": "/m/1 /m/5"}
    files = {
        f"Release/{name}.txt": "\t".join([*ids.split()[:1], relation, *ids.split()[1:]]) + "\r\n"
        for name, ids in triples.items()
    }
    (served / "FB15K.zip").write_bytes(zipped({**files, "Release/text_cvsc.txt": "a lot more"}))
    return served


def test_a_graph_is_made_of_its_two_sources(freebase: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(freebase) as address:
        words, triples = CATALOG["fb15k237"].downloads
        parts = replace(words, address=f"{address}/words.tar.gz"), replace(triples, address=f"{address}/FB15K.zip")
        monkeypatch.setitem(CATALOG, "fb15k237", replace(CATALOG["fb15k237"], downloads=parts))
        benchmark = download("fb15k237", tmp_path / "var" / "fb15k237")
    texts = {item.subject for relation in benchmark.relations for item in relation.items}
    assert {"Oslo is the capital of Norway", "Lima is the capital of Peru"} <= texts
    assert "The facts are those of train.txt, valid.txt, test.txt." in benchmark.notes
    assert any("an entity has no name" in note for note in benchmark.notes)
    names = [line.split("/")[-1] for line in (tmp_path / "var" / "fb15k237.sha256").read_text().splitlines()]
    assert sorted(names) == ["entity2wikidata.json", "relation_mapping.json", "test.txt", "train.txt", "valid.txt"]


def test_a_table_that_is_not_there_is_a_missing_file_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "questions.csv").touch()
    with pytest.raises(BadInput) as raised:
        open_benchmark(tmp_path / "qestions.csv")
    assert str(raised.value) == (
        f"There is no file {tmp_path / 'qestions.csv'}. Did you mean {str(tmp_path / 'questions.csv')!r}?"
    )
    with pytest.raises(BadInput, match=r"There is no file .*nothing\.tsv\. Check the path"):
        open_benchmark(tmp_path / "nothing.tsv")


def test_a_misspelt_folder_gets_the_right_one(tmp_path: Path) -> None:
    (tmp_path / "capitals").mkdir()
    with pytest.raises(BadInput, match=r"Did you mean '.*capitals'\?"):
        open_benchmark(tmp_path / "captials")


def test_what_cannot_be_a_benchmark_is_answered_with_all_kinds_of_tables(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(BadInput, match=r"\.csv, \.tsv, \.jsonl, \.parquet"):
        open_benchmark(tmp_path / "notes.txt")
