"""The command sample: statements drawn from a knowledge graph."""

from pathlib import Path

import pytest

import probing
from probing.__main__ import main
from probing.formats.knowledge_graph import read
from tests.fakes import ShoutingCorrector
from tests.probing.command_line.helpers import refusal

GRAPH = str(Path(__file__).parents[3] / "fixtures" / "graph")


def test_a_sample_is_a_benchmark_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hard = ["--resampled", "1", "--within-category", "--samples", "10", "--repetitions", "2", "--seed", "5"]
    assert main(["sample", GRAPH, *hard, "--out", str(tmp_path / "hard")]) == 0
    benchmark = read(tmp_path / "hard")
    assert f"{benchmark.size} sentences are in" in capsys.readouterr().out
    assert "2 repetitions, each of 10 true" in benchmark.notes[-1]
    assert "1 of 3 parts within their categories were drawn again at random, with seed 5" in benchmark.notes[-1]


def test_a_sample_follows_the_graphs_own_plan(tmp_path: Path) -> None:
    assert main(["sample", GRAPH, "--out", str(tmp_path / "same")]) == 0
    assert read(tmp_path / "same").relations == read(Path(GRAPH)).relations


def test_a_sample_never_takes_the_place_of_another_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "kept").write_text("")
    assert "exists already" in refusal(capsys, "sample", GRAPH, "--out", str(tmp_path))


def test_corrected_sentences_are_stored_with_the_corrector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "Corrector", ShoutingCorrector, raising=False)
    assert main(["sample", GRAPH, "--samples", "5", "--correct", "loud", "--out", str(tmp_path / "loud")]) == 0
    benchmark = read(tmp_path / "loud")
    assert ShoutingCorrector.remark in benchmark.notes
    assert all(item.subject.isupper() for relation in benchmark.relations for item in relation.items)


def test_a_ladder_is_a_benchmark_whose_false_statements_have_levels(tmp_path: Path) -> None:
    out = tmp_path / "ladder"
    assert main(["sample", "graph", "--samples", "4", "--repetitions", "1", "--ladder", "--out", str(out)]) == 0
    benchmark = read(out)
    levels = {item.tags["level"] for relation in benchmark.relations for item in relation.items}
    assert len(levels) == 1 + 6
    assert any("of each level" in note for note in benchmark.notes)
