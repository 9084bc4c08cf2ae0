import argparse
from pathlib import Path

import pytest

from probing.__main__ import main, parser
from probing.command_line.sites import plan_of, token_of
from probing.errors import BadInput
from probing.remote.connection import TOKEN_VARIABLE


def parsed(*words: str) -> argparse.Namespace:
    return parser().parse_args(["work", "https://site.example", *words])


def test_the_token_comes_from_the_command_a_file_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("from a file\n")
    monkeypatch.setenv(TOKEN_VARIABLE, "from the environment")
    assert token_of(parsed("--token", "T")) == "T"
    assert token_of(parsed("--token-file", str(tmp_path / "token"))) == "from a file"
    assert token_of(parsed()) == "from the environment"
    with pytest.raises(BadInput, match="cannot be read as a token"):
        token_of(parsed("--token-file", str(tmp_path / "none")))
    monkeypatch.delenv(TOKEN_VARIABLE)
    with pytest.raises(BadInput, match=r"There is no token\. Set CLOZEBOARD_TOKEN"):
        token_of(parsed())


def test_the_plan_is_what_the_command_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example/")
    words = ["--lanes", "default, large", "--device", "cuda:1", "--memory-gb", "80", "--once", "--max-runs", "3"]
    plan = plan_of(parsed(*words, "--idle-exit", "60", "--cache", str(tmp_path)))
    assert (plan.lanes, plan.device, plan.memory) == (("default", "large"), "cuda:1", 80 * 10**9)
    assert (plan.once, plan.max_runs, plan.idle_exit) == (True, 3, 60)
    assert (plan.cache, plan.hub) == (tmp_path, "https://mirror.example")


def test_the_cache_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert plan_of(parsed()).cache == tmp_path / "clozeboard"


@pytest.mark.parametrize("words", [["--max-runs", "0"], ["--idle-exit", "nan"], ["--memory-gb", "-1"]])
def test_numbers_that_make_no_sense_are_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed(*words)
    assert capsys.readouterr().err.startswith("error: argument")


def test_a_site_that_does_not_answer_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "T")
    assert main(["work", "ftp://site.example"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_worker_takes_no_more_than_one_device() -> None:
    with pytest.raises(BadInput, match=r"not on cuda:0,cuda:1\. Start a worker for each"):
        plan_of(parsed("--device", "cuda:0,cuda:1"))
