"""The command judge: samples for people, verdicts of a model, and what judges refuse."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import probing
from probing.__main__ import main
from probing.formats.geography import read
from probing.judging.forms import write_form
from tests.probing.command_line.helpers import printed_by, refusal
from tests.probing.judging.judged import rows, write_benchmark


class OnlyFrance:
    """A judge to which sentences about Nice are unacceptable."""

    about = "only France"

    def acceptability(self, texts: Sequence[str]) -> Iterator[float]:
        return (0.1 if "Nice" in text else 0.9 for text in texts)


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    return write_benchmark(tmp_path / "cities")


def fill(form: Path, factual: dict[str, str]) -> None:
    write_form(form, [row | {"factual": factual.get(row["sentence"].split()[0], "yes")} for row in rows(form)])


def test_forms_are_drawn_filled_and_read(benchmark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forms = [tmp_path / judge / "sample-1.csv" for judge in ("ann", "ben")]
    for form in forms:
        draw = ["judge", "draw", str(benchmark), "--samples", "1", "--size", "6", "--out", str(form.parent)]
        assert main(draw) == 0
        assert form.with_suffix(".html").is_file()
    fill(forms[0], {"Lyon": "no", "Nice": "no"})
    fill(forms[1], {"Lyon": "no"})
    capsys.readouterr()
    out = ["--out", str(tmp_path / "judged"), "--csv", str(tmp_path / "agreement.csv")]
    printed = printed_by(capsys, "judge", "read", str(benchmark), *map(str, forms), *out)
    assert "leaves out 1 refused sentences and 0 templates" in printed
    (row,) = pd.read_csv(tmp_path / "agreement.csv").to_dict("records")
    assert (row["question"], row["judges"], row["sentences"]) == ("factual", 2, 6)
    assert row["agreement"] == pytest.approx(5 / 6)
    assert read(tmp_path / "judged").size == read(benchmark).size - 1


def test_a_model_judges_a_finished_benchmark(
    benchmark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(probing, "Judge", SimpleNamespace(load=lambda model, commit: OnlyFrance()))
    printed = printed_by(capsys, "judge", "model", str(benchmark), "some-model", "--out", str(tmp_path / "model"))
    assert "1 of 6 sentences are unacceptable to the model" in printed
    verdicts = {row["sentence"]: row["grammatical"] for row in rows(tmp_path / "model" / "model.csv")}
    assert [sentence for sentence, verdict in verdicts.items() if verdict == "no"] == [
        "Nice is a city located in France."
    ]
    assert (tmp_path / "model" / "report.json").is_file()
    form = str(tmp_path / "model" / "model.csv")
    assert main(["judge", "read", str(benchmark), form, "--out", str(tmp_path / "judged")]) == 0
    assert read(tmp_path / "judged").size == 5


def test_a_form_counts_once(benchmark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["judge", "draw", str(benchmark), "--samples", "1", "--size", "6", "--out", str(tmp_path / "forms")])
    form = str(tmp_path / "forms" / "sample-1.csv")
    fill(Path(form), {})
    assert "named twice" in refusal(capsys, "judge", "read", str(benchmark), form, form)


def test_a_benchmark_without_such_sentences_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no geography benchmark" in refusal(capsys, "judge", "draw", "starter", "--out", str(tmp_path / "forms"))
    assert not (tmp_path / "forms").exists()
