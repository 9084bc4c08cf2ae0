"""The command exposure, and what its counts make of results: breakdowns, WASB and α, without a model."""

from pathlib import Path

import pandas as pd
import pytest

from probing.__main__ import main
from probing.results.result import Result
from tests.conftest import BearFolder
from tests.probing.command_line.helpers import printed_by, refusal

CORPUS = "Egypt is in Africa.\n" * 5 + "Chad is in Africa.\nThe Kingdom of Norway is in Europe. Cairo governs Egypt.\n"


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.txt").write_text(CORPUS)
    return str(tmp_path / "corpus")


@pytest.fixture
def counts(corpus: str, folder: str, tmp_path: Path) -> str:
    out = str(tmp_path / "counts.csv")
    assert main(["exposure", corpus, "--benchmark", folder, "--out", out]) == 0
    return out


def test_counts_are_written(corpus: str, folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "counts.csv")
    assert main(["exposure", corpus, "--benchmark", folder, "--out", out]) == 0
    assert capsys.readouterr().out == f"{out}: the corpus states 4 of 6 facts, 8 times in all.\n"
    assert pd.read_csv(out)["count"].tolist() == [1, 5, 0, 1, 0, 1]


def test_aliases_and_units_are_chosen(
    corpus: str, folder: str, bear_folder: BearFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bear_folder.lines["P30"][2]["sub_aliases"] = ["Kingdom"]
    bear_folder.write()
    arguments = ["exposure", corpus, "--benchmark", folder, "--unit", "window:2", "--out"]
    assert main([*arguments, str(tmp_path / "a.csv"), "--aliases"]) == 0
    assert pd.read_csv(tmp_path / "a.csv")["count"].sum() == 0
    aliases = tmp_path / "aliases.json"
    aliases.write_text('{"Asia": ["Norway"], "Q48": {"aliases": ["Norway", "of"]}}')
    assert main([*arguments, str(tmp_path / "b.csv"), "--aliases", str(aliases)]) == 0
    assert pd.read_csv(tmp_path / "b.csv")["count"].tolist() == [0, 0, 0, 0, 0, 0]
    arguments[arguments.index("window:2")] = "window:4"
    assert main([*arguments, str(tmp_path / "c.csv"), "--aliases", str(aliases)]) == 0
    assert pd.read_csv(tmp_path / "c.csv").query("subject == 'Japan'")["count"].tolist() == [1]


def test_rescoring_with_counts_breaks_results_down(
    results: list[str], folder: str, counts: str, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = printed_by(capsys, "rescore", *results, "--benchmark", folder, "--tags", counts)
    assert "New metrics: exposure_alpha, wasb, wasb_chance." in printed
    result = Result.load(results[1])
    assert result.by("exposure").index.tolist() == ["0", "1", "4–7"]
    assert result.by("exposure")["n"].tolist() == [2, 3, 1]
    assert result.by("stated", "chance").index.tolist() == ["not stated", "stated"]
    assert result.by("stated").loc["stated", ["low", "high"]].notna().all()
    printed = printed_by(capsys, "show", results[1])
    assert printed.index("\nexposure\n") < printed.index("4–7") < printed.index("\nstated\n")
    assert "exposure_alpha" in printed
    printed = printed_by(capsys, "compare", *results)
    alphas = printed.partition("α of 1 - (L₀ + x₀ / (1 + count)^α), with L₀ = ")[2].splitlines()
    assert alphas[1].split() == ["result", "value", "low", "high", "n"]
    assert alphas[2].split()[-1] == "6", "all facts, stated or not"
    assert "\nstated\n" in printed


def test_counts_are_kept_when_scores_are_computed_again(
    results: list[str], folder: str, counts: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rescore", results[0], "--benchmark", folder, "--tags", counts]) == 0
    once = Result.load(results[0])
    assert "Nothing has changed." in printed_by(capsys, "rescore", results[0], "--benchmark", folder)
    pd.testing.assert_frame_equal(Result.load(results[0]).items, once.items)
    doubled = pd.read_csv(counts)
    doubled.assign(count=doubled["count"] * 2).to_csv(counts, index=False)
    capsys.readouterr()
    assert main(["rescore", results[0], "--benchmark", folder, "--tags", counts]) == 0
    again = Result.load(results[0])
    assert again.by("exposure").index.tolist() == ["0", "2–3", "8–15"]
    assert again.record["exposure"] != once.record["exposure"]
    assert "Nothing has changed." in printed_by(capsys, "rescore", results[0], "--benchmark", folder, "--tags", counts)


def test_results_of_which_one_has_no_stated_fact_are_compared_without_alpha(
    results: list[str], folder: str, counts: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pd.read_csv(counts).assign(count=0).to_csv(counts, index=False)
    assert main(["rescore", *results, "--benchmark", folder, "--tags", counts]) == 0
    assert set(Result.load(results[0]).by("exposure").index) == {"0"}
    assert "α of" not in printed_by(capsys, "compare", *results)


def test_counts_for_another_benchmark_are_refused(
    results: list[str], folder: str, corpus: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "starter.csv")
    assert main(["exposure", corpus, "--benchmark", "starter", "--out", out]) == 0
    refused = refusal(capsys, "rescore", results[0], "--benchmark", folder, "--tags", out)
    assert "The counts lack the facts of" in refused


def test_bad_input_is_refused_in_a_sentence(
    corpus: str, folder: str, counts: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    for arguments, message in (
        ([corpus, "--out", counts], "exists already"),
        ([corpus, "--out", str(tmp_path / "new.csv"), "--aliases"], "have no aliases"),
        ([corpus, "--out", str(tmp_path / "new.csv"), "--unit", "page"], "is no unit"),
        ([corpus, "--out", str(tmp_path / "new.csv"), "--executor", "threads"], "There is no executor"),
    ):
        assert message in refusal(capsys, "exposure", *arguments, "--benchmark", folder)
