"""The command baselines: what is reached on a benchmark without a model."""

from pathlib import Path

import pandas as pd
import pytest

from probing.__main__ import main
from probing.catalog import open_benchmark
from tests.probing.command_line.helpers import refusal

FIXTURES = Path(__file__).parents[3] / "fixtures"


def printed(out: Path, *arguments: str) -> "pd.Series[float]":
    assert main(["baselines", *arguments, "--csv", str(out)]) == 0
    return pd.read_csv(out).set_index(["metric", "dimension", "group"])["value"]


def test_the_rarer_answer_is_the_papers_share_of_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Computed anew: of each relation the share of pairs whose finer answer has the smaller count, then their mean."""
    relations = open_benchmark("pairs").relations
    answers = sorted({option for r in relations for item in r.items for option in item.options})
    counts = {answer: len(answer) % 5 for answer in answers}
    (tmp_path / "list").write_text("".join(f"{answer}\t{count}\n" for answer, count in counts.items()))
    values = printed(tmp_path / "out.csv", "pairs", "--frequencies", str(tmp_path / "list"))
    shares = {
        relation.label: sum(counts[i.options[1]] < counts[i.options[0]] for i in relation.items) / len(relation.items)
        for relation in relations
    }
    for label, share in shares.items():
        assert values["rarer_answer", "relation", label] == pytest.approx(share)
    assert values["rarer_answer", "overall", "all"] == pytest.approx(sum(shares.values()) / len(shares))
    assert values["chance", "overall", "all"] == 0.5
    zero = sum(count == 0 for count in counts.values())
    assert f"{zero} of {len(counts)} answers do not occur" in capsys.readouterr().out


def test_a_corpus_gives_the_same_as_a_list_of_its_words(tmp_path: Path) -> None:
    (tmp_path / "corpus").write_text("Europe Europe Europe, France. Asia Asia: Japan\n")
    (tmp_path / "list").write_text("Europe 3\nFrance 1\nAsia 2\nJapan 1\n")
    first = printed(tmp_path / "a.csv", "pairs", "--corpus", str(tmp_path / "corpus"))
    pd.testing.assert_series_equal(first, printed(tmp_path / "b.csv", "pairs", "--frequencies", str(tmp_path / "list")))
    assert first["rarer_answer", "relation", "lies_in"] > 0


def test_multiple_choice_has_chance_and_the_majority_and_open_blanks_have_the_majority_alone(tmp_path: Path) -> None:
    values = printed(tmp_path / "out.csv", "starter")
    chance, majority = (values[metric, "overall", "all"] for metric in ("chance", "majority_answer"))
    assert 0 < chance < 1
    assert chance - 1e-9 <= majority < 1
    of_blanks = printed(tmp_path / "blanks.csv", str(FIXTURES / "geography"))
    assert set(of_blanks.index.get_level_values("metric")) == {"majority_answer"}
    assert 0 < of_blanks["majority_answer", "overall", "all"] < 1


def test_frequencies_need_pairs_of_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "list").write_text("France 3\n")
    assert "no pairs of answers" in refusal(capsys, "baselines", "starter", "--frequencies", str(tmp_path / "list"))
