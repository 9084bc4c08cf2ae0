"""Benchmark: choosing relations and items."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probing.benchmark import Benchmark, Item, Relation, Tags
from probing.errors import BadInput


def test_it_selects_relations_and_the_first_items_and_everything_by_default(benchmark: Benchmark) -> None:
    chosen = benchmark.select(["P36", "P36"], limit=1)
    assert [relation.id for relation in chosen.relations] == ["P36"]
    assert [item.subject for item in chosen.relations[0].items] == ["Norway"]
    assert benchmark.select() == benchmark
    assert benchmark.size == 6


def test_a_notebook_shows_sizes_in_place_of_all_items(benchmark: Benchmark) -> None:
    sizes = f"<Benchmark small {benchmark.version}: 6 items in 2 relations, probe multiple_choice>"
    assert repr(benchmark) == sizes
    assert repr(benchmark["P36"]).startswith("<Relation P36: 2 items, 2 options, ")


def test_what_cannot_be_selected_is_refused_with_what_can(benchmark: Benchmark) -> None:
    with pytest.raises(BadInput, match=r"no relation 'P1'.*P30, P36"):
        benchmark.select(["P1"])
    with pytest.raises(BadInput, match="leaves no items"):
        benchmark.select(limit=0)
    with pytest.raises(BadInput, match="exclude each other"):
        benchmark.select(limit=1, sample=1)
    with pytest.raises(BadInput, match=r"A sample of 0 leaves no items\. Give a sample of 1 or more"):
        benchmark.select(sample=0)
    assert benchmark["P36"].id == "P36"
    with pytest.raises(BadInput, match=r"no relation 'P1'\. Choose from: P30, P36"):
        benchmark["P1"]


@pytest.mark.parametrize(
    ("tags", "is_true"),
    [({"truth": "true"}, True), ({"truth": "false"}, False), ({}, None), ({"truth": "perhaps"}, None)],
)
def test_an_item_tells_whether_it_is_a_true_statement(tags: Tags, is_true: bool | None) -> None:
    assert Item(0, "Chad is in Africa", (0,), tags=tags).is_true is is_true


def relation_of(subjects: Sequence[str], order: Sequence[int] = (), id: str = "P1", **tags: str) -> Relation:
    items = [Item(index, subject, (0,)) for index, subject in enumerate(subjects)]
    return Relation(
        id, ("[X] is [Y].",), ("it",), tuple(items[place] for place in order or range(len(items))), tags=tags
    )


def indices(relation: Relation, sample: int, seed: int = 0) -> list[int]:
    chosen = Benchmark("b", "1", "0", (relation,)).select(sample=sample, seed=seed)[relation.id]
    return [item.index for item in chosen.items]


def test_a_sample_is_spread_evenly_over_the_file() -> None:
    relation = relation_of(["a"] * 10)
    assert indices(relation, 1) == [5]
    assert indices(relation, 2) == [2, 7]
    assert indices(relation, 5) == [1, 3, 5, 7, 9]
    assert indices(relation, 10) == indices(relation, 99) == list(range(10))


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6).filter(any), st.integers(1, 60))
def test_a_sample_of_a_sorted_file_has_every_answer_in_its_share(sizes: list[int], count: int) -> None:
    answers = [str(answer) for answer, size in enumerate(sizes) for _ in range(size)]
    sample = indices(relation_of(answers), count)
    assert len(sample) == min(count, len(answers))
    share = len(sample) / len(answers)
    for answer, size in enumerate(sizes):
        assert abs([answers[index] for index in sample].count(str(answer)) - size * share) <= 1


def test_a_sample_goes_by_the_file_even_where_items_take_turns() -> None:
    turns = [place for pair in zip(range(10), range(10, 20), strict=True) for place in pair]
    relation = relation_of(["Arab"] * 10 + ["West"] * 10, turns)
    chosen = Benchmark("b", "1", "0", (relation,)).select(sample=4)["P1"].items
    assert [item.subject for item in chosen] == ["Arab", "West", "Arab", "West"]
    assert [item.index for item in chosen] == [2, 12, 7, 17]


def test_a_seed_draws_a_sample_that_is_always_the_same() -> None:
    relation = relation_of(["a"] * 100)
    draws = [indices(relation, 10, seed) for seed in (1, 1, 2)]
    assert draws[0] == draws[1] == sorted(draws[0])
    assert len({tuple(draw) for draw in (*draws, indices(relation, 10))}) == 3


def test_draws_are_equal_in_all_languages_of_a_relation() -> None:
    english, arabic = (relation_of(["a"] * 50, id=f"P36.{code}", predicate="P36") for code in ("en", "ar"))
    other = relation_of(["a"] * 50, id="P37.en", predicate="P37")
    assert indices(english, 5, seed=3) == indices(arabic, 5, seed=3) != indices(other, 5, seed=3)


def test_a_note_says_which_items_were_asked_and_that_a_limit_is_no_fair_sample(benchmark: Benchmark) -> None:
    (note,) = benchmark.select(limit=1).notes
    assert "At most 1 items of each relation were asked, the first in its file" in note
    assert "no fair sample" in note
    assert "the setting “sample” draws a fair one." in note
    assert benchmark.select(sample=1).notes == (
        "A sample of at most 1 items of each relation was asked, spread evenly over its file.",
    )
    assert "drawn at random with seed 3" in benchmark.select(sample=1, seed=3).notes[0]


@pytest.mark.parametrize("chosen", [{"limit": 4}, {"sample": 4}, {}])
def test_where_every_item_is_asked_there_is_no_note(benchmark: Benchmark, chosen: dict[str, int]) -> None:
    assert benchmark.select(**chosen).notes == ()  # type: ignore[arg-type]


def test_an_item_overrides_its_relations_tags() -> None:
    relation = Relation("P1", (), (), (), tags={"head": "sea", "language": "en"})
    assert relation.tags_of(Item(0, "a", (0,), tags={"language": "fr"})) == {"head": "sea", "language": "fr"}


def test_a_row_is_found_by_the_label_of_its_relation_and_the_index_of_its_item() -> None:
    arab, west = (
        Relation(f"P36.{name}", (), (), (Item(index, name, (0,)),), tags={"predicate": "P36"})
        for index, name in enumerate(("arab", "west"))
    )
    benchmark = Benchmark("pairs", "1", "0", (arab, west))
    assert (benchmark.relation_of("P36", 0), benchmark.relation_of("P36", 1)) == (arab, west)
    with pytest.raises(BadInput, match=r"Relation P36 has no item 2\."):
        benchmark.relation_of("P36", 2)
