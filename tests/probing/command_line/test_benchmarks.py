"""The commands about benchmarks: `list`, `download` and `baselines`."""

import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from probing.__main__ import main
from probing.catalog import CATALOG, open_benchmark
from probing.command_line import benchmarks as download_command
from probing.curation.plan_file import Servers
from probing.formats import bear
from probing.probes import PROBES
from probing.probes.probe import declared_options
from tests.conftest import BearFolder
from tests.probing.command_line.helpers import printed_by, refusal
from tests.probing.curation.conftest import Serve, Source, serve  # noqa: F401
from tests.probing.curation.world import World
from tests.probing.formats.dlama_folder import DlamaFolder


def test_all_benchmarks_and_all_options_of_all_probes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    printed = printed_by(capsys, "list")
    for slug, benchmark in CATALOG.items():
        assert f"\n{slug}: {benchmark.title}, probe {benchmark.probe}" in printed
    for name, probe in PROBES.items():
        _, _, section = printed.partition(f"\nProbe {name} (--probe {name})\n")
        lines = section.split("\n\n")[0].splitlines()
        assert [line.split("=")[0].strip() for line in lines if "=" in line.split("  ")[1]] == [
            *declared_options(probe)
        ]
    assert "  few_shot=0  show so many other items with their answers before each [whole number]" in printed


def test_the_relations_of_a_benchmark_are_listed_with_their_templates(capsys: pytest.CaptureFixture[str]) -> None:
    printed = printed_by(capsys, "list", "starter")
    for relation in open_benchmark("starter").relations:
        assert f"\n{relation.id}" in printed
        assert all(f"  {number}  {template}" in printed for number, template in enumerate(relation.templates))


def test_the_notes_of_a_benchmark_are_listed(bear_folder: BearFolder, capsys: pytest.CaptureFixture[str]) -> None:
    bear_folder.lines["P30"].append(bear_folder.lines["P30"][0])
    assert main(["list", str(bear_folder.write())]) == 0
    assert capsys.readouterr().out.endswith("\nNotes\nRelations in which a subject occurs more than once: P30.\n")


def test_an_unknown_benchmark_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert "neither a folder nor a known benchmark" in refusal(capsys, "list", "no-such")


def test_download_of_an_unknown_benchmark_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Choose from: starter, " in refusal(capsys, "download", "nothing")


def test_download_says_where_the_benchmark_is(
    bear_folder: BearFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bear_folder.path = tmp_path / "benchmarks" / "bear"
    bear_folder.path.parent.mkdir()
    digest = bear.read(bear_folder.write()).digest
    monkeypatch.setitem(CATALOG, "bear", replace(CATALOG["bear"], digest=digest))
    monkeypatch.setattr(download_command, "benchmarks_folder", lambda: tmp_path / "benchmarks")
    assert main(["download", "bear"]) == 0
    assert capsys.readouterr().out == (
        f"BEAR {digest[:12]} (6 items) is in {bear_folder.path}.\n"
        f"Its files have the digest in the catalog ({digest[:12]}).\n"
    )


def test_lama_is_another_name_of_its_part_from_t_rex(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "trex"
    folder.mkdir()
    (folder / "relations.jsonl").write_text('{"relation": "P36", "template": "[X] is a city in [Y] ."}\n')
    (folder / "P36.jsonl").write_text('{"sub_label": "Oslo", "obj_label": "Norway"}\n')
    monkeypatch.setattr(download_command, "benchmarks_folder", lambda: tmp_path)
    assert f"(1 items) is in {folder}." in printed_by(capsys, "download", "lama")
    assert open_benchmark("lama", tmp_path).slug == "trex"


FIXTURES = Path(__file__).parents[3] / "fixtures"


def printed(out: Path, *arguments: str) -> "pd.Series[float]":
    assert main(["baselines", *arguments, "--csv", str(out)]) == 0
    return pd.read_csv(out).set_index(["metric", "dimension", "group"])["value"]


def test_the_rarer_answer_is_the_papers_share_of_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Computed anew: of each relation the share of pairs whose finer answer has the smaller count, then their mean."""
    relations = open_benchmark("pairs").relations
    answers = sorted({option for r in relations for item in r.items for option in item.options})
    counts = {answer: len(answer) % 5 for answer in answers}
    (tmp_path / "list").write_text("".join(f"{answer}\t{count}\n" for answer, count in counts.items()))
    values = printed(tmp_path / "out.csv", "pairs", "--frequencies", str(tmp_path / "list"))
    shares = {
        relation.label: sum(counts[i.options[1]] < counts[i.options[0]] for i in relation.items) / len(relation.items)
        for relation in relations
    }
    for label, share in shares.items():
        assert values["rarer_answer", "relation", label] == pytest.approx(share)
    assert values["rarer_answer", "overall", "all"] == pytest.approx(sum(shares.values()) / len(shares))
    assert values["chance", "overall", "all"] == 0.5
    zero = sum(count == 0 for count in counts.values())
    assert f"{zero} of {len(counts)} answers do not occur" in capsys.readouterr().out


def test_a_corpus_gives_the_same_as_a_list_of_its_words(tmp_path: Path) -> None:
    (tmp_path / "corpus").write_text("Europe Europe Europe, France. Asia Asia: Japan\n")
    (tmp_path / "list").write_text("Europe 3\nFrance 1\nAsia 2\nJapan 1\n")
    first = printed(tmp_path / "a.csv", "pairs", "--corpus", str(tmp_path / "corpus"))
    pd.testing.assert_series_equal(first, printed(tmp_path / "b.csv", "pairs", "--frequencies", str(tmp_path / "list")))
    assert first["rarer_answer", "relation", "lies_in"] > 0


def test_multiple_choice_has_chance_and_the_majority_and_open_blanks_have_the_majority_alone(tmp_path: Path) -> None:
    values = printed(tmp_path / "out.csv", "starter")
    chance, majority = (values[metric, "overall", "all"] for metric in ("chance", "majority_answer"))
    assert 0 < chance < 1
    assert chance - 1e-9 <= majority < 1
    of_blanks = printed(tmp_path / "blanks.csv", str(FIXTURES / "geography"))
    assert set(of_blanks.index.get_level_values("metric")) == {"majority_answer"}
    assert 0 < of_blanks["majority_answer", "overall", "all"] < 1


def test_frequencies_need_pairs_of_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "list").write_text("France 3\n")
    assert "no pairs of answers" in refusal(capsys, "baselines", "starter", "--frequencies", str(tmp_path / "list"))


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
    output = printed_by(capsys, "list", str(folder), "--cultures", "--with", str(other))
    assert f"Arab: 40.0% of the facts (2), of which {other} has 0.0% (0)." in output
    assert f"West: 60.0% of the facts (3), of which {other} has 33.3% (1)." in output
    assert output.splitlines()[0].split() == ["relation", "group", "facts", "share", "shared", "shared_share"]


def test_the_papers_shares_stand_beside_those_of_its_data_sets(
    triples: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLOZEBOARD_DATA", str(tmp_path))
    shutil.copytree(triples, tmp_path / "benchmarks" / "trex")
    countries = tmp_path / "countries.tsv"
    countries.write_text("Q90\tQ142\n")
    printed = printed_by(capsys, "list", "trex", "--cultures", "--relation", "P36", "--countries", str(countries))
    heading, *rows = (line.split() for line in printed.partition("\n\n")[0].splitlines())
    shares = {tuple(row[:2]): row[len(heading) - 1 :] for row in rows}
    assert heading[-1] == "printed"
    assert shares["P36", "West"] == ["0.62"]
    assert shares["P36", "unknown"] == []
    assert shares["all", "West"] == [], "the paper's is about 26 predicates"


def test_wikidata_is_asked_where_ids_belong(
    triples: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    serve: Serve,  # noqa: F811
) -> None:
    world = World()
    world.claim("Q90", "P17", "Q142")
    world.claim("Q85", "P17", "Q79")
    source = serve(world)
    monkeypatch.setenv("CLOZEBOARD_DATA", str(tmp_path))
    servers = Servers(url=source.endpoint_url, interval=0)
    monkeypatch.setattr("probing.command_line.benchmarks.Servers", lambda: servers)
    printed = printed_by(capsys, "list", triples, "--wikidata", "--cultures", "arab")
    assert "Arab: 50.0% of the facts (1)." in printed
    assert len(source.sparql.requests) == 1


def test_a_table_tells_where_ids_belong_and_only_some_relations_are_counted(
    triples: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (Path(triples) / "P17.jsonl").write_text('{"sub_uri": "Q85", "obj_uri": "Q79"}\n')
    countries = tmp_path / "countries.tsv"
    countries.write_text("Q90\tQ142\nQ85\tQ79\n")
    printed = printed_by(capsys, "list", triples, "--cultures", "--countries", str(countries), "--relation", "P36")
    assert "West: 50.0% of the facts (1).\nrest of the world: 50.0% of the facts (1).\n" in printed
    refused = refusal(capsys, "list", triples, "--cultures", "--countries", str(countries), "--relation", "P36", "P99")
    assert "There are no facts of P99. Choose from: P17, P36." in refused


def test_without_cultures_it_says_what_is_needed(triples: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Give --wikidata" in refusal(capsys, "list", triples, "--cultures")
    assert "--with is about --cultures" in refusal(capsys, "list", triples, "--with", triples)
    assert "list BENCHMARK --cultures" in refusal(capsys, "list", "--cultures")


def test_other_predicates_share_nothing(triples: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = DlamaFolder(tmp_path / "pairs").write()
    assert "has none of these predicates" in refusal(capsys, "list", str(folder), "--cultures", "--with", triples)
