"""Tests of the counts of triples."""

import pytest

from probing.curation.facts import TripleCounts
from probing.errors import Incomplete


def test_reasons_for_dropping_are_counted_and_sorted() -> None:
    counts = TripleCounts(found=5, added=1, kept=2)
    counts.drop("no label", 3)
    counts.drop("no article")
    counts.drop("never", 0)
    assert counts.to_json() == {"found": 5, "added": 1, "dropped": {"no article": 1, "no label": 3}, "kept": 2}
    assert list(counts.to_json()["dropped"]) == ["no article", "no label"]


def test_triples_that_are_neither_kept_nor_dropped_are_an_error() -> None:
    with pytest.raises(Incomplete, match="neither kept nor dropped"):
        TripleCounts(found=3, kept=2).to_json()
