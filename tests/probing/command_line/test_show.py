"""The commands `show` and `rescore`: the scores of a result, and the same with the present tags."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pytest

from probing.__main__ import main
from probing.analysis.accuracy import MOST_TIE
from probing.analysis.perplexity_metrics import TOKENIZER_NOTE
from probing.baselines import UniformModel
from probing.catalog import open_benchmark
from probing.results.rescoring import rescored
from probing.results.result import Result
from probing.results.rows import ITEMS
from probing.results.token_scores import conditional_accuracy, read_tokens
from probing.start_token import StartToken, TokenizerFacts
from tests.conftest import BearFolder
from tests.fakes import FakeModel
from tests.probing.command_line.helpers import printed_by, refusal, use


@pytest.fixture
def several(folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """A result with three templates."""
    use(monkeypatch, FakeModel())
    out = str(tmp_path / "several")
    assert main(["run", "fake", "--benchmark", folder, "--template", "0", "1", "2", "--out", out]) == 0
    capsys.readouterr()
    return out


def test_show_prints_each_dimension_with_both_intervals_and_nothing_that_is_not_stored(
    results: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    printed = printed_by(capsys, "show", results[0])
    first, second = printed.splitlines()[:2]
    assert re.fullmatch(r"hash knows 67 % \(\d+ to \d+\) of these 6 facts; guessing \d+ %, always .* \d+ %\.", first), (
        first
    )
    assert second.startswith("fake/hash on small ")
    assert all(f"\n{dimension}\n" in printed for dimension in ("overall", "template", "relation", "domain"))
    assert "cluster_low  cluster_high" in printed
    assert "cluster_low and cluster_high on other relations like these" in printed
    assert "Ties:" not in printed
    assert "conditional" not in printed, "there are no scores of single tokens"
    assert "at most" not in printed.lower(), "all items were asked"


def test_show_prints_what_the_figure_hides_and_long_tables_where_they_are_asked_for(
    several: str, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = printed_by(capsys, "show", several)
    assert "template_flips" not in printed.split("\ntemplate sensitivity\n")[0]
    assert "accuracy by relation and template" not in printed
    assert "\naccuracy by relation and template\n" in printed_by(capsys, "show", several, "--details")


def test_show_prints_how_texts_became_tokens_and_the_command_of_the_harness(
    results: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(results[0]) / "run.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    record["model"]["tokenizer"] = asdict(TokenizerFacts("BPE", 300, False, False, start=StartToken("none")))
    record["benchmark"]["slug"] = "bear"
    path.write_text(json.dumps(record), encoding="utf-8")
    printed = printed_by(capsys, "show", results[0])
    assert "\nTokens\nNo start token stands before a text, as chosen" in printed
    assert "\nThe same with lm-evaluation-harness\nlm_eval --model hf" in printed


def test_show_prints_prompts_as_the_model_read_them(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "does not have the prompts" in refusal(capsys, "show", results[0], "--prompts", "1")
    result = Result.load(results[0])
    result.items.assign(prompt="<s>" + result.items["subject"] + " is [Y].").to_parquet(Path(results[0]) / ITEMS)
    printed = printed_by(capsys, "show", results[0], "--prompts", "2")
    first, second = result.items["subject"][:2]
    assert printed == (
        "[Y] marks where the options stand.\n\n"
        f"P30, template 0, item 0, answer Africa:\n<s>{first} is [Y].\n\n"
        f"P30, template 0, item 1, answer Africa:\n<s>{second} is [Y].\n\n"
    )
    assert "--prompts cannot be 0" in refusal(capsys, "show", results[0], "--prompts", "0")


def test_show_of_a_perplexity_result_says_what_can_be_compared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, FakeModel())
    folder = str(tmp_path / "result")
    assert main(["run", "fake", "--benchmark", "graph", "--out", folder]) == 0
    capsys.readouterr()
    assert main(["show", folder]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"hash finds a true sentence more plausible than a false one in .*; guessing 50 %\.", lines[0])
    assert lines[2] == TOKENIZER_NOTE
    scores = Result.load(folder).scores.set_index(["dimension", "group", "metric"])["value"]
    for dimension, groups in (("repetition", "12345"), ("truth", ("true", "false"))):
        head, *rows = lines[lines.index(dimension) + 1 :][: len(groups) + 1]
        for group, row in zip(groups, rows, strict=True):
            shown = dict(zip(head.split(), row.split(), strict=True))
            assert shown["group"] == group
            for metric in list(shown)[2:]:
                assert float(shown[metric]) == pytest.approx(scores[dimension, group, metric], rel=1e-3)


def test_show_of_no_result_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "is not a result" in refusal(capsys, "show", str(tmp_path))


def test_show_has_the_accuracy_by_the_scores_of_single_tokens(
    folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, FakeModel())
    assert main(["run", "fake", "--benchmark", folder, "--keep", "tokens", "--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    assert main(["show", str(tmp_path / "out")]) == 0
    _, table = capsys.readouterr().out.split("by the scores of single tokens")
    result = Result.load(tmp_path / "out")
    expected = conditional_accuracy(result.items, read_tokens(tmp_path / "out/tokens.parquet"), "accuracy")
    for row in expected.to_dict("records"):
        assert any(
            line.split()[0] == row["metric"] and row["group"] in line and f"{row['value']:.4g}" in line
            for line in table.splitlines()
            if line.split()
        )


@pytest.mark.parametrize(("flag", "words"), [("--limit", "This is no fair sample"), ("--sample", "spread evenly")])
def test_show_says_which_items_were_asked(
    flag: str, words: str, ask: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = ask("vanilla", flag, "5")
    capsys.readouterr()
    assert main(["show", out]) == 0
    (note,) = [line for line in capsys.readouterr().out.splitlines() if "At most 5" in line or "at most 5" in line]
    assert words in note


def test_show_says_that_most_items_tie(
    folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, UniformModel())
    main(["run", "fake", "--benchmark", folder, "--out", str(tmp_path / "out")])
    main(["show", str(tmp_path / "out")])
    assert MOST_TIE in capsys.readouterr().out


TODAY = {"P30": {"domains": ["Places"]}, "P36": {"domains": ["Places", "Political"]}}


def contents(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def test_results_get_todays_domains(
    results: list[str], folder: str, bear_folder: BearFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Result.load(results[0])
    bear_folder.domains = TODAY
    bear_folder.write()
    printed = printed_by(capsys, "rescore", *results, "--benchmark", folder)
    assert printed.count("New groups of domain: Places.") == 2
    assert printed.count("Groups that are gone of domain: Geographic.") == 2
    again = Result.load(results[0])
    assert again.items["domain"].map(list).tolist()[-1] == ["Places", "Political"]
    assert set(again.scores[again.scores["dimension"] == "domain"]["group"]) == {"Places", "Political"}
    pd.testing.assert_frame_equal(again.items.drop(columns="domain"), before.items.drop(columns="domain"))
    assert "Places" in printed_by(capsys, "compare", *results, "--all")


def test_a_second_time_changes_no_byte(
    results: list[str], folder: str, bear_folder: BearFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    bear_folder.domains = TODAY
    bear_folder.write()
    assert main(["rescore", results[0], "--benchmark", folder]) == 0
    once = contents(results[0])
    assert "Nothing has changed." in printed_by(capsys, "rescore", results[0], "--benchmark", folder)
    assert contents(results[0]) == once


def test_a_metric_that_is_new_appears(results: list[str], folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    scores = Path(results[0]) / "scores.csv"
    lines = scores.read_text().splitlines(keepends=True)
    scores.write_text("".join(line for line in lines if not line.startswith("mean_reciprocal_rank")))
    whole = contents(results[1])["scores.csv"].count(b"\n")
    assert "New metrics: mean_reciprocal_rank." in printed_by(capsys, "rescore", results[0], "--benchmark", folder)
    assert scores.read_bytes().count(b"\n") == whole


def test_rows_of_other_questions_are_refused_and_kept(
    results: list[str], folder: str, bear_folder: BearFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(results[0])
    bear_folder.lines["P30"][0]["sub_label"] = "Mali"
    bear_folder.write()
    assert "P30, item 0 has another subject" in refusal(capsys, "rescore", results[0], "--benchmark", folder)
    assert contents(results[0]) == before


def test_a_benchmark_that_is_not_known_must_be_named(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "small is neither a folder nor a known benchmark" in refusal(capsys, "rescore", results[0])


def test_it_loads_no_torch(results: list[str], folder: str) -> None:
    code = (
        f"import sys; from probing.__main__ import main; main(['rescore', {results[0]!r}, '--benchmark', {folder!r}])"
    )
    command = [sys.executable, "-c", f"{code}; print('torch' in sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ})
    assert done.stdout.splitlines()[-1] == "False"


def test_tags_of_a_file_become_a_breakdown_that_stays(
    results: list[str], folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tags, keys = tmp_path / "tags.csv", Result.load(results[0]).items[["relation", "index"]].drop_duplicates()
    keys.assign(frequency=range(len(keys)), kind="plain").to_csv(tags, index=False)
    arguments = ("rescore", *results, "--benchmark", folder)
    printed = printed_by(capsys, *arguments, "--tags", str(tags))
    assert "New groups of frequency: 0–1, 2, 3, 4, 5." in printed and "New groups of kind: plain." in printed
    once = Result.load(results[0])
    assert once.by("frequency")["n"].to_dict() == {"0–1": 2, "2": 1, "3": 1, "4": 1, "5": 1}
    assert once.by("frequency")[["low", "high"]].notna().all(axis=None)
    assert "\nfrequency\n" in printed_by(capsys, "show", results[0])
    assert "frequency" in printed_by(capsys, "compare", *results, "--all")
    assert "Nothing has changed." in printed_by(capsys, *arguments)
    pd.testing.assert_frame_equal(Result.load(results[0]).items, once.items)
    keys.assign(frequency=0).to_csv(tags, index=False)
    assert "New groups of frequency: 0." in printed_by(capsys, *arguments, "--tags", str(tags))
    again = Result.load(results[0])
    assert again.record["added_tags"]["kind"] == once.record["added_tags"]["kind"]
    assert again.record["added_tags"]["frequency"] != once.record["added_tags"]["frequency"]


def test_tags_that_would_replace_another_column_are_refused(
    results: list[str], folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = Result.load(results[0]).items[["relation", "index"]].drop_duplicates()
    for name in ("domain", "rank", "overall"):
        keys.assign(**{name: "x"}).to_csv(tmp_path / "tags.csv", index=False)
        arguments = ("rescore", results[0], "--benchmark", folder, "--tags", str(tmp_path / "tags.csv"))
        assert f"have a column {name} already" in refusal(capsys, *arguments)


def test_what_version_0_2_counted_of_the_items_stays(results: list[str], folder: str) -> None:
    path = Path(results[0]) / "items.parquet"
    rows = pd.read_parquet(path)
    rows.assign(exposure_count=range(len(rows)), exposure="2–3", sitelinks=7).to_parquet(path)
    again = rescored(Result.load(results[0]), open_benchmark(folder))
    assert again.by("exposure").index.tolist() == ["2–3"]
    assert again.items["exposure_count"].tolist() == list(range(len(rows)))
    assert not {"exposure_count", "sitelinks"} & {*again.scores["dimension"]}


def test_show_draws_a_chart_in_place_of_the_tables(
    results: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chart = tmp_path / "chart.svg"
    sentence, place = printed_by(capsys, "show", results[0], "--plot", str(chart)).splitlines()
    assert "knows" in sentence
    assert place == f"The chart is in {chart}."
    assert chart.stat().st_size > 0
