"""A result: saved, loaded and shown in Python and in notebooks, by group, compared, as HTML, LaTeX and a chart."""

import errno
import json
import posixpath
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from probing.analysis.accuracy import SCORE_COLUMNS
from probing.benchmark import Benchmark
from probing.chart_template import LIGHT
from probing.errors import BadInput, Incomplete, NoSpace
from probing.formats import bear
from probing.plan import plan_of
from probing.probes.multiple_choice import MultipleChoice
from probing.probes.specificity import Specificity
from probing.results.completeness import check_complete
from probing.results.result import Result
from probing.results.rows import join
from probing.runner import run
from probing.settings import Settings
from tests.conftest import BearFolder
from tests.fakes import FAKE_CARD, FakeModel

PROBE = MultipleChoice()
SETTINGS = Settings(templates=(0, 2))
PAGE = (Path(__file__).parents[3] / "docs" / "result-files.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


class Recorder:
    """Stands in for W&B's run and for MLflow, with their signatures and MLflow's rule for names."""

    def __init__(self) -> None:
        self.logged: dict[str, float] = {}

    def init(self, project: str | None = None, config: dict[str, Any] | None = None) -> None:
        assert project and config

    def log_params(self, params: dict[str, Any]) -> None:
        assert params

    def log(
        self, data: dict[str, Any], step: int | None = None, commit: bool | None = None, sync: bool | None = None
    ) -> None:
        self.logged |= data

    def log_metrics(
        self,
        metrics: dict[str, float],
        step: int | None = None,
        synchronous: bool | None = None,
        run_id: str | None = None,
        timestamp: int | None = None,
    ) -> None:
        for name, value in metrics.items():
            assert re.fullmatch(r"[/\w.\- ]+", name) and posixpath.normpath(name) == name and len(name) <= 250
            assert type(value) is float
        self.logged |= metrics


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
    with pytest.raises(BadInput, match=r"There is no folder .*study\. Check the path\."):
        Result.load(tmp_path / "study")
    (tmp_path / "study").mkdir()
    with pytest.raises(BadInput, match=r"study is not a result: .* Give the folder of a finished run\."):
        Result.load(tmp_path / "study")
    with pytest.raises(BadInput, match=rf"Did you mean '{tmp_path}/study'\?"):
        Result.load(tmp_path / "studi")
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


def test_a_folder_without_all_files_is_no_result(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path / "out")
    for name in ("items.parquet", "scores.csv", "run.json"):
        content = (tmp_path / "out" / name).read_bytes()
        (tmp_path / "out" / name).unlink()
        with pytest.raises(BadInput, match=f"{name} is missing"):
            Result.load(tmp_path / "out")
        (tmp_path / "out" / name).write_bytes(content)


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


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        ([0, 1, *range(3, 12)], "1 of 12 rows are missing, the first is relation P30, template 0, item 2"),
        ([], "12 of 12 rows"),
        ([*range(12), 0], "13 rows for 12"),
    ],
)
def test_rows_that_are_missing_or_repeated_are_named(
    rows: pd.DataFrame, benchmark: Benchmark, kept: list[int], message: str
) -> None:
    with pytest.raises(Incomplete, match=message):
        check_complete(rows.iloc[kept], plan_of(benchmark, SETTINGS), {})


def test_rows_that_nobody_asked_for_are_not_complete(rows: pd.DataFrame, benchmark: Benchmark) -> None:
    with pytest.raises(Incomplete, match="12 rows for 6"):
        check_complete(rows, plan_of(benchmark, Settings(templates=(2,))), {})


@pytest.mark.parametrize("scores", [[-1.0, float("nan"), -2.0], [-1.0, -float("inf"), -2.0], [-1.0], []])
def test_a_row_without_all_scores_is_incomplete(rows: pd.DataFrame, benchmark: Benchmark, scores: list[float]) -> None:
    rows.at[3, "scores"] = scores
    with pytest.raises(Incomplete, match="relation P30, template 0, item 3 are not all there"):
        check_complete(rows, plan_of(benchmark, SETTINGS), {})


@pytest.fixture
def measured(benchmark: Benchmark) -> Result:
    return run(FakeModel(replace(FAKE_CARD, id="<b>org/model")), benchmark, progress=False)


def test_a_metric_by_group_is_that_of_the_scores(measured: Result) -> None:
    table = measured.by("domain")
    assert list(table.index) == ["Geographic", "Political"] and list(table.columns) == ["value", "low", "high", "n"]
    scores = measured.scores[(measured.scores["metric"] == "accuracy") & (measured.scores["dimension"] == "domain")]
    assert table["value"].tolist() == scores["value"].tolist()
    assert measured.by(metric="chance").loc["all", "value"] == pytest.approx(7 / 18)


def test_a_score_that_is_not_there_is_told(measured: Result) -> None:
    with pytest.raises(BadInput, match=r"The metric accuracy has no dimension 'dommain'\. Did you mean 'domain'\?"):
        measured.by("dommain")
    with pytest.raises(BadInput, match="no metric 'f1'"):
        measured.by(metric="f1")


def test_results_are_compared_item_by_item(measured: Result, benchmark: Benchmark) -> None:
    other = run(FakeModel(knows=["Chad is located in Africa."]), benchmark, progress=False)
    overall = measured.compare(other).set_index("dimension").loc["overall"]
    assert overall["difference"] == pytest.approx(other.items["correct"].mean() - measured.items["correct"].mean())


def test_what_cannot_be_compared_is_refused(measured: Result) -> None:
    record = measured.record | {"benchmark": measured.record["benchmark"] | {"digest": "other"}}
    with pytest.raises(BadInput, match=r"small \w+ in the first result, small \w+ in the second result\. Compare"):
        measured.compare(replace(measured, record=record))
    for others in ([], [measured] * 8):
        with pytest.raises(BadInput, match=rf"compared with {len(others)} others\. Give one to 7\."):
            measured.compare(*others)
    with pytest.raises(BadInput, match=r"'results' is no result\. Read a folder with probing\.Result\.load"):
        measured.compare("results")  # type: ignore[arg-type]


def test_a_notebook_shows_the_scores_and_no_markup_of_strangers_or_a_line(measured: Result) -> None:
    html = measured._repr_html_()
    assert "&lt;b&gt;org/model on small" in html and "<b>" not in html
    assert "<th>accuracy</th>" in html
    version, accuracy = measured.record["benchmark"]["version"], measured.by()["value"].iloc[0]
    model = measured.record["model"]["id"]
    assert repr(measured) == f"<Result {model} on small {version} (multiple_choice), accuracy {accuracy:.4g}>"


def test_a_result_without_its_main_score_says_what_that_needs(measured: Result) -> None:
    assert not any("There is no" in note for note in measured.notes)
    record = measured.record | {"probe": "perplexity"}
    without = replace(measured, record=record)
    assert without.notes == [
        *measured.notes,
        "There is no superiority: it needs two true and two false statements at least.",
    ]
    assert repr(without).endswith("(perplexity)>")


def test_results_of_different_samples_say_on_how_many_rows_they_are_compared(benchmark: Benchmark) -> None:
    whole, part = (run(FakeModel(), benchmark, limit=limit, progress=False) for limit in (None, 1))
    assert "Results of 6 and 2 rows are compared on the 2 that all of them have." in whole.compare(part).remarks
    assert not any("rows are compared" in remark for remark in whole.compare(whole).remarks)


def test_latex_is_escaped(measured: Result) -> None:
    assert "Geographic & " in measured.to_latex("domain")
    row = measured.scores[measured.scores["metric"] == "accuracy"].head(1)
    scores = row.assign(dimension="a_b", group="50 % of_R&D", value=0.5)
    latex = replace(measured, scores=scores).to_latex("a_b")
    assert r"50 \% of\_R\&D & 0.500" in latex and r"a\_b" in latex


def test_a_chart_has_a_dot_with_its_interval_for_each_group(measured: Result) -> None:
    figure = measured.plot("domain")
    assert isinstance(figure, go.Figure)
    assert figure.layout.template.layout.colorway == (LIGHT.accent, LIGHT.muted)
    (dots,) = figure.data
    assert list(dots.y) == ["Political", "Geographic"]
    assert list(dots.x) == measured.by("domain")["value"].tolist()[::-1]
    assert (dots.x + dots.error_x.array).tolist() == pytest.approx(measured.by("domain")["high"].tolist()[::-1])


def test_a_notebook_shows_what_was_compared(measured: Result, benchmark: Benchmark) -> None:
    other = run(FakeModel(knows=["Chad is located in Africa."]), benchmark, reduction="mean", progress=False)
    comparison = measured.compare(other)
    html = comparison._repr_html_()
    assert "<strong>first: &lt;b&gt;org/model (multiple_choice)</strong>" in html
    assert "What differs between the first and the second run: model: &lt;b&gt;org/model and fake/hash;" in html
    assert "reduction: sum and mean" in html and "how small a difference can be told apart" in html
    assert "<th>difference</th>" in html and "first_low" not in html
    assert type(comparison[comparison["dimension"] == "overall"]) is pd.DataFrame


def test_the_scores_can_be_logged(measured: Result) -> None:
    wandb, mlflow = Recorder(), Recorder()
    wandb.log(measured.metrics())
    mlflow.log_metrics(measured.metrics())
    assert wandb.logged == mlflow.logged
    assert wandb.logged["accuracy/overall/all"] == measured.by().loc["all", "value"]
    assert wandb.logged["accuracy/domain/Political"] == measured.by("domain").loc["Political", "value"]
    assert len(wandb.logged) == measured.scores["value"].notna().sum()
    assert {name.split("/")[1] for name in measured.metrics("overall", "domain")} == {"overall", "domain"}


def test_the_examples_of_the_documentation_run(
    bear_folder: BearFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bear_folder.metadata["P19"] = bear_folder.metadata["P30"]
    bear_folder.lines["P19"] = [{"sub_label": f"Person {place}", "answer_idx": place % 3} for place in range(5)]
    benchmark = bear.read(bear_folder.write())
    for name, known in (("results", []), ("others", ["Chad is located in Africa."])):
        run(FakeModel(knows=known), benchmark, out=tmp_path / name, progress=False)
    monkeypatch.chdir(tmp_path)
    recorder = Recorder()
    names: dict[str, Any] = {"wandb": recorder, "mlflow": recorder}
    for example in EXAMPLES:
        exec(example, names)
    assert len(EXAMPLES) == 6
    assert names["labels"][names["row"]["answer"]] == names["row"]["answer_label"]
    assert recorder.logged["accuracy/overall/all"] == names["result"].by().loc["all", "value"]


def test_names_that_loggers_refuse_are_made_plain_and_stay_different(measured: Result) -> None:
    row = measured.scores[measured.scores["metric"] == "accuracy"].head(1)
    groups = ["a/b", "a:b", "..", "C\u00f4te d'Ivoire"]
    scores = pd.concat([row.assign(dimension="tag", group=group, value=place) for place, group in enumerate(groups)])
    metrics = replace(measured, scores=scores).metrics()
    Recorder().log_metrics(metrics)
    assert metrics == {
        "accuracy/tag/a_b": 0,
        "accuracy/tag/a_b_2": 1,
        "accuracy/tag/_": 2,
        "accuracy/tag/C\u00f4te d_Ivoire": 3,
    }


def test_figures_of_several_pairs_of_cultures_have_a_sentence_each() -> None:
    """They are never pooled."""
    overall = ("p_at_1", "overall", "all", 0.5, 200.0, 0.4, 0.6)
    pairs = [
        ("p_at_1", "culture_pair_language", "arab-west en", 0.6, 100.0, 0.5, 0.7),
        ("chance", "culture_pair_language", "arab-west en", 0.1, 100.0, np.nan, np.nan),
        ("p_at_1", "culture_pair_language", "asia-west en", 0.4, 100.0, 0.3, 0.5),
    ]
    record = {"model": {"id": "org/m"}, "probe": "ranking"}

    def findings(rows: list[tuple[str, str, str, float, float, float, float]]) -> list[str]:
        return Result(pd.DataFrame(), pd.DataFrame(rows, columns=SCORE_COLUMNS[:7]), record).findings

    assert findings([overall, *pairs]) == [
        "m (arab-west en) knows 60 % (50 to 70) of these 100 facts; guessing 10 %.",
        "m (asia-west en) knows 40 % (30 to 50) of these 100 facts.",
    ]
    assert findings([overall, *pairs[:2]]) == ["m knows 50 % (40 to 60) of these 200 facts."]
    assert findings(pairs[:2]) == []
    record["probe"] = "specificity"
    assert findings([]) == [f"There is no specificity of m: it needs {Specificity.needs}."]


def test_a_file_is_drawn_once_and_a_picture_without_plotly(
    measured: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = measured.plot("domain", file=tmp_path / "chart.html")
    assert isinstance(page, go.Figure) and page.layout.title.text

    def refused(task: str) -> None:
        raise AssertionError(task)

    monkeypatch.setattr("probing.dot_charts.graph_objects", refused)
    picture = measured.plot("domain", file=tmp_path / "chart.png")
    assert [label.get_text() for label in picture.axes[0].get_yticklabels()] == ["Geographic", "Political"]
