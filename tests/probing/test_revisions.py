"""Revisions by name: the steps and tokens that the names of published checkpoints state."""

import pytest

from probing.revisions import Position, position


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("step1000", Position(1000)),
        ("step0", Position(0)),
        ("step-143000", Position(143_000)),
        ("checkpoint-500", Position(500)),
        ("runs/checkpoint-500", Position(500)),
        ("step1000-tokens4B", Position(1000, 4 * 10**9)),
        ("step557000-tokens2464B", Position(557_000, 2_464 * 10**9)),
        ("stage1-step1000-tokens2.5B", Position(1000, 2_500_000_000)),
        ("ckpt_200k", Position(200_000)),
        ("iter_0001000", Position(1000)),
        ("global_step1000", Position(1000)),
        ("global-step-7", Position(7)),
        ("0042", Position(42)),
    ],
)
def test_the_step_and_the_tokens_of_a_revision_are_read_from_its_name(name: str, expected: Position) -> None:
    assert position(name) == expected


@pytest.mark.parametrize(
    "name", ["main", "", "v1.0", "stepwise", "step", "footstep9x", "1.5", "0" * 40 + "a", "3f2c" * 10]
)
def test_a_name_without_a_step_has_no_position(name: str) -> None:
    assert position(name) is None
