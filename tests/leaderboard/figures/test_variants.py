"""Variants of a model: told by names and sizes."""

from typing import Any

import pytest

from leaderboard.figures.variants import folded


def row(hub_id: str, parameters: int | None = None, *on: str) -> dict[str, Any]:
    return {"hub_id": hub_id, "parameters": parameters, "figures": dict.fromkeys(on)}


def firsts(*rows: dict[str, Any]) -> list[str]:
    return [first["hub_id"] for first, _ in folded(rows)]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["org/a-7b", "org/a-7b-Instruct", "org/a-7b-GGUF"], ["org/a-7b"]),
        (["org/a-Instruct-v0.1", "org/a-v0.1"], ["org/a-Instruct-v0.1"]),
        (["org/a-4bit", "org/a-Q4_K_M", "org/a-base"], ["org/a-4bit"]),
        (["org/a-7b", "other/a-7b-Instruct", "org/a-8b"], ["org/a-7b", "other/a-7b-Instruct", "org/a-8b"]),
        (["org/bert-base-cased", "org/bert-large-cased"], ["org/bert-base-cased", "org/bert-large-cased"]),
    ],
)
def test_variants_are_told_by_their_names(names: list[str], expected: list[str]) -> None:
    assert firsts(*map(row, names)) == expected


def test_models_of_another_size_are_no_variants() -> None:
    assert firsts(row("org/a", 10**9), row("org/a-chat", 2 * 10**9)) == ["org/a", "org/a-chat"]
    assert firsts(row("org/a", 10**9), row("org/a-chat", 10**9)) == ["org/a"]


def test_a_variant_is_folded_only_under_a_row_with_figures_on_the_same_benchmarks() -> None:
    assert firsts(row("org/a", None, "bear"), row("org/a-chat", None, "starter")) == ["org/a", "org/a-chat"]
    assert firsts(row("org/a", None, "bear", "starter"), row("org/a-chat", None, "starter")) == ["org/a"]
