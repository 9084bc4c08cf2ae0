"""The command diversity: facts by culture, from a benchmark's tags, the user's table or Wikidata."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from probing.__main__ import main
from tests.probing.command_line.helpers import printed_by, refusal
from tests.probing.curation.conftest import Source, serve  # noqa: F401
from tests.probing.curation.world import World
from tests.probing.formats.dlama_folder import DlamaFolder


@pytest.fixture
def triples(tmp_path: Path) -> str:
    """A folder of bare triples: the capitals of France and of Egypt."""
    folder = tmp_path / "TREx"
    folder.mkdir()
    lines = ('{"sub_uri": "Q142", "obj_uri": "Q90"}', '{"sub_uri": "Q79", "obj_uri": "Q85"}')
    (folder / "P36.jsonl").write_text("\n".join(lines))
    return str(folder)


def test_a_benchmark_that_names_cultures_needs_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = DlamaFolder(tmp_path / "pairs").write()
    other = tmp_path / "other"
    other.mkdir()
    (other / "P37.jsonl").write_text('{"sub_uri": "Q142", "obj_uri": "Q150"}\n')
    table = tmp_path / "table.csv"
    output = printed_by(capsys, "diversity", str(folder), "--with", str(other), "--csv", str(table))
    assert f"Arab: 40.0% of the facts (2), of which {other} has 0.0% (0)." in output
    assert f"West: 60.0% of the facts (3), of which {other} has 33.3% (1)." in output
    assert pd.read_csv(table).columns.tolist() == ["relation", "group", "facts", "share", "shared", "shared_share"]


def test_the_papers_shares_stand_beside_those_of_its_data_sets(
    triples: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLOZEBOARD_DATA", str(tmp_path))
    shutil.copytree(triples, tmp_path / "benchmarks" / "trex")
    countries = tmp_path / "countries.tsv"
    countries.write_text("Q90\tQ142\n")
    table = tmp_path / "table.csv"
    words = ["--relation", "P36", "--countries", str(countries), "--csv", str(table)]
    assert main(["diversity", "trex", *words]) == 0
    printed = pd.read_csv(table).set_index(["relation", "group"])["printed"]
    assert printed["P36", "West"] == 0.62
    assert pd.isna(printed["P36", "unknown"])
    assert pd.isna(printed["all", "West"]), "the paper's is about 26 predicates"


def test_a_table_tells_where_ids_belong(triples: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    countries = tmp_path / "countries.tsv"
    countries.write_text("Q90\tQ142\nQ85\tQ79\n")
    output = printed_by(capsys, "diversity", triples, "--countries", str(countries))
    assert "West: 50.0% of the facts (1).\nrest of the world: 50.0% of the facts (1).\n" in output


def test_wikidata_is_asked_where_ids_belong(
    triples: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    serve: Callable[[World], Source],  # noqa: F811
) -> None:
    world = World()
    world.claim("Q90", "P17", "Q142")
    world.claim("Q85", "P17", "Q79")
    source = serve(world)
    options = ["--endpoint", source.endpoint_url, "--cache", str(tmp_path / "cache.sqlite"), "--interval", "0"]
    printed = printed_by(capsys, "diversity", triples, "--wikidata", "--culture", "arab", *options)
    assert "Arab: 50.0% of the facts (1)." in printed
    assert len(source.sparql.requests) == 1


def test_only_some_relations_are_counted(triples: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (Path(triples) / "P17.jsonl").write_text('{"sub_uri": "Q85", "obj_uri": "Q79"}\n')
    countries = tmp_path / "countries.tsv"
    countries.write_text("Q90\tQ142\nQ85\tQ79\n")
    printed = printed_by(capsys, "diversity", triples, "--countries", str(countries), "--relation", "P36")
    assert "West: 50.0% of the facts (1)." in printed
    refused = refusal(capsys, "diversity", triples, "--countries", str(countries), "--relation", "P36", "P99")
    assert "There are no facts of P99. Choose from: P17, P36." in refused


def test_the_triples_of_a_known_benchmark_are_counted_by_its_name(
    triples: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLOZEBOARD_DATA", str(tmp_path))
    shutil.copytree(triples, tmp_path / "benchmarks" / "trex" / "TREx")
    countries = tmp_path / "countries.tsv"
    countries.write_text("Q90\tQ142\nQ85\tQ79\n")
    assert "West: 50.0% of the facts (1)." in printed_by(capsys, "diversity", "trex", "--countries", str(countries))


def test_without_cultures_it_says_what_is_needed(triples: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Give --wikidata" in refusal(capsys, "diversity", triples)
    assert "--interval" in refusal(capsys, "diversity", triples, "--wikidata", "--interval", "-1")


def test_other_predicates_share_nothing(triples: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = DlamaFolder(tmp_path / "pairs").write()
    assert "has none of these predicates" in refusal(capsys, "diversity", str(folder), "--with", triples)
