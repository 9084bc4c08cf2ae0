"""`show --predictions`: shares of answers by language, with answers merged by the user's file."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from probing.__main__ import main
from probing.analysis.culture_metrics import SHARE_COLUMNS
from probing.baselines import UniformModel
from probing.catalog import open_benchmark
from probing.command_line.predictions import prediction_chart
from probing.formats import dlama
from probing.runner import run
from tests.probing.command_line.helpers import complaint, refusal
from tests.probing.formats.dlama_folder import DlamaFolder


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """One result for each language of a small benchmark, which is the last of the folders."""
    place = tmp_path_factory.mktemp("results")
    folder = DlamaFolder(place / "pairs")
    folder.add_arabic()
    benchmark = dlama.read(folder.write())
    for language in ("ar", "en"):
        run(UniformModel(), benchmark, language=language, out=place / language, progress=False)
    return [str(place / name) for name in ("ar", "en", "pairs")]


def test_shares_are_printed_and_written(results: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arabic, english, benchmark = results
    merge = tmp_path / "merge.toml"
    merge.write_text('"Semitic" = ["Q13955"]\n')
    options = ["--benchmark", benchmark, "--merge", str(merge)]
    assert main(["show", "--predictions", arabic, english, *options]) == 0
    printed, precisions = capsys.readouterr().out.split("\n\n")
    heading, *rows = (line.split() for line in printed.splitlines())
    shares = (
        pd.DataFrame(rows, columns=heading).set_index(["language", "answer"]).drop(columns="relation").astype(float)
    )
    right = shares["right_share"].to_dict()
    assert shares["predictions"].groupby("language").sum().to_dict() == {"ar": 5, "en": 5}
    assert shares.loc[("en", "Semitic"), "share"] == 1.0
    assert right["ar", "Semitic"] == right["en", "Semitic"] == 0.3
    assert len(precisions.splitlines()) == 4


def test_answers_about_places_have_their_nearness(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    capitals: dict[str, Any] = {"relations": ["P36"], "language": "en", "pair": "arab-west"}
    run(UniformModel(), open_benchmark("culture"), out=out, progress=False, **capitals)
    assert main(["show", str(out), "--predictions"]) == 0
    *_, head, shares = capsys.readouterr().out.strip().splitlines()
    assert head.split() == [
        *("relation", "language", "predictions"),
        *("right", "same", "country", "neighbour", "elsewhere", "unknown"),
    ]
    assert sum(map(float, shares.split()[3:])) == pytest.approx(1, abs=1e-3)


def test_the_chart_is_a_page_of_its_own(results: list[str], tmp_path: Path) -> None:
    arabic, english, benchmark = results
    page = tmp_path / "chart.html"
    assert main(["show", arabic, english, "--predictions", "--benchmark", benchmark, "--plot", str(page)]) == 0
    assert "<html>" in page.read_text(encoding="utf-8")[:100]


def test_bars_add_up_to_one_and_rare_answers_share_a_colour() -> None:
    rows = [
        ("P140", "en", "Islam", 6, 0.6, 0.3, 0.3),
        ("P140", "en", "<b>Judaism</b>", 3, 0.3, 0.1, 0.5),
        ("P140", "en", "Sikhism", 1, 0.1, 0.1, 0.2),
        ("P140", "ar", "Islam", 10, 1.0, 1.0, 1.0),
        ("P30", "en", "Asia", 1, 1.0, 1.0, 1.0),
    ]
    chart = prediction_chart(pd.DataFrame(rows, columns=SHARE_COLUMNS), most=2)
    first = [trace for trace in chart.data if trace.visible]
    assert [trace.name for trace in first] == ["Islam", "&lt;b&gt;Judaism&lt;/b&gt;", "all other answers"]
    bars = [f"{language} {kind}" for language in ("en", "ar") for kind in ("predicted", "predicted rightly", "right")]
    assert [list(trace.y) for trace in first] == [bars] * 3
    assert [list(trace.x) for trace in first] == [
        [0.6, 0.3, 0.3, 1.0, 1.0, 1.0],
        [0.3, 0.1, 0.5, 0, 0, 0],
        [0.1, 0.1, 0.2, 0, 0, 0],
    ]
    (menu,) = chart.layout.updatemenus
    assert [button.label for button in menu.buttons] == ["P140", "P30"]


def test_results_that_do_not_fit_together_are_refused(
    results: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arabic, _, benchmark = results
    both = tmp_path / "both"
    run(UniformModel(), dlama.read(Path(benchmark)), out=both, progress=False)
    refused = refusal(capsys, "show", "--predictions", arabic, str(both), "--benchmark", benchmark)
    assert "Two results are about P37 in ar" in refused
    refused = refusal(capsys, "show", "--predictions", arabic, "--benchmark", benchmark, "--relation", "P36")
    assert "There are no rows of P36. Choose from: P37." in refused
    assert main(["show", "--predictions", arabic, "--benchmark", "starter"]) != 0
    assert complaint(capsys)
    assert "--merge is about --predictions" in refusal(capsys, "show", arabic, "--merge", "merge.toml")
