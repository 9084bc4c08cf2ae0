"""Tests of command-line options that are derived from the fields of a plan."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from probing.curation.command import add_plan_options, plan_from
from probing.curation.facts import option
from probing.errors import BadInput


@dataclass(frozen=True)
class ExamplePlan:
    source: str
    colours: tuple[str, ...] = field(metadata=option("colours", flag="--colour", metavar="NAME"))
    at_most: int = field(default=5, metadata=option("the most items"))
    order: Literal["up", "down"] = field(default="up", metadata=option("the order"))
    folder: Path | None = field(default=None, metadata=option("a folder", metavar="DIR"))
    texts: Mapping[str, Sequence[str]] = field(
        default_factory=dict, metadata=option("texts", flag="--text", metavar="ID=TEXT")
    )


@pytest.fixture
def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="example")
    add_plan_options(parser, ExamplePlan)
    return parser


def plan(parser: argparse.ArgumentParser, *arguments: str) -> ExamplePlan:
    return plan_from(parser.parse_args(arguments), ExamplePlan, source="test")


def test_options_have_the_defaults_and_the_types_of_the_fields(parser: argparse.ArgumentParser) -> None:
    assert plan(parser, "--colour", "red") == ExamplePlan("test", ("red",))
    arguments = ["--colour", "red", "blue", "--at-most", "7", "--order", "down", "--folder", "here"]
    texts = ["--text", "P36=one", "--text", "P36=two = 2", "--text", "P1= three "]
    assert plan(parser, *arguments, *texts) == ExamplePlan(
        "test", ("red", "blue"), 7, "down", Path("here"), {"P36": ["one", "two = 2"], "P1": ["three"]}
    )


def test_a_field_without_a_default_is_required(
    parser: argparse.ArgumentParser, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parser.parse_args([])
    assert "required: --colour" in capsys.readouterr().err


def test_the_help_names_the_defaults_of_numbers_and_texts(parser: argparse.ArgumentParser) -> None:
    text = parser.format_help()
    assert "--at-most N" in text
    assert "the most items; default: 5" in text
    assert "the order; default: up" in text
    assert "default: ()" not in text
    assert "None" not in text
    assert "source" not in text


@pytest.mark.parametrize("text", ["P36", "P36= "])
def test_an_id_without_a_text_is_refused(parser: argparse.ArgumentParser, text: str) -> None:
    with pytest.raises(BadInput, match="P36=TEXT"):
        plan(parser, "--colour", "red", "--text", text)
