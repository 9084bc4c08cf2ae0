"""Triples as sentences."""

import pytest

from probing.statements.graph import Graph, Triple


def test_a_triple_becomes_a_sentence() -> None:
    graph = Graph({"no": "Norway", "rhine": "Rhine"}, {"river": "Through {TAIL} flows the {HEAD}"}, ())
    assert graph.sentence(Triple("rhine", "river", "no")) == "Through Norway flows the Rhine"


def test_a_triple_of_an_unnamed_entity_has_no_sentence() -> None:
    with pytest.raises(KeyError, match="oslo"):
        Graph({"no": "Norway"}, {"capital": "{HEAD} {TAIL}"}, ()).sentence(Triple("no", "capital", "oslo"))


def test_a_name_may_hold_a_slot() -> None:
    graph = Graph({"a": "{TAIL}", "b": "{HEAD}"}, {"r": "{HEAD} is {TAIL}"}, ())
    assert graph.sentence(Triple("a", "r", "b")) == "{TAIL} is {HEAD}"
