"""The made-up benchmarks for memory: they are read as BEAR's and DLAMA's files are, and have their numbers."""

from pathlib import Path

from probing.catalog import open_benchmark
from speed.made_up import BEAR_OPTIONS, BEAR_RELATIONS, FIRST_RELATION, PREDICATES, write_bear, write_dlama


def test_items_of_bear_are_spread_evenly_over_its_relations(tmp_path: Path) -> None:
    write_bear(tmp_path / "bear", 2 * BEAR_RELATIONS + 1)
    relations = open_benchmark(tmp_path / "bear").relations
    assert sorted(len(relation.items) for relation in relations) == [2] * (BEAR_RELATIONS - 1) + [3]
    assert {len(relation.answer_space) for relation in relations} == {BEAR_OPTIONS}
    assert FIRST_RELATION in {relation.id for relation in relations}


def test_dlama_has_all_candidates_however_few_its_items_are(tmp_path: Path) -> None:
    write_dlama(tmp_path / "dlama", 6 * 500)
    benchmark = open_benchmark(tmp_path / "dlama")
    assert benchmark.probe == "ranking"
    assert len(benchmark.relations) == 6 * len(PREDICATES)
    for relation in benchmark.relations:
        assert len(relation.answer_space) == PREDICATES[relation.label][1]
    assert abs(benchmark.size - 6 * 500) < len(benchmark.relations)


def test_facts_of_dlama_are_about_two_cultures(tmp_path: Path) -> None:
    write_dlama(tmp_path / "dlama", 6 * 500)
    relation = open_benchmark(tmp_path / "dlama")[f"{FIRST_RELATION}.arab-west.en"]
    assert [item.tags["culture"] for item in relation.items[:2]] == ["Arab", "West"]
