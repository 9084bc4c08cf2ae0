"""/benchmarks/<slug>/relations/<relation>/ : the items of a relation and the models on it."""

import re

from django.test import Client
from django.utils.html import escape

from leaderboard.figures import benchmarks
from leaderboard.figures.questions import question_url
from leaderboard.models import Benchmark, Run
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.ui.charts.plotted import plotted


def test_a_relation_whose_items_bring_their_own_options_has_a_page(client: Client, graph: Benchmark) -> None:
    relation = benchmarks.read(graph).relations[0]
    assert not relation.answer_space
    assert client.get(f"/benchmarks/graph/relations/{relation.id}/").status_code == 200


def test_a_relation_that_nothing_is_known_of_is_not_found(client: Client, site: Site) -> None:
    assert client.get("/benchmarks/small/relations/nope/").status_code == 404


def test_runs_with_other_settings_stand_apart_and_have_no_dot(client: Client, db: None) -> None:
    tiny = make.benchmark()
    for name, value, settings in (("a", 0.3, {}), ("b", 0.4, {}), ("part", 0.9, {"limit": 8})):
        make.finished(tiny, value, make.model(f"org/{name}"), settings=settings)
    page = client.get("/benchmarks/tiny/relations/P30/")
    assert [row["model"] for row in csv_rows(client, "/benchmarks/tiny/relations/P30/")][-1] == "org/part"
    assert "Other settings: limit 8" in page.content.decode()
    assert "org/part" not in plotted(page.context["charts"]["models"].figure).to_json()


def test_it_leads_to_its_questions(client: Client, site: Site) -> None:
    html = client.get("/benchmarks/small/relations/P36/").content.decode()
    (address,) = re.findall(r'href="(/benchmarks/small/items/[^"]*)"', html)
    rows = csv_rows(client, address)
    assert {row["id"] for row in rows} == {"P36-0", "P36-1"}


def test_a_question_leads_to_the_same_list_as_its_relation(client: Client, culture_run: Run) -> None:
    benchmark = culture_run.benchmark
    for relation in benchmarks.read(benchmark).relations:
        page = client.get(f"{benchmark.get_absolute_url()}relations/{relation.id}/")
        assert f"culture_pair=arab-west&language={relation.tags['language']}" in page.context["questions"]
        question = client.get(question_url(benchmark, relation, relation.items[0]))
        assert escape(page.context["questions"]) in question.content.decode()


def test_chance_is_that_of_the_relation_as_runs_say(client: Client, db: None) -> None:
    tiny = make.benchmark()
    make.baseline(tiny, 0.1)
    for value in (0.3, 0.4):
        make.score(make.finished(tiny, value), 0.25, "relation", "P30", metric="chance")
    chart = client.get("/benchmarks/tiny/relations/P30/").context["charts"]["models"]
    assert chart.summary.endswith("Ticks mark chance.")
    assert set(next(trace for trace in plotted(chart.figure).data if trace.name == "chance").x) == {0.25}


def test_wordings_are_sentences_with_named_places(client: Client, site: Site) -> None:
    html = client.get("/benchmarks/small/relations/P36/").content.decode()
    wordings = html[html.index("Wordings") : html.index("Answers")]
    assert wordings.count("subject</i>") == wordings.count("(blank)") == wordings.count("<li>") > 1
    assert not re.search(r"\[[XY]\]", html)
