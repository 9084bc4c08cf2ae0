"""The command compare: paired differences of results, and specificity on a unified vocabulary."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import probing
from probing.__main__ import main
from probing.analysis.paired_tests import RESULT_NAMES
from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.command_line.compare import all_scored
from probing.errors import BadInput
from probing.probes.multiple_choice import MultipleChoice
from probing.probes.perplexity import Perplexity
from probing.results.result import Result
from tests.conftest import BearFolder
from tests.fakes import FAKE_CARD, FakeModel
from tests.probing.command_line.helpers import complaint, use
from tests.tiny_models import build_bert

SHARED = frozenset({"France", "Europe", "Germany", "Italy", "Poland", "Spain", "dog", "bird", "fish", "animal"})
CAPITALS = {"Norway": "Oslo", "Kenya": "Nairobi", "Ecuador": "Quito", "Chad": "Africa"}
WAYS = {
    "open": ["--set", "k=1"],
    "closed": ["--set", "k=1", "--set", "closed=true"],
    "statements": ["--probe", "multiple_choice"],
}


def graph() -> Benchmark:
    return open_benchmark("graph")


def test_compare_prints_paired_differences(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["compare", *results]) == 0
    printed = capsys.readouterr().out
    assert "difference" in printed
    assert "Geographic" in printed
    assert "Results that agree on every item do not tell how small a difference can be told apart." in printed


def test_compare_says_which_difference_can_be_told_apart_and_on_how_many_rows(
    folder: str, results: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truths = ["Chad is located in Africa.", "Japan is located in Asia.", "Norway is located in Europe."]
    use(monkeypatch, FakeModel(knows=truths))
    knowing = str(tmp_path / "knowing")
    assert main(["run", "fake", "--benchmark", folder, "--relation", "P30", "--out", knowing]) == 0
    capsys.readouterr()
    assert main(["compare", results[0], knowing]) == 0
    printed = capsys.readouterr().out
    assert "Smallest difference that can be told apart (80 % power, 5 % level, paired): 0." in printed
    assert "\nResults of 6 and 4 rows are compared on the 4 that all of them have.\n" in printed


def test_compare_says_in_what_the_runs_differ(
    folder: str, results: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, FakeModel(replace(FAKE_CARD, id="fake/other", commit="2" * 40), device="cuda:0"))
    other = str(tmp_path / "other")
    arguments = ["--benchmark", folder, "--reduction", "mean", "--set", "generic_subjects=it", "--out", other]
    assert main(["run", "fake", *arguments]) == 0
    capsys.readouterr()
    assert main(["compare", *results, other]) == 0
    printed = capsys.readouterr().out
    assert "What differs between the first and the second run: nothing that is recorded.\n" in printed
    _, words = printed.split("What differs between the first and the third run: ")
    assert words.split(".\n")[0].split("; ") == [
        "model: fake/hash and fake/other",
        f"commit: {'0' * 40} and {'2' * 40}",
        "reduction: sum and mean",
        "generic subjects: not set and it",
        "device: cpu and cuda:0",
    ]


def test_biases_of_several_models_stand_side_by_side(
    folder: str, results: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, csv = (str(tmp_path / name) for name in ("generic", "biases.csv"))
    use(monkeypatch, FakeModel())
    assert (
        main(["run", "fake", "--benchmark", folder, "--set", "generic_subjects=it", "--sample", "1", "--out", out]) == 0
    )
    again = str(shutil.copytree(out, tmp_path / "again"))
    capsys.readouterr()
    assert main(["compare", out, again, "--bias", "P30", "--csv", csv]) == 0
    assert "Probabilities with generic subjects of P30" in capsys.readouterr().out
    table = pd.read_csv(csv)
    assert table.groupby("kind")["first"].sum().tolist() == pytest.approx([1, 1])
    assert table["first"].tolist() == table["second"].tolist()
    assert table["label"].tolist() == [*Result.load(out).option_labels("P30")] * 2
    assert main(["compare", *results, "--bias", "P99"]) == 2
    assert "There are no rows of P99." in complaint(capsys)
    rows = Result.load(out).items
    with pytest.raises(BadInput, match="upper bounds"):
        all_scored(rows.assign(exact=[[False]] * len(rows)), "P30")
    with pytest.raises(BadInput, match="no scores of options"):
        all_scored(rows.drop(columns="exact"), "P30")


def test_compare_refuses_one_result_in_two_spellings(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["compare", results[0], f"{results[0]}/"]) == 2
    assert "A result alone cannot be compared." in complaint(capsys)


def test_up_to_eight_results_are_compared_with_the_first(
    results: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = [shutil.copytree(results[1], tmp_path / f"copy-{number}") for number in range(7)]
    eight = [results[0], *map(str, more)]
    capsys.readouterr()
    assert main(["compare", *eight, "--csv", str(tmp_path / "differences.csv")]) == 0
    printed = capsys.readouterr().out
    assert f"eighth: fake/hash (multiple_choice), in {eight[7]}" in printed
    table = pd.read_csv(tmp_path / "differences.csv")
    assert list(table["result"].unique()) == list(RESULT_NAMES[1:])
    assert set(table["folder"]) == set(eight[1:])
    figures = table.drop(columns=["result", "folder", "p_holm"]).groupby(["dimension", "group"])
    assert figures.nunique(dropna=False).eq(1).all(axis=None), "copies of one result have equal figures"
    assert main(["compare", *eight, results[1]]) == 2
    assert "Give 8 at most" in complaint(capsys)


def test_the_csv_file_has_the_numbers_of_the_library(results: list[str], tmp_path: Path) -> None:
    assert main(["compare", *results, "--csv", str(tmp_path / "differences.csv")]) == 0
    rows = {name: Result.load(folder).items for name, folder in zip(("first", "second"), results, strict=True)}
    expected = MultipleChoice.compare(rows)
    written = pd.read_csv(tmp_path / "differences.csv").drop(columns="folder")
    pd.testing.assert_frame_equal(written, expected, check_dtype=False)


def test_perplexity_results_are_compared_by_superiority_and_ranks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = []
    for number, known in enumerate(([], [i.subject for r in graph().relations for i in r.items][:200])):
        use(monkeypatch, FakeModel(knows=known))
        folders.append(str(tmp_path / str(number)))
        assert main(["run", "fake", "--benchmark", "graph", "--out", folders[-1]]) == 0
    capsys.readouterr()
    assert main(["compare", *folders]) == 0
    printed = capsys.readouterr().out
    assert "sentences whose ranks differ most" in printed
    (overall,) = (line.split() for line in printed.splitlines() if line.split()[:1] == ["all"])
    for shown, folder in zip(overall[2:4], folders, strict=True):
        scores = Result.load(folder).scores.set_index(["metric", "dimension"])
        assert float(shown) == pytest.approx(scores.loc[("superiority", "overall"), "value"], abs=1e-3)


def test_a_perplexity_result_is_not_compared_with_one_of_another_probe(results: list[str]) -> None:
    rows = Result.load(results[0]).items
    with pytest.raises(BadInput, match="Not all of these results have perplexities"):
        Perplexity.compare({"first": rows, "second": rows})


def test_compare_refuses_results_on_different_benchmarks(
    results: list[str], bear_folder: BearFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    bear_folder.lines["P30"].pop()
    use(monkeypatch, FakeModel())
    main(["run", "fake", "--benchmark", str(bear_folder.write()), "--out", str(tmp_path / "c")])
    assert main(["compare", results[0], str(tmp_path / "c")]) == 2
    message = complaint(capsys)
    versions = [Result.load(folder).record["benchmark"]["version"] for folder in (results[0], tmp_path / "c")]
    assert "differ in their benchmark" in message
    assert all(version in message for version in versions)


def test_compare_unified_shows_common_pairs_words_and_tests(
    ask, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [ask(prompting) for prompting in ("vanilla", "few-shot", "cascade")]
    asked_for: set[str] = set()

    def unified(models: dict[str, str], answers: set[str]) -> dict[str, dict[str, str]]:
        asked_for.update(answers)
        return {model: {case(word): word for word in SHARED for case in (str, str.upper)} for model in models}

    monkeypatch.setattr(probing, "unified", unified, raising=False)
    capsys.readouterr()
    assert main(["compare", "--unified", *folders]) == 0
    shown = capsys.readouterr().out
    assert "10 words and 32 pairs in common" in shown
    assert asked_for > SHARED
    for part in (
        "specificity",
        "naturalness",
        "relatedness",
        "acc_at_10_either",
        "acc_at_10_fine",
        "difference to the first",
        "correlation",
    ):
        assert part in shown


def test_two_results_are_compared_on_the_pairs_that_count(ask, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [ask(prompting) for prompting in ("vanilla", "few-shot")]
    capsys.readouterr()
    assert main(["compare", *folders]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    (overall,) = (row for row in rows if row[:1] == ["all"])
    measured = [Result.load(folder).scores.set_index(["metric", "dimension"]) for folder in folders]
    assert int(overall[1]) == measured[0].loc[("specificity", "overall"), "n"]
    for shown, scores in zip(overall[2:4], measured, strict=True):
        assert float(shown) == pytest.approx(scores.loc[("specificity", "overall"), "value"], abs=1e-3)


def test_unified_is_for_specificity_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, FakeModel())
    folders = [str(tmp_path / name) for name in "ab"]
    for folder in folders:
        arguments = ["--benchmark", "pairs", "--probe", "multiple_choice", "--limit", "2"]
        assert main(["run", "fake", *arguments, "--out", folder]) == 0
    capsys.readouterr()
    assert main(["compare", "--unified", *folders]) == 2
    assert "Only results of the probe specificity" in complaint(capsys)


@pytest.fixture(scope="module")
def answered_in_three_ways(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The same questions in LM-PUB-QUIZ's three ways."""
    folder = tmp_path_factory.mktemp("lama")
    (folder / "relations.jsonl").write_text('{"relation": "P36", "template": "The capital of [X] is [Y] ."}')
    lines = [json.dumps({"sub_label": subject, "obj_label": name}) for subject, name in CAPITALS.items()]
    (folder / "P36.jsonl").write_text("\n".join(lines))
    model, out = build_bert(folder / "model"), folder / "out"
    for name, options in WAYS.items():
        assert main(["run", str(model), "--benchmark", str(folder), *options, "--out", str(out / name)]) == 0
    return {name: str(out / name) for name in WAYS}


def test_all_three_ways_answer_the_same_items(answered_in_three_ways: dict[str, str]) -> None:
    rows = {name: Result.load(Path(folder)).items for name, folder in answered_in_three_ways.items()}
    assert all(list(items["answer_label"]) == list(CAPITALS.values()) for items in rows.values())
    assert set(rows["closed"]["prediction_label"]) <= set(CAPITALS.values())
    assert set(rows["statements"]["prediction_label"]) <= set(CAPITALS.values())


@pytest.mark.parametrize("other", ["closed", "statements"])
def test_filling_the_mask_is_compared_with_a_closed_answer_space(
    other: str, answered_in_three_ways: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["compare", answered_in_three_ways["open"], answered_in_three_ways[other]]) == 0
    *heads, lines = capsys.readouterr().out.split("\n", 2)
    assert ["(cloze, k=1" in head or "(multiple_choice)" in head for head in heads] == [True, True]
    (figures,) = [line.split() for line in lines.splitlines() if "P36" in line]
    first, second = (Result.load(Path(answered_in_three_ways[name])).items["correct"] for name in ("open", other))
    assert [float(each) for each in figures[1:4]] == [4, first.mean(), second.mean()]
