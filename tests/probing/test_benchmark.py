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


def test_a_relation_is_found_by_its_id(benchmark: Benchmark) -> None:
    assert benchmark["P36"].id == "P36"
    with pytest.raises(BadInput, match=r"no relation 'P1'\. Choose from: P30, P36"):
        benchmark["P1"]


def test_a_row_is_found_by_the_label_of_its_relation_and_the_index_of_its_item() -> None:
    arab, west = (
        Relation(f"P36.{name}", (), (), (Item(index, name, (0,)),), tags={"predicate": "P36"})
        for index, name in enumerate(("arab", "west"))
    )
    benchmark = Benchmark("pairs", "1", "0", (arab, west))
    assert (benchmark.relation_of("P36", 0), benchmark.relation_of("P36", 1)) == (arab, west)
    with pytest.raises(BadInput, match=r"Relation P36 has no item 2\."):
        benchmark.relation_of("P36", 2)
