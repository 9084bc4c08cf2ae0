"""Benchmark: choosing relations and items."""

import pytest

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadInput


def test_it_selects_relations_and_the_first_items(benchmark: Benchmark) -> None:
    chosen = benchmark.select(["P36", "P36"], limit=1)
    assert [relation.id for relation in chosen.relations] == ["P36"]
    assert [item.subject for item in chosen.relations[0].items] == ["Norway"]


def test_it_selects_everything_by_default(benchmark: Benchmark) -> None:
    assert benchmark.select() == benchmark
    assert benchmark.size == 6


def test_an_unknown_relation_is_answered_with_the_known_ones(benchmark: Benchmark) -> None:
    with pytest.raises(BadInput, match=r"no relation 'P1'.*P30, P36"):
        benchmark.select(["P1"])


def test_a_limit_below_one_is_refused(benchmark: Benchmark) -> None:
    with pytest.raises(BadInput, match="leaves no items"):
        benchmark.select(limit=0)


def test_an_item_overrides_its_relations_tags() -> None:
    relation = Relation("P1", (), (), (), tags={"head": "sea", "language": "en"})
    assert relation.tags_of(Item(0, "a", (0,), tags={"language": "fr"})) == {"head": "sea", "language": "fr"}
