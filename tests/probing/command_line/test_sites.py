"""The commands `push` and `lm-eval`, which hand results to a site and arguments to the harness."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lm_eval import __main__ as harness
from lm_eval.api.registry import get_model

from probing import extras
from probing.__main__ import main
from probing.remote.connection import TOKEN_VARIABLE
from tests.probing.command_line.helpers import complaint, refusal
from tests.probing.remote.receiving_site import CREATED, ReceivingSite, problem, receiving


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReceivingSite]:
    monkeypatch.setenv(TOKEN_VARIABLE, "from the environment")
    with receiving() as server:
        yield server


def test_every_result_of_a_folder_is_pushed_and_its_page_printed(
    results: list[str], site: ReceivingSite, capsys: pytest.CaptureFixture[str]
) -> None:
    site.answers = [(200, CREATED[1]), CREATED]
    capsys.readouterr()
    folder = Path(results[0]).parent
    assert main(["push", str(folder), "--site", site.url, "--model", "org/name", "--source", "the lab"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"{folder}/a: {site.url}/runs/12/ (finished, was there already)"
    assert second == f"{folder}/b: {site.url}/runs/12/ (finished)"
    assert [upload.token for upload in site.uploads] == ["Bearer from the environment"] * 2
    assert site.uploads[0].fields == {"model": "org/name", "source": "the lab"}


def test_a_result_that_is_refused_does_not_keep_the_others_back(
    results: list[str], site: ReceivingSite, capsys: pytest.CaptureFixture[str]
) -> None:
    site.answers = [problem(400, "bad-result", "The rows do not fit."), CREATED]
    capsys.readouterr()
    folder = Path(results[0]).parent
    assert main(["push", str(folder), "--site", site.url, "--model", "org/name"]) == 1
    message = complaint(capsys)
    assert f"1 of 2 results are not taken: {folder}/a (The rows do not fit. Do that.)" in message
    assert len(site.uploads) == 2


def test_one_revision_is_for_one_result(
    results: list[str], site: ReceivingSite, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    words = ["--site", site.url, "--model", "org/name", "--revision", "step9", "--token", "T"]
    assert "Several results cannot be of one revision" in refusal(capsys, "push", str(Path(results[0]).parent), *words)
    assert main(["push", results[0], *words]) == 0
    assert (site.uploads[0].fields["revision"], site.uploads[0].token) == ("step9", "Bearer T")


@pytest.mark.parametrize(
    "words", [[], ["--help"], ["--model", "clozeboard", "--tasks", "bear", "--", "-x"], ["run", "-h"], ["ls", "tasks"]]
)
def test_all_arguments_are_those_of_the_harness(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []
    monkeypatch.setattr(sys, "argv", ["clozeboard"])
    monkeypatch.setattr(harness, "cli_evaluate", lambda: calls.append(sys.argv))
    assert main(["lm-eval", *words]) == 0
    assert calls == [["lm-eval", *words]]
    assert get_model("clozeboard").__name__ == "ClozeboardLM"


def test_its_own_bad_arguments_end_as_the_harness_ends_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["clozeboard"])
    with pytest.raises(SystemExit) as raised:
        main(["lm-eval", "run", "--no-such-option"])
    assert raised.value.code == 2
    assert "unrecognized arguments: --no-such-option" in capsys.readouterr().err


def test_without_the_harness_one_sentence_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    assert main(["lm-eval", "--model", "clozeboard"]) == 2
    expected = 'The command lm-eval needs the package lm_eval, which is not installed. Install it: pip install "clozeb'
    assert expected in complaint(capsys)
