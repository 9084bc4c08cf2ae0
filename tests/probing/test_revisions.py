"""Revisions by name: the steps and tokens that the names of published checkpoints state."""

import pytest

from probing.revisions import position


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("step1000", (1000, None)),
        ("step0", (0, None)),
        ("step-143000", (143_000, None)),
        ("checkpoint-500", (500, None)),
        ("runs/checkpoint-500", (500, None)),
        ("step1000-tokens4B", (1000, 4 * 10**9)),
        ("step557000-tokens2464B", (557_000, 2_464 * 10**9)),
        ("stage1-step1000-tokens2.5B", (1000, 2_500_000_000)),
        ("ckpt_200k", (200_000, None)),
        ("iter_0001000", (1000, None)),
        ("global_step1000", (1000, None)),
        ("global-step-7", (7, None)),
        ("0042", (42, None)),
    ],
)
def test_the_step_and_the_tokens_of_a_revision_are_read_from_its_name(
    name: str, expected: tuple[int, int | None]
) -> None:
    assert position(name) == expected


@pytest.mark.parametrize(
    "name", ["main", "", "v1.0", "stepwise", "step", "footstep9x", "1.5", "0" * 40 + "a", "3f2c" * 10]
)
def test_a_name_without_a_step_has_no_position(name: str) -> None:
    assert position(name) is None
