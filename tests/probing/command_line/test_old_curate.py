"""The options of version 0.2 make the plans that files make, and one line shows such a file."""

import shlex
from pathlib import Path

import pytest
import yaml

from probing.__main__ import main, parser
from probing.command_line.old_curate import old_plan
from probing.curation.plan_file import Servers, checked_plan
from tests.probing.command_line.helpers import printed_by, refusal

PAIRS = "--culture arab west --languages en es --name two --pair asia-west"


@pytest.mark.parametrize(
    ("words", "content"),
    [
        (
            f"culture --predicate P36 P37 --at-most 5 --stricter {PAIRS}",
            {
                "kind": "culture",
                "predicates": ["P36", "P37"],
                "at_most": 5,
                "stricter": True,
                "pairs": ["asia-west", {"name": "two", "cultures": ["arab", "west"], "languages": ["en", "es"]}],
            },
        ),
        (
            "geography --fact-type country_capital --top 10 --aliases",
            {"kind": "geography", "fact_types": ["country_capital"], "top": 10, "aliases": True},
        ),
        (
            "specificity --relation P19 --tokenizer gpt2 --seed 3",
            {"kind": "specificity", "relations": ["P19"], "tokenizers": ["gpt2"], "seed": 3},
        ),
        (
            "graph --property P36 --template 'P36=[Y] = [X].' --endpoint http://a.b --interval 0",
            {
                "kind": "graph",
                "properties": ["P36"],
                "templates": {"P36": ["[Y] = [X]."]},
                "endpoint": {"url": "http://a.b", "interval": 0},
            },
        ),
        (
            "multiple-choice --property P36 --language es --template 'P36=[X] [Y].' --domain P36=A --domain P36=B",
            {
                "kind": "multiple-choice",
                "properties": ["P36"],
                "language": "es",
                "templates": {"P36": "[X] [Y]."},
                "domains": {"P36": ["A", "B"]},
            },
        ),
        (
            "translate --source made --language fr --templates own",
            {"kind": "translation", "source": "made", "languages": ["fr"], "templates": "own"},
        ),
    ],
)
def test_old_options_make_the_plan_of_the_file_that_is_shown(
    words: str, content: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    made = old_plan(parser(["curate"]).parse_args(["curate", *shlex.split(words)]))
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    shown = yaml.safe_load(told.partition("in the file: ")[2])
    assert made == checked_plan(content, Path(), "plan.yaml") == checked_plan(shown, Path(), "plan.yaml")


def test_old_options_have_the_usual_servers_and_print_queries(capsys: pytest.CaptureFixture[str]) -> None:
    made = old_plan(parser(["curate"]).parse_args(["curate", "graph", "--property", "P36"]))
    assert made is not None
    assert made[2] == Servers()
    assert "SELECT DISTINCT" in printed_by(capsys, "curate", "graph", "--property", "P36", "--print-query")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("graph --property P36 --template P36", "P36=TEXT"),
        ("graph --property P36 --top 3", "graph has no --top"),
        ("graph --property P36 --at-most many", "at_most cannot be 'many'"),
        ("plan.yaml --at-most 3", "The file says what is curated, not --at_most"),
    ],
)
def test_old_options_that_do_not_fit_are_refused(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert message in refusal(capsys, "curate", *shlex.split(words))


def test_the_help_shows_the_file_and_no_old_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["curate", "--help"])
    shown = capsys.readouterr().out
    assert "PLAN.yaml" in shown
    assert "--property" not in shown and "--interval" not in shown and "--print-query" not in shown
