"""A result in Python and in notebooks: by group, compared, as HTML, LaTeX and a chart."""

from dataclasses import replace

import pandas as pd
import plotly.graph_objects as go
import pytest

from probing.benchmark import Benchmark
from probing.chart_template import LIGHT
from probing.errors import BadInput
from probing.results.result import Result, as_latex
from probing.runner import run
from tests.fakes import FAKE_CARD, FakeModel
from tests.probing.results.recorder import Recorder


@pytest.fixture
def result(benchmark: Benchmark) -> Result:
    return run(FakeModel(replace(FAKE_CARD, id="<b>org/model")), benchmark, progress=False)


def test_a_metric_by_group_is_that_of_the_scores(result: Result) -> None:
    table = result.by("domain")
    assert list(table.index) == ["Geographic", "Political"] and list(table.columns) == ["value", "low", "high", "n"]
    scores = result.scores[(result.scores["metric"] == "accuracy") & (result.scores["dimension"] == "domain")]
    assert table["value"].tolist() == scores["value"].tolist()
    assert result.by(metric="chance").loc["all", "value"] == pytest.approx(7 / 18)


def test_a_score_that_is_not_there_is_told(result: Result) -> None:
    with pytest.raises(BadInput, match=r"The metric accuracy has no dimension 'dommain'\. Choose from: overall, "):
        result.by("dommain")
    with pytest.raises(BadInput, match="no metric 'f1'"):
        result.by(metric="f1")


def test_results_are_compared_item_by_item(result: Result, benchmark: Benchmark) -> None:
    other = run(FakeModel(knows=["Chad is located in Africa."]), benchmark, progress=False)
    overall = result.compare(other).set_index("dimension").loc["overall"]
    assert overall["difference"] == pytest.approx(other.items["correct"].mean() - result.items["correct"].mean())


def test_what_cannot_be_compared_is_refused(result: Result) -> None:
    record = result.record | {"benchmark": result.record["benchmark"] | {"digest": "other"}}
    with pytest.raises(BadInput, match=r"small \w+ in the first result, small \w+ in the second result\. Compare"):
        result.compare(replace(result, record=record))
    for others in ([], [result] * 8):
        with pytest.raises(BadInput, match=rf"compared with {len(others)} others\. Give one to 7\."):
            result.compare(*others)
    with pytest.raises(BadInput, match=r"'results' is no result\. Read a folder with probing\.Result\.load"):
        result.compare("results")  # type: ignore[arg-type]


def test_a_notebook_shows_the_scores_and_no_markup_of_strangers_or_a_line(result: Result) -> None:
    html = result._repr_html_()
    assert "&lt;b&gt;org/model on small" in html and "<b>" not in html
    assert "<th>accuracy</th>" in html
    version, accuracy = result.record["benchmark"]["version"], result.by()["value"].iloc[0]
    model = result.record["model"]["id"]
    assert repr(result) == f"<Result {model} on small {version} (multiple_choice), accuracy {accuracy:.4g}>"


def test_a_result_without_its_main_score_says_what_that_needs(result: Result) -> None:
    assert not any("There is no" in note for note in result.notes)
    record = result.record | {"probe": "perplexity"}
    without = replace(result, record=record)
    assert without.notes == [
        *result.notes,
        "There is no superiority: it needs two true and two false statements at least.",
    ]
    assert repr(without).endswith("(perplexity)>")


def test_results_of_different_samples_say_on_how_many_rows_they_are_compared(benchmark: Benchmark) -> None:
    whole, part = (run(FakeModel(), benchmark, limit=limit, progress=False) for limit in (None, 1))
    assert "Results of 6 and 2 rows are compared on the 2 that all of them have." in whole.compare(part).remarks
    assert not any("rows are compared" in remark for remark in whole.compare(whole).remarks)


def test_latex_is_escaped(result: Result) -> None:
    assert "Geographic & " in result.to_latex("domain")
    table = pd.DataFrame({"value": [0.5]}, index=pd.Index(["50 % of_R&D"], name="a_b"))
    assert r"50 \% of\_R\&D & 0.500" in as_latex(table) and r"a\_b" in as_latex(table)


def test_a_chart_has_a_dot_with_its_interval_for_each_group(result: Result) -> None:
    figure = result.plot("domain")
    assert isinstance(figure, go.Figure)
    assert figure.layout.template.layout.colorway == (LIGHT.accent, LIGHT.muted)
    (dots,) = figure.data
    assert list(dots.y) == ["Political", "Geographic"]
    assert list(dots.x) == result.by("domain")["value"].tolist()[::-1]
    assert (dots.x + dots.error_x.array).tolist() == pytest.approx(result.by("domain")["high"].tolist()[::-1])


def test_a_notebook_shows_what_was_compared(result: Result, benchmark: Benchmark) -> None:
    other = run(FakeModel(knows=["Chad is located in Africa."]), benchmark, reduction="mean", progress=False)
    comparison = result.compare(other)
    html = comparison._repr_html_()
    assert "<strong>first: &lt;b&gt;org/model (multiple_choice)</strong>" in html
    assert "What differs between the first and the second run: model: &lt;b&gt;org/model and fake/hash;" in html
    assert "reduction: sum and mean" in html and "how small a difference can be told apart" in html
    assert "<th>difference</th>" in html and "first_low" not in html
    assert type(comparison[comparison["dimension"] == "overall"]) is pd.DataFrame


def test_the_scores_can_be_logged(result: Result) -> None:
    wandb, mlflow = Recorder(), Recorder()
    wandb.log(result.metrics())
    mlflow.log_metrics(result.metrics())
    assert wandb.logged == mlflow.logged
    assert wandb.logged["accuracy/overall/all"] == result.by().loc["all", "value"]
    assert wandb.logged["accuracy/domain/Political"] == result.by("domain").loc["Political", "value"]
    assert len(wandb.logged) == result.scores["value"].notna().sum()
    assert {name.split("/")[1] for name in result.metrics("overall", "domain")} == {"overall", "domain"}


def test_names_that_loggers_refuse_are_made_plain_and_stay_different(result: Result) -> None:
    row = result.scores[result.scores["metric"] == "accuracy"].head(1)
    groups = ["a/b", "a:b", "..", "C\u00f4te d'Ivoire"]
    scores = pd.concat([row.assign(dimension="tag", group=group, value=place) for place, group in enumerate(groups)])
    metrics = replace(result, scores=scores).metrics()
    Recorder().log_metrics(metrics)
    assert metrics == {
        "accuracy/tag/a_b": 0,
        "accuracy/tag/a_b_2": 1,
        "accuracy/tag/_": 2,
        "accuracy/tag/C\u00f4te d_Ivoire": 3,
    }
