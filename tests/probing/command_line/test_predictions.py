"""The command predictions: shares of answers by language, with answers merged by the user's file."""

from pathlib import Path

import pandas as pd
import pytest

from probing.__main__ import main
from probing.formats import dlama
from probing.runner import run
from probing.uniform_model import UniformModel
from tests.probing.command_line.helpers import complaint
from tests.probing.formats.dlama_folder import DlamaFolder


@pytest.fixture
def results(tmp_path: Path) -> list[str]:
    """One result for each language of a small benchmark, which is the last of the folders."""
    folder = DlamaFolder(tmp_path / "pairs")
    folder.add_arabic()
    benchmark = dlama.read(folder.write())
    for language in ("ar", "en"):
        run(UniformModel(), benchmark, language=language, out=tmp_path / language, progress=False)
    return [str(tmp_path / name) for name in ("ar", "en", "pairs")]


def test_shares_by_language_are_printed_and_written(
    results: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arabic, english, benchmark = results
    table = tmp_path / "table.csv"
    merge = tmp_path / "merge.toml"
    merge.write_text('"Semitic" = ["Q13955"]\n')
    options = ["--benchmark", benchmark, "--merge", str(merge), "--most", "1", "--csv", str(table)]
    assert main(["predictions", arabic, english, *options]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    shares = pd.read_csv(table).set_index(["language", "answer"])
    right = shares["right_share"].to_dict()
    assert shares["predictions"].groupby("language").sum().to_dict() == {"ar": 5, "en": 5}
    assert shares.loc[("en", "Semitic"), "share"] == 1.0
    assert right["ar", "Semitic"] == right["en", "Semitic"] == 0.3


def test_results_that_do_not_fit_together_are_refused(
    results: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arabic, _, benchmark = results
    both = tmp_path / "both"
    run(UniformModel(), dlama.read(Path(benchmark)), out=both, progress=False)
    assert main(["predictions", arabic, str(both), "--benchmark", benchmark]) == 2
    assert "Two results are about P37 in ar" in complaint(capsys)
    assert main(["predictions", arabic, "--benchmark", benchmark, "--relation", "P36"]) == 2
    assert "no rows of P36" in complaint(capsys)
    assert main(["predictions", arabic, "--benchmark", "starter"]) != 0
    assert complaint(capsys)
    assert main(["predictions", arabic, "--most", "0"]) == 2
    assert "Give 1 or more" in complaint(capsys)
