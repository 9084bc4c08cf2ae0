"""/benchmarks/<slug>/relations/<relation>/ : the items of a relation and the models on it."""

import shutil
from pathlib import Path

import pytest
from django.test import Client

from leaderboard.models import Benchmark
from leaderboard.stored import benchmarks
from probing.catalog import EMBEDDED
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows


@pytest.fixture
def graph(db: None) -> Benchmark:
    return benchmarks.install("knowledge_graph", EMBEDDED / "graph", "graph")[0]


def test_a_relation_whose_items_bring_their_own_options_has_a_page(client: Client, graph: Benchmark) -> None:
    relation = benchmarks.read(graph).relations[0]
    assert not relation.answer_space
    address = f"/benchmarks/graph/relations/{relation.id}/"
    assert client.get(address).status_code == 200
    answers = [row["answer"] for row in csv_rows(client, address, "items")]
    assert answers == [item.options[0] for item in relation.items]


def test_every_pair_of_a_relation_shows_its_own_answer(client: Client, pairs: Benchmark) -> None:
    rows = csv_rows(client, "/benchmarks/pairs/relations/lies_in/", "items")
    answers = {row["subject"]: row["answer"] for row in rows}
    assert [answers[city] for city in ("Lyon", "Hamburg", "Naples")] == ["France", "Germany", "Italy"]


def test_a_relation_that_nothing_is_known_of_is_not_found(client: Client, site: Site) -> None:
    assert client.get("/benchmarks/small/relations/nope/").status_code == 404


def test_a_relation_with_nothing_but_figures_has_a_page(client: Client, db: None) -> None:
    make.published(make.benchmark())
    assert client.get("/benchmarks/tiny/relations/P30/").status_code == 200


def test_a_benchmark_whose_files_are_gone_still_shows_its_models(client: Client, site: Site, data: Path) -> None:
    shutil.rmtree(data / site.benchmark.path)
    benchmarks._read_files.cache_clear()
    context = client.get("/benchmarks/small/").context
    assert context["tables"]["relations"].lines == []
    assert context["best"]


def test_the_page_tells_the_plan(client: Client, small: Benchmark) -> None:
    html = " ".join(client.get("/benchmarks/small/").content.decode().split())
    assert "Unless a run chooses otherwise: template 0 only, PLL within_word_l2r, reduction sum." in html
