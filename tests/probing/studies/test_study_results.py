"""What a sweep gives: the chart, scores relative to the first checkpoint, and items learned and forgotten."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import probing
from probing.analysis.paired_tests import compare
from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.studies.study_results import Pair, Study, Sweep
from tests.probing.studies.conftest import QUIET


def test_items_learned_and_forgotten_agree_with_a_comparison(swept: Sweep) -> None:
    between = swept.changes("checkpoint-0", "checkpoint-500")
    rows = {name: swept.result(name).items for name in swept.revisions[:2]}
    compared = compare(rows, []).iloc[0]
    assert (between.counts()["learned"], between.counts()["forgotten"]) == (compared["gained"], compared["lost"])
    assert "domain" in set(between.shares["dimension"])
    with pytest.raises(BadInput, match="no result of 'step7'"):
        swept.changes("checkpoint-0", "step7")


def test_scores_are_relative_to_the_first_checkpoint(swept: Sweep) -> None:
    relative = swept.relative
    overall = relative[(relative["dimension"] == "overall") & (relative["metric"] == "accuracy")]
    assert overall["percent"].iloc[0] == 100
    assert overall["percent"].iloc[1] == pytest.approx(100 * overall["value"].iloc[1] / overall["value"].iloc[0])


def test_a_study_with_revisions_has_the_sweep_of_each_model_and_benchmark(
    saved: Path, swept: Sweep, benchmark: Benchmark, tmp_path: Path
) -> None:
    few = {"revisions": ["checkpoint-500", "checkpoint-0", "checkpoint-9"], "out": tmp_path / "out", **QUIET}
    study = probing.study([str(saved)], [benchmark], **few)
    assert list(study.table["revision"]) == ["checkpoint-0", "checkpoint-500"]
    again = study.sweep("training", benchmark.slug)
    expected = swept.scores[swept.scores["step"] < 1000].reset_index(drop=True)
    pd.testing.assert_frame_equal(again.scores, expected)
    assert again.title == f"training on {benchmark.slug}" and list(again.failures) == ["checkpoint-9"]
    assert again.plot().data
    with pytest.raises(BadInput, match="no revisions of other on small"):
        study.sweep("other", "small")


def lines(swept: Sweep, **options: Any) -> list[dict[str, Any]]:
    figure: dict[str, Any] = json.loads(swept.plot(**options).to_json())
    return list(figure["data"])


def test_the_chart_shows_the_overall_score_and_offers_the_breakdowns(swept: Sweep) -> None:
    shown = [line for line in lines(swept) if line["visible"]]
    assert [line["name"] for line in shown] == ["all"]
    assert {"Geographic", "Political", "P30", "P36"} <= {line["name"] for line in lines(swept)}
    (menu, axis) = swept.plot().layout.updatemenus
    assert menu.buttons[0].label == "overall"
    assert {"domain", "relation"} <= {button.label for button in menu.buttons}
    assert [button.args[0]["xaxis.type"] for button in axis.buttons] == ["linear", "log"]
    with pytest.raises(BadInput, match="There is no metric 'bleu'"):
        swept.plot("bleu")


def test_names_that_state_no_step_stand_beside_each_other(swept: Sweep) -> None:
    names = dict(zip(swept.revisions, ["<b>raw", "b", "c"], strict=True))
    scores = swept.scores.assign(revision=swept.scores["revision"].map(names))
    named = Sweep(swept.folders, scores.assign(step=None), swept.probe, "<i>model")
    figure = named.plot()
    assert (figure.layout.xaxis.type, figure.layout.title.text) == ("category", "&lt;i&gt;model")
    assert list(figure.data[0].x) == ["&lt;b&gt;raw", "b", "c"]


def test_the_page_of_the_chart_needs_no_network(swept: Sweep) -> None:
    page = (next(iter(swept.folders.values())).parent / "sweep.html").read_text(encoding="utf-8")
    assert "Plotly.newPlot" in page
    assert not re.findall(r"<(?:script|link)[^>]*(?:src|href)=", page)


def test_studies_and_sweeps_are_shown_in_a_line_and_in_notebooks_as_a_table(swept: Sweep) -> None:
    assert repr(swept) == f"<Sweep {swept.title}: {len(swept.revisions)} revisions>"
    failed = replace(swept, failures={"checkpoint-9": "no <weights>"})
    assert repr(failed).endswith("revisions, 1 missing>")
    assert "<td>checkpoint-500</td>" in failed._repr_html_() and "no &lt;weights&gt;" in failed._repr_html_()
    study = Study({Pair("a", "b"): Path("a/b"), Pair("c", "b"): Path("c/b")}, swept.scores, {Pair("c", "d"): "gone"})
    assert repr(study) == "<Study of 2 models and 2 benchmarks: 2 results, 1 missing>"
