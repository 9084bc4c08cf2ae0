"""Samples of knowledge graphs: plans, stored statements, and faults named by their place."""

import json
from pathlib import Path

import pytest

from probing.formats.knowledge_graph import SamplingPlan, read, read_graph, read_sampling, store
from probing.statements.graph_statements import Sampling, draw
from tests.probing.formats.graph_folder import GraphFolder, fault


@pytest.fixture
def graph(tmp_path: Path) -> GraphFolder:
    return GraphFolder(tmp_path / "capitals")


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"sample": 3}, "sampling.json: 'sample' is unknown"),
        ({"samples": "3"}, "sampling.json: samples cannot be '3'"),
        ({"within_category": 1}, "sampling.json: within_category cannot be 1"),
    ],
)
def test_a_wrong_plan_is_a_fault(graph: GraphFolder, plan: dict[str, object], message: str) -> None:
    graph.files["sampling.json"] = json.dumps(plan)
    fault(graph, message)


def test_a_stored_sample_is_the_same_items(graph: GraphFolder, tmp_path: Path) -> None:
    benchmark = read(graph.write())
    content, plan = read_graph(graph.path), SamplingPlan(Sampling(3, 2), ("Drawn for a test.",))
    store(tmp_path / "stored", content, draw(content, plan.sampling), plan)
    stored = read(tmp_path / "stored")
    assert stored.relations == benchmark.relations
    assert stored.notes == ("The facts are those of triples.tsv.", "Drawn for a test.", benchmark.notes[1])
    assert read_sampling(tmp_path / "stored").sampling == plan.sampling


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"true": "yes"}, "line 1: 'true' must be true or false"),
        ({"repetitions": []}, "line 1: 'repetitions' is not a list of whole numbers"),
        ({"repetitions": [True]}, "line 1: 'repetitions' is not a list of whole numbers"),
        ({"text": ""}, "line 1: 'text' holds ''"),
        ({"relation": "ruler"}, "relation_mapping.json: the field 'ruler' is missing"),
    ],
)
def test_a_wrong_stored_sentence_is_a_fault(graph: GraphFolder, change: dict[str, object], message: str) -> None:
    line = {"text": "Oslo", "head": "a", "relation": "capital", "tail": "b", "true": True, "repetitions": [1]}
    graph.files["sentences.jsonl"] = json.dumps(line | change) + "\n"
    fault(graph, message)
