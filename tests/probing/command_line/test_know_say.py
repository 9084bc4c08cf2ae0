"""The command know-say: stored results of one model, asked in three ways, are crossed item by item."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from probing.__main__ import main
from probing.catalog import open_benchmark
from probing.language_model import Continuation
from probing.results.result import Result
from probing.runner import run
from tests.conftest import BearFolder
from tests.fakes import FAKE_CARD, FakeModel
from tests.probing.command_line.helpers import printed_by, refusal

SAYS = {"Chad": "AFRICA!", "Norway": "Asia", "Japan": "The Orient"}


@dataclass
class Speaker(FakeModel):
    """A fake model that gives these answers, and where it may decline declines the questions about other subjects."""

    def generate(
        self, texts: Iterable[str], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation]:
        for text in texts:
            leave = "I don't know." if "say: I don't know" in text else "Atlantis"
            said = next((answer for subject, answer in SAYS.items() if subject in text), leave)
            yield Continuation(f"{said}\nFill in the blank: Europe")


KNOWS = ["Chad is located in Africa.", "Japan is located in Asia."]
Ask = Callable[..., str]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return BearFolder(tmp_path_factory.mktemp("benchmark") / "small").write()


@pytest.fixture(scope="module")
def ask(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Ask:
    def result(
        name: str,
        knows: Sequence[str] = KNOWS,
        model: str = FAKE_CARD.id,
        commit: str = FAKE_CARD.commit,
        **chosen: Any,
    ) -> str:
        out = tmp_path_factory.mktemp("results") / name
        speaker = Speaker(knows=knows, card=replace(FAKE_CARD, id=model, commit=commit))
        run(speaker, open_benchmark(small), out=out, progress=False, **chosen)
        return str(out)

    return result


@pytest.fixture(scope="module")
def three(ask: Ask) -> list[str]:
    said = {"probe": "answering", "chat": False}
    return [ask("known"), ask("said", **said), ask("leave", **said, may_decline=True)]


def test_statements_are_asked_where_a_benchmark_has_no_questions(three: list[str]) -> None:
    rows = Result.load(three[2]).items.set_index("subject")
    assert rows.loc["Chad", "statement"] == (
        "Fill in the blank: Chad is located in ____.\nIf you do not know the answer, say: I don't know."
    )
    assert rows.loc["Chad", "prediction_label"] == "AFRICA!", "what follows the first line is no answer"
    scores = Result.load(three[2]).by(metric="declined")
    assert scores.loc["all", "value"] == pytest.approx((rows["prediction_label"] == "I don't know.").mean())


def test_three_results_tell_what_is_known_said_and_declined(
    three: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    file = tmp_path / "figures.csv"
    printed = printed_by(capsys, "know-say", *reversed(three), "--penalty", "1", "--csv", str(file))
    for words in ("knows_and_does_not_say", "by generation", "with leave to decline", "paired differences"):
        assert words in printed
    table = pd.read_csv(file)
    shares = table[table["from"].isna()].set_index(["way", "group", "metric"]).sort_index()
    of_relation = shares.loc[("by generation", "P30")]
    known = Result.load(three[0]).items.query("relation == 'P30'").set_index("subject")["correct"]
    assert known["Chad"] and known["Japan"]
    assert of_relation.loc["correct", "value"] == pytest.approx(1 / len(known))
    assert of_relation.loc["knows_and_says", "value"] == pytest.approx(1 / len(known))
    assert of_relation.loc["knows_and_does_not_say", "value"] == pytest.approx((known.sum() - 1) / len(known))
    assert set(shares["dimension"]) == {"overall", "relation", "domain", "cardinality"}
    declined = table[(table["group"] == "P30") & (table["metric"] == "declined") & (table["from"] == "by generation")]
    assert declined["value"].tolist() == [pytest.approx(0.25)], "leave to decline adds one of four"


def test_what_comes_of_each_item_is_written(three: list[str], tmp_path: Path) -> None:
    file, figures = tmp_path / "items.csv", tmp_path / "figures.csv"
    assert main(["know-say", *three, "--items", str(file), "--csv", str(figures)]) == 0
    items, by_likelihood = pd.read_csv(file), Result.load(three[0]).items
    assert len(items) == len(by_likelihood)
    chad, norway = (items[items["subject"] == subject].iloc[0] for subject in ("Chad", "Norway"))
    assert chad[["by likelihood", "by generation", "with leave to decline"]].tolist() == [True, *["knows_and_says"] * 2]
    assert norway["by generation"] == ("knows_and_does_not_say" if norway["by likelihood"] else "says_wrong")
    shares = pd.read_csv(figures).query("dimension == 'overall' and way == 'with leave to decline'")
    values = shares[shares["from"].isna()].set_index("metric")["value"]
    for outcome, share in items["with leave to decline"].value_counts(normalize=True).items():
        assert values[outcome] == pytest.approx(share)


def test_the_rows_of_an_item_are_told_apart_where_wordings_meet(ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "items.csv"
    folders = [ask("both", templates=(0, 1)), ask("said-once", probe="answering", chat=False)]
    assert main(["know-say", *folders, "--items", str(file)]) == 0
    items = pd.read_csv(file)
    assert set(items["template"]) == {0, 1}
    assert not items.duplicated(["relation", "template", "index"]).any()


def test_aliases_count(three: list[str], small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "aliases.json"
    file.write_text(json.dumps({"Asia": {"aliases": ["Orient"]}}))
    aliases = ["--benchmark", str(small), "--aliases", str(file)]
    figures = tmp_path / "figures.csv"
    assert main(["know-say", *three, *aliases, "--csv", str(figures)]) == 0
    table = pd.read_csv(figures)
    rows = table[table["from"].isna() & (table["group"] == "P30") & (table["way"] == "by generation")].set_index(
        "metric"
    )
    assert rows.loc["knows_and_says", "value"] == pytest.approx(2 / rows.loc["correct", "n"])
    file.write_text("{}")
    assert "names nothing of the benchmark" in refusal(capsys, "know-say", *three, *aliases)


def test_two_models_are_compared(ask: Ask, three: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    said = ask("said-2", model="fake/instruct", probe="answering", chat=False)
    instruct = [ask("known-2", knows=[], model="fake/instruct"), said]
    assert "\nfrom fake/hash to fake/instruct\n" in printed_by(capsys, "know-say", *three[:2], *instruct)


def test_other_weights_are_another_model(ask: Ask, three: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    known, said = (ask("of-other-weights", commit="1" * 40, **how) for how in ({}, {"probe": "answering"}))
    printed = printed_by(capsys, "know-say", *three[:2], known, said)
    assert "\nfrom fake/hash (0000000) to fake/hash (1111111)\n" in printed
    assert "no result on what it says of fake/hash (0000000)" in refusal(capsys, "know-say", three[0], said)


def test_what_cannot_be_crossed_is_refused(ask: Ask, three: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    again, blanks = ask("again"), ask("blanks", probe="similarity")
    short = ask("short", probe="answering", chat=False, tokens=3, may_decline=True)
    for arguments, words in (
        ([three[0]], "no result on what it says of fake/hash"),
        (three[1:], "no result on what it knows of fake/hash"),
        ([*three, again], "again is a second result of fake/hash by likelihood"),
        ([*three[:2], short], "with leave to decline differ in other settings: tokens: not set and 3"),
        ([three[0], blanks], "neither what is known nor what is said"),
        ([*three, "--penalty", "-1"], "penalty of a wrong answer cannot be -1"),
        ([*three, "--benchmark", "starter"], "Give --aliases as well"),
        ([*three, "--benchmark", "starter", "--aliases"], "starter is another version of the benchmark"),
    ):
        assert words in refusal(capsys, "know-say", *arguments)
