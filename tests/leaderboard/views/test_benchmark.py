"""/benchmarks/<slug>/relations/<relation>/ : the items of a relation and the models on it."""

import pytest
from django.test import Client

from leaderboard.models import Benchmark
from leaderboard.stored import benchmarks
from probing.catalog import EMBEDDED
from tests.leaderboard.views.test_every_page import read_csv


def records(client: Client, address: str, table: str) -> list[dict[str, str]]:
    header, *rows = read_csv(client, f"{address}?format=csv&table={table}")
    return [dict(zip(header, row, strict=True)) for row in rows]


@pytest.fixture
def graph(db: None) -> Benchmark:
    return benchmarks.install("knowledge_graph", EMBEDDED / "graph", "graph")[0]


def test_a_relation_whose_items_bring_their_own_options_has_a_page(client: Client, graph: Benchmark) -> None:
    relation = benchmarks.read(graph).relations[0]
    assert not relation.answer_space
    address = f"/benchmarks/graph/relations/{relation.id}/"
    assert client.get(address).status_code == 200
    answers = [row["answer"] for row in records(client, address, "items")]
    assert answers == [item.options[0] for item in relation.items]


def test_every_pair_of_a_relation_shows_its_own_answer(client: Client, pairs: Benchmark) -> None:
    rows = records(client, "/benchmarks/pairs/relations/lies_in/", "items")
    answers = {row["subject"]: row["answer"] for row in rows}
    assert [answers[city] for city in ("Lyon", "Hamburg", "Naples")] == ["France", "Germany", "Italy"]
