"""The human checks of `paper geography`: samples for people, verdicts of a model, and what judges refuse."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

import probing
from probing.__main__ import main
from probing.formats.geography import read
from probing.judging import write_form
from tests.probing.command_line.helpers import printed_by, refusal
from tests.probing.judged import rows, write_benchmark


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


def drawn(benchmark: Path, out: Path) -> Path:
    """Draw samples of all six sentences, and return the form of the first."""
    assert main(["paper", "geography", "--judge", str(benchmark), "--sample", "6", "--out", str(out)]) == 0
    return out / "sample-1.csv"


def test_forms_are_drawn_filled_and_read(benchmark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ann, ben = (drawn(benchmark, tmp_path / name) for name in ("ann", "ben"))
    assert len(rows(ann)) == 6
    fill(ann, {"Lyon": "no", "Nice": "no"})
    fill(ben, {"Lyon": "no"})
    capsys.readouterr()
    read_back = ("paper", "geography", "--judge", str(benchmark), "--forms", str(ann), str(ben))
    printed = printed_by(capsys, *read_back, "--out", str(tmp_path / "judged"))
    assert "leaves out 1 refused sentences and 0 templates" in printed
    assert printed.splitlines()[1].split() == ["1", "factual", "2", "6", "0.75", "0.8333", "0.5714"]
    assert read(tmp_path / "judged").size == read(benchmark).size - 1


def test_a_model_judges_a_finished_benchmark(
    benchmark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(probing, "Judge", SimpleNamespace(load=lambda model: OnlyFrance()))
    judge = ("paper", "geography", "--judge", str(benchmark))
    printed = printed_by(capsys, *judge, "--models", "some-model", "--out", str(tmp_path / "model"))
    assert "1 of 6 sentences are unacceptable to the model" in printed
    verdicts = {row["sentence"]: row["grammatical"] for row in rows(tmp_path / "model" / "model.csv")}
    assert [sentence for sentence, verdict in verdicts.items() if verdict == "no"] == [
        "Nice is a city located in France."
    ]
    assert (tmp_path / "model" / "report.json").is_file()
    form = str(tmp_path / "model" / "model.csv")
    assert main([*judge, "--forms", form, "--out", str(tmp_path / "judged")]) == 0
    assert read(tmp_path / "judged").size == 5


def test_a_form_counts_once(benchmark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    form = drawn(benchmark, tmp_path / "forms")
    fill(form, {})
    forms = ("--forms", str(form), str(form))
    assert "named twice" in refusal(capsys, "paper", "geography", "--judge", str(benchmark), *forms)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("geography", "--judge", "starter", "--out", "forms"), "no geography benchmark"),
        (("bear", "--judge", "starter", "--out", "forms"), "Only sentences of geography are judged"),
        (("geography", "--judge", "starter"), "There is no folder for the forms"),
        (("geography", "--judge", "starter", "--models", "a", "b", "--out", "forms"), "One model judges at a time"),
        (("geography", "--forms", "ann.csv"), "Give --judge as well"),
    ],
)
def test_what_cannot_be_judged_is_refused(
    arguments: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in refusal(capsys, "paper", *arguments)
    assert not (tmp_path / "forms").exists()
