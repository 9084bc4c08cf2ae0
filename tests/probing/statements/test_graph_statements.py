"""Statements of a knowledge graph: what is drawn, how hard it is, that it stays the same, and its words."""

from collections import Counter

import pytest

from probing.errors import BadBenchmark, BadInput
from probing.statements.graph_statements import Graph, GraphStatement, Sampling, Triple, draw


def test_a_triple_becomes_a_sentence_for_each_phrasing_of_its_relation() -> None:
    graph = Graph({"no": "Norway", "rhine": "Rhine"}, {"river": ("Through {TAIL} flows the {HEAD}",)}, ())
    assert graph.sentences(Triple("rhine", "river", "no")) == ("Through Norway flows the Rhine",)
    graph = Graph({"a": "A", "b": "B"}, {"r": ("{HEAD} is {TAIL}", "{TAIL} is what {HEAD} is")}, ())
    assert graph.sentences(Triple("a", "r", "b")) == ("A is B", "B is what A is")
    graph = Graph({"a": "{TAIL}", "b": "{HEAD}"}, {"r": ("{HEAD} is {TAIL}",)}, ())
    assert graph.sentences(Triple("a", "r", "b")) == ("{TAIL} is {HEAD}",)
    graph = Graph({"a": "A", "b": "B"}, {"r": ("",)}, (), wording=lambda *parts: (" ".join(parts),))
    assert graph.sentences(Triple("a", "r", "b")) == ("A r B",)


def test_a_triple_of_an_unnamed_entity_has_no_sentence() -> None:
    with pytest.raises(KeyError, match="oslo"):
        Graph({"no": "Norway"}, {"capital": ("{HEAD} {TAIL}",)}, ()).sentences(Triple("no", "capital", "oslo"))


CAPITALS = {"norway": "oslo", "kenya": "nairobi", "peru": "lima", "japan": "tokyo"}
RIVERS = {"rhine": "norway", "tana": "kenya", "amazon": "peru"}
TRIPLES = tuple(
    Triple(head, relation, tail)
    for relation, facts in (("capital", CAPITALS), ("river", RIVERS))
    for head, tail in facts.items()
)
NAMES = {entity: entity.capitalize() for triple in TRIPLES for entity in (triple.head, triple.tail)}
TEMPLATES = {"capital": ("The capital of {HEAD} is {TAIL}",), "river": ("Through {TAIL} flows the {HEAD}",)}
CATEGORIES = {
    **dict.fromkeys(CAPITALS, ("country",)),
    **dict.fromkeys(CAPITALS.values(), ("city",)),
    **dict.fromkeys(RIVERS, ("river",)),
}
GRAPH = Graph(NAMES, TEMPLATES, TRIPLES)
WITH_CATEGORIES = Graph(NAMES, TEMPLATES, TRIPLES, CATEGORIES)


def false_ones(graph: Graph, **options: int | bool) -> list[GraphStatement]:
    sampling = Sampling(samples=200, repetitions=1, **options)  # type: ignore[arg-type]
    return [sentence for sentence in draw(graph, sampling) if not sentence.true]


def fewest_changes(triple: Triple) -> int:
    """How many parts set the triple apart from the nearest true one."""
    return min(sum(a != b for a, b in zip(triple, true, strict=True)) for true in TRIPLES)


def test_true_sentences_are_those_of_the_graph_and_no_false_one_is() -> None:
    true_texts = {GRAPH.sentences(triple)[0] for triple in TRIPLES}
    statements = draw(GRAPH, Sampling(samples=7, repetitions=20))
    assert {sentence.texts[0] for sentence in statements if sentence.true} == true_texts
    assert true_texts.isdisjoint(sentence.texts[0] for sentence in statements if not sentence.true)


def test_a_repetition_draws_as_many_false_as_true_ones() -> None:
    statements = draw(GRAPH, Sampling(samples=5, repetitions=3))
    counts = Counter((r, sentence.true) for sentence in statements for r in sentence.repetitions)
    assert counts == {(repetition, true): 5 for repetition in (1, 2, 3) for true in (True, False)}


def test_true_triples_come_once_a_repetition_if_there_are_enough_and_again_if_there_are_too_few() -> None:
    statements = draw(GRAPH, Sampling(samples=7, repetitions=1))
    assert all(sentence.repetitions == (1,) for sentence in statements if sentence.true)
    statements = draw(GRAPH, Sampling(samples=50, repetitions=1))
    assert sum(len(sentence.repetitions) for sentence in statements if sentence.true) == 50
    statements = draw(GRAPH, Sampling(samples=7, repetitions=4))
    assert len({(sentence.texts[0], sentence.true) for sentence in statements}) == len(statements)
    assert {sentence.repetitions for sentence in statements if sentence.true} == {(1, 2, 3, 4)}


def test_the_seed_decides_what_is_drawn_and_fewer_repetitions_are_the_beginning_of_more() -> None:
    assert draw(GRAPH, Sampling(5, 2)) == draw(GRAPH, Sampling(5, 2))
    assert draw(GRAPH, Sampling(5, 2)) != draw(GRAPH, Sampling(5, 2, seed=1))
    few = draw(GRAPH, Sampling(5, 2))
    assert [sentence.texts[0] for sentence in draw(GRAPH, Sampling(5, 4))][: len(few)] == [s.texts[0] for s in few]


@pytest.mark.parametrize("parts", [1, 2])
def test_that_many_parts_of_a_true_triple_are_drawn_anew(parts: int) -> None:
    assert {fewest_changes(sentence.triple) for sentence in false_ones(GRAPH, resampled=parts)} <= set(
        range(1, parts + 1)
    )
    assert max(fewest_changes(sentence.triple) for sentence in false_ones(GRAPH, resampled=parts)) == parts


def test_with_three_parts_every_relation_and_entity_is_as_likely() -> None:
    relations = Counter(sentence.triple.relation for sentence in false_ones(GRAPH) for _ in sentence.repetitions)
    assert 70 < relations["river"] < 130
    assert {sentence.triple.head for sentence in false_ones(GRAPH)} == set(NAMES)


def test_categories_from_the_file_are_kept_part_by_part() -> None:
    for sentence in false_ones(WITH_CATEGORIES, resampled=1, within_category=True):
        head, relation, tail = sentence.triple
        expected = (("country",), ("city",)) if relation == "capital" else (("river",), ("country",))
        assert (CATEGORIES[head], CATEGORIES[tail]) == expected


def test_without_categories_an_entity_is_of_the_position_in_which_it_was_seen() -> None:
    for sentence in false_ones(GRAPH, resampled=2, within_category=True):
        head, relation, tail = sentence.triple
        facts = CAPITALS if relation == "capital" else RIVERS
        assert head in facts and tail in facts.values()


def test_a_relation_is_replaced_by_one_with_the_same_kinds_of_ends() -> None:
    """`governed` has countries and cities at its ends as `capital` has, `river` has not."""
    governed = Triple("norway", "governed", "lima")
    templates = {**TEMPLATES, "governed": ("{HEAD} is governed from {TAIL}",)}
    graph = Graph(NAMES, templates, (*TRIPLES, governed), CATEGORIES)
    rivers = [s for s in false_ones(graph, resampled=1, within_category=True) if s.triple.head in RIVERS]
    assert {sentence.triple.relation for sentence in rivers} == {"river"}
    countries = [s for s in false_ones(graph, resampled=1, within_category=True) if s.triple.head in CAPITALS]
    assert {sentence.triple.relation for sentence in countries} == {"capital", "governed"}


def test_a_triple_that_says_the_same_as_a_true_one_is_not_false() -> None:
    twins = Graph(
        {"a.1": "A", "a.2": "A", "b": "B", "c": "C"},
        {"r": ("{HEAD} is {TAIL}",)},
        (Triple("a.1", "r", "b"), Triple("a.2", "r", "c")),
    )
    false = {sentence.texts[0] for sentence in false_ones(twins)}
    assert false.isdisjoint({"A is B", "A is C"})
    assert "B is A" in false


def test_a_graph_without_false_statements_is_told() -> None:
    full = Graph({"a": "A"}, {"r": ("{HEAD} is {TAIL}",)}, (Triple("a", "r", "a"),))
    with pytest.raises(BadBenchmark, match="No false statement was found in 1000 draws"):
        draw(full, Sampling(2, 1))


def test_every_statement_has_each_phrasing_and_none_of_a_false_one_is_true() -> None:
    """With the second phrasing alone, (A, r, B) and (B, r, A) say the same, so that the latter is not false."""
    symmetric = Graph(
        {"a": "A", "b": "B", "c": "C"},
        {"r": ("{HEAD} loves {TAIL}", "{HEAD} and {TAIL}"), "s": ("{TAIL} is loved by {HEAD}", "{TAIL} and {HEAD}")},
        (Triple("a", "r", "b"), Triple("c", "s", "a")),
    )
    statements = draw(symmetric, Sampling(samples=100, repetitions=1))
    assert all(len(sentence.texts) == 2 for sentence in statements)
    assert ("A loves B", "A and B") in {sentence.texts for sentence in statements if sentence.true}
    false = {text for sentence in statements if not sentence.true for text in sentence.texts}
    assert false.isdisjoint({"A loves B", "A and B", "A is loved by C", "A and C"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 1}, "samples cannot be 1. Give 2 or more."),
        ({"repetitions": 0}, "repetitions cannot be 0"),
        ({"resampled": 4}, "A triple has three parts, not 4"),
    ],
)
def test_impossible_samplings_are_refused(options: dict[str, int], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Sampling(**options)  # type: ignore[arg-type]


def test_a_ladder_has_the_same_true_statements_and_as_many_false_ones_at_each_level() -> None:
    statements = draw(WITH_CATEGORIES, Sampling(samples=5, repetitions=2, ladder=True))
    counts = Counter(s.level for s in statements for _ in s.repetitions)
    names = [f"{parts} of 3 parts{where}" for where in ("", " within their categories") for parts in (3, 2, 1)]
    assert counts == dict.fromkeys(["true", *names], 10)
    assert {s.level == "true" for s in statements if s.true} == {True}
    hardest = [s for s in statements if s.level.startswith("1 of 3")]
    assert {fewest_changes(s.triple) for s in hardest} == {1}
