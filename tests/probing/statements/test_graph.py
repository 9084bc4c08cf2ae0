"""Triples as sentences."""

import pytest

from probing.statements.graph_statements import Graph, Triple


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
