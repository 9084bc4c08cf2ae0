"""The command line on pairs: prompting by --set, and compare --unified."""

from pathlib import Path

import pytest

import probing
from probing.__main__ import main
from probing.catalog import open_benchmark
from probing.results.result import Result
from tests.fakes import FakeModel
from tests.probing.command_line.test_run import complaint, use

SHARED = frozenset({"France", "Europe", "Germany", "Italy", "Poland", "Spain", "dog", "bird", "fish", "animal"})


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    use(monkeypatch, FakeModel())

    def run(prompting: str, *more: str) -> str:
        out = str(tmp_path / f"{prompting}-{len(more)}")
        given = ["--benchmark", "pairs", "--probe", "specificity", "--set", f"prompting={prompting}", *more]
        assert main(["run", "fake", *given, "--out", out]) == 0
        return out

    return run


@pytest.mark.parametrize("prompting", ["vanilla", "few-shot", "cascade"])
def test_run_asks_every_pair_with_the_prompting_given(ask, prompting: str) -> None:
    result = Result.load(ask(prompting))
    assert len(result.items) == open_benchmark("pairs").size
    assert set(result.items["prompting"]) == {prompting}
    assert {"specificity", "naturalness", "relatedness", "acc_at_10_either"} <= set(result.scores["metric"])
    assert set(result.scores["dimension"]) == {"relation", "overall"}


def test_a_stored_result_keeps_what_is_missing(ask) -> None:
    items = Result.load(ask("vanilla")).items
    several = items["coarse_label"].str.contains(" ")
    assert several.any()
    assert items.loc[several, "specific"].isna().all()
    assert items.loc[several, "coarse_log_prob"].isna().all()


def test_the_seed_enters_the_demonstrations(ask) -> None:
    one, other = (Result.load(ask("few-shot", *more)).items["demonstrations"] for more in ([], ["--seed", "1"]))
    assert [list(shown) for shown in one] != [list(shown) for shown in other]


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
    for part in ("specificity", "acc_at_10_either", "acc_at_10_fine", "difference to the first", "correlation"):
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
    ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [str(tmp_path / name) for name in "ab"]
    for folder in folders:
        given = ["--benchmark", "pairs", "--probe", "multiple_choice", "--limit", "2"]
        assert main(["run", "fake", *given, "--out", folder]) == 0
    capsys.readouterr()
    assert main(["compare", "--unified", *folders]) == 2
    assert "Only results of the probe specificity" in complaint(capsys)


def test_one_result_cannot_be_compared(ask, capsys: pytest.CaptureFixture[str]) -> None:
    folder = ask("vanilla")
    capsys.readouterr()
    assert main(["compare", folder, folder]) == 2
    assert "1 results cannot be compared" in complaint(capsys)


def test_an_unknown_prompting_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    given = ["--benchmark", "pairs", "--probe", "specificity", "--set", "prompting=loud"]
    assert main(["run", "fake", *given, "--out", str(tmp_path / "out")]) == 2
    assert "Choose from: vanilla, few-shot, cascade" in complaint(capsys)
