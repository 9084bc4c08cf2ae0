"""manage.py import_benchmark, download_benchmark and load_published: what they print, import and refuse."""

import re
from pathlib import Path

import pytest
from django.core.management import CommandError

import probing
from leaderboard.management.commands import download_benchmark
from leaderboard.models import Benchmark, Model, Printed
from leaderboard.models.printed import printed_rows
from probing.errors import SourceUnavailable
from tests.conftest import BearFolder
from tests.leaderboard.management.commands.output import output_of

pytestmark = pytest.mark.django_db
FIXTURES = Path(__file__).parents[4] / "fixtures"


def test_import_benchmark_says_what_it_found(bear_folder: BearFolder) -> None:
    folder = str(bear_folder.write())
    assert "2 relations, 6 items" in output_of("import_benchmark", "bear", folder)
    assert "nothing to do" in output_of("import_benchmark", "bear", folder)
    assert Benchmark.objects.get().slug == "small"


def test_import_benchmark_shows_the_plan_that_it_uses(bear_folder: BearFolder) -> None:
    folder = str(bear_folder.write())
    usual = "Plan: wordings 1, 2 and 3, PLL within_word_l2r, reduction sum."
    assert usual in output_of("import_benchmark", "bear", folder)
    bear_folder.plan = {"settings": {"templates": [1]}}
    bear_folder.write()
    again = output_of("import_benchmark", "bear", folder)
    assert usual in again
    assert "A version keeps the plan of its first import" in again
    other = output_of("import_benchmark", "bear", folder, "--slug", "other")
    assert "Plan: wording 2 only, PLL within_word_l2r, reduction sum." in other


def test_bad_input_ends_a_command_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no-such") as error:
        output_of("import_benchmark", "bear", str(tmp_path / "no-such"))
    assert error.value.returncode == 2


def test_the_probe_is_the_one_that_was_chosen_or_else_the_usual_one(bear_folder: BearFolder) -> None:
    folder = str(bear_folder.write())
    output_of("import_benchmark", "bear", folder, "--slug", "usual")
    output_of("import_benchmark", "bear", folder, "--slug", "vectors", "--probe", "similarity")
    assert dict(Benchmark.objects.values_list("slug", "probe")) == {"usual": "multiple_choice", "vectors": "similarity"}


def test_an_unknown_probe_is_refused_with_those_that_exist_and_nothing_is_imported(
    bear_folder: BearFolder, data: Path
) -> None:
    with pytest.raises(CommandError, match=r"'guessing'.*multiple_choice.*similarity") as error:
        output_of("import_benchmark", "bear", str(bear_folder.write()), "--probe", "guessing")
    assert error.value.returncode == 2
    assert not Benchmark.objects.exists()
    assert not (data / "benchmarks").exists()


def test_a_further_probe_is_added_beside_the_main_one(bear_folder: BearFolder) -> None:
    folder = str(bear_folder.write())
    output_of("import_benchmark", "bear", folder)
    assert "small:similarity" in output_of("import_benchmark", "bear", folder, "--probe", "similarity")
    main, further = Benchmark.objects.order_by("pk")
    assert (main.name, main.probe, main.title) == ("small", "multiple_choice", "small")
    assert (further.name, further.probe, further.title) == ("small:similarity", "similarity", "small (similarity)")
    assert (main.path, main.digest) == (further.path, further.digest)


def test_a_new_version_is_imported_for_all_probes(bear_folder: BearFolder) -> None:
    folder = bear_folder.write()
    output_of("import_benchmark", "bear", str(folder))
    output_of("import_benchmark", "bear", str(folder), "--probe", "similarity")
    old = Benchmark.objects.get(slug="small", main=True).version
    file = next(folder.glob("*.jsonl"))
    file.write_text("".join(file.read_text("utf-8").splitlines(keepends=True)[:-1]), "utf-8")
    output_of("import_benchmark", "bear", str(folder))
    current = Benchmark.objects.filter(current=True)
    assert set(current.values_list("probe", "main")) == {("multiple_choice", True), ("similarity", False)}
    assert {row.version for row in current} & {old} == set()


def test_another_sample_of_a_graph_is_another_version(tmp_path: Path) -> None:
    few = probing.sample_graph(FIXTURES / "graph", tmp_path / "few", samples=10)
    for folder in (FIXTURES / "graph", few):
        output_of("import_benchmark", "knowledge_graph", str(folder), "--slug", "graph")
    first, sample = Benchmark.objects.filter(slug="graph").order_by("created")
    assert (first.current, sample.current) == (False, True)
    assert first.version != sample.version


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


@pytest.mark.django_db
def test_models_that_papers_name_without_an_id_are_those_of_the_hub() -> None:
    printed = output_of("load_published")
    assert int(re.match(r"(\d+) published results\.", printed)[1]) == len(printed_rows(Printed.objects.all())) > 100
    published = Model.objects.filter(printed__baseline=False).distinct()
    assert {model.title for model in published if not model.parameters} == {"GPT3.5-turbo"}
    assert not Model.objects.filter(hub_id__in=["published/kykimbert-base", "published/qarib"]).exists()
    kykim = Printed.objects.filter(model__hub_id="kykim/bert-kor-base").values_list("benchmark__slug", flat=True)
    assert {"cultlama", "dlama"} <= set(kykim), "two spellings of one model"
