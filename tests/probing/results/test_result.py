"""Results: saved whole, loaded with clear words, complete or not results."""

import errno
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from probing.analysis.accuracy import SCORE_COLUMNS
from probing.benchmark import Benchmark
from probing.errors import BadInput, Incomplete, NoSpace
from probing.plan import plan_of
from probing.probes.multiple_choice import MultipleChoice
from probing.results.completeness import check_complete
from probing.results.result import Result
from probing.results.rows import join
from probing.settings import Settings
from tests.fakes import FakeModel

PROBE = MultipleChoice()
SETTINGS = Settings(templates=(0, 2))


@pytest.fixture
def rows(benchmark: Benchmark, model: FakeModel) -> pd.DataFrame:
    expected_parts = plan_of(benchmark, SETTINGS).parts
    return join(
        PROBE.frame(list(PROBE.rows(model, benchmark[part.relation], part.template, SETTINGS)))
        for part in expected_parts
    )


@pytest.fixture
def result(rows: pd.DataFrame, benchmark: Benchmark) -> Result:
    about = {"slug": "small", "version": benchmark.version, "digest": benchmark.digest}
    record = {"model": {"id": "fake/hash"}, "benchmark": about, "probe": PROBE.name, "settings": SETTINGS.to_json()}
    return Result(rows, PROBE.scores(rows), json.loads(json.dumps(record)))


def test_it_loads_what_it_saved(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path / "out")
    loaded = Result.load(tmp_path / "out")
    assert loaded.record == result.record
    pd.testing.assert_frame_equal(loaded.scores, result.scores)
    assert loaded.items["statement"].equals(result.items["statement"])
    assert np.array_equal(loaded.items["scores"][0], result.items["scores"][0])


def test_a_folder_that_is_no_result_leads_to_what_the_user_probably_meant(result: Result, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"study is not a result: .* Give the folder of a finished run\."):
        Result.load(tmp_path / "study")
    result.save(tmp_path / "study" / "gpt2" / "starter")
    with pytest.raises(BadInput, match=rf"Give one of the results in it, such as {tmp_path}/study/gpt2/starter\."):
        Result.load(tmp_path / "study")
    (tmp_path / "results.partial").mkdir()
    with pytest.raises(BadInput, match=rf"interrupted; the same command goes on from {tmp_path}/results\.partial\."):
        Result.load(tmp_path / "results")


def test_a_group_that_reads_like_a_missing_value_is_kept(result: Result, tmp_path: Path) -> None:
    scores = result.scores.assign(group=["NA", *result.scores["group"][1:]])
    Result(result.items, scores, result.record).save(tmp_path / "out")
    assert Result.load(tmp_path / "out").scores["group"][0] == "NA"


def test_a_result_of_an_older_version_loads_with_empty_clustered_intervals(result: Result, tmp_path: Path) -> None:
    older = result.scores.drop(columns=["cluster_low", "cluster_high"])
    Result(result.items, older, result.record).save(tmp_path / "out")
    loaded = Result.load(tmp_path / "out").scores
    assert list(loaded.columns) == SCORE_COLUMNS
    assert loaded[["cluster_low", "cluster_high"]].isna().all(axis=None)


def test_the_same_rows_give_the_same_bytes(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path / "a")
    Result.load(tmp_path / "a").save(tmp_path / "b")
    assert (tmp_path / "a" / "items.parquet").read_bytes() == (tmp_path / "b" / "items.parquet").read_bytes()
    assert (tmp_path / "a" / "scores.csv").read_bytes() == (tmp_path / "b" / "scores.csv").read_bytes()


def test_a_finished_result_is_not_overwritten(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path / "out")
    with pytest.raises(BadInput, match="exists already"):
        result.save(tmp_path / "out")


def test_a_full_disk_leaves_no_result(result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    with pytest.raises(NoSpace):
        result.save(tmp_path / "out")
    assert list(tmp_path.glob("*out*")) == []


@pytest.mark.parametrize("name", ["items.parquet", "scores.csv", "run.json"])
def test_a_folder_without_all_files_is_no_result(result: Result, tmp_path: Path, name: str) -> None:
    result.save(tmp_path / "out")
    (tmp_path / "out" / name).unlink()
    with pytest.raises(BadInput, match=f"{name} is missing"):
        Result.load(tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("items.parquet", b"PAR1"),
        ("scores.csv", b""),
        ("scores.csv", b"metric,value\naccuracy,1\n"),
        ("run.json", b"{"),
        ("run.json", b"\xff"),
        ("run.json", b"{}"),
        ("run.json", b"[]"),
        ("run.json", b"1"),
    ],
)
def test_a_damaged_file_is_told_as_such(result: Result, tmp_path: Path, name: str, content: bytes) -> None:
    result.save(tmp_path / "out")
    (tmp_path / "out" / name).write_bytes(content)
    with pytest.raises(BadInput, match="cannot be read"):
        Result.load(tmp_path / "out")


def test_items_without_a_column_that_all_probes_have_are_told_as_such(result: Result, tmp_path: Path) -> None:
    Result(result.items.drop(columns="relation"), result.scores, result.record).save(tmp_path / "out")
    with pytest.raises(BadInput, match=r"cannot be read \(items.parquet has no 'relation'\)"):
        Result.load(tmp_path / "out")


def test_all_rows_are_complete(rows: pd.DataFrame, benchmark: Benchmark) -> None:
    check_complete(rows, plan_of(benchmark, SETTINGS), {})
    check_complete(rows.sample(frac=1, random_state=0), plan_of(benchmark, SETTINGS), {})


def test_a_missing_row_is_named(rows: pd.DataFrame, benchmark: Benchmark) -> None:
    with pytest.raises(Incomplete, match="1 of 12 rows are missing, the first is relation P30, template 0, item 2"):
        check_complete(rows.drop(index=2), plan_of(benchmark, SETTINGS), {})


def test_no_rows_are_not_complete(rows: pd.DataFrame, benchmark: Benchmark) -> None:
    with pytest.raises(Incomplete, match="12 of 12 rows"):
        check_complete(rows.iloc[:0], plan_of(benchmark, SETTINGS), {})


def test_a_repeated_row_is_not_complete(rows: pd.DataFrame, benchmark: Benchmark) -> None:
    with pytest.raises(Incomplete, match="13 rows for 12"):
        check_complete(join([rows, rows.iloc[:1]]), plan_of(benchmark, SETTINGS), {})


def test_rows_that_nobody_asked_for_are_not_complete(rows: pd.DataFrame, benchmark: Benchmark) -> None:
    with pytest.raises(Incomplete, match="12 rows for 6"):
        check_complete(rows, plan_of(benchmark, Settings(templates=(2,))), {})


@pytest.mark.parametrize("scores", [[-1.0, float("nan"), -2.0], [-1.0, -float("inf"), -2.0], [-1.0], []])
def test_a_row_without_all_scores_is_incomplete(rows: pd.DataFrame, benchmark: Benchmark, scores: list[float]) -> None:
    rows.at[3, "scores"] = scores
    with pytest.raises(Incomplete, match="relation P30, template 0, item 3 are not all there"):
        check_complete(rows, plan_of(benchmark, SETTINGS), {})
