"""/benchmarks/<slug>/items/ : the questions of a benchmark by difficulty."""

from django.test import Client
from pytest_django import DjangoAssertNumQueries

from leaderboard.figures import benchmarks
from leaderboard.figures.questions import question_id
from leaderboard.models import Benchmark, Run
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows

ADDRESS = "/benchmarks/small/items/"


def shares(rows: list[dict[str, str]]) -> list[float]:
    return [float(row["share"]) for row in rows]


def test_the_hardest_questions_come_first_unless_the_easiest_are_asked_for(client: Client, answered: Site) -> None:
    hardest, easiest = csv_rows(client, ADDRESS), csv_rows(client, f"{ADDRESS}?order=easiest")
    assert len(hardest) == answered.benchmark.items
    assert shares(hardest) == sorted(shares(hardest))
    assert shares(easiest) == sorted(shares(easiest), reverse=True)


def test_the_share_is_that_of_all_answers_to_all_wordings(client: Client, answered: Site) -> None:
    rows = {row["id"]: row for row in csv_rows(client, ADDRESS)}
    answers = [
        row
        for run in (answered.first, answered.second)
        for row in csv_rows(client, f"/runs/{run.pk}/items/?relation=P30")
        if row["index"] == "1"
    ]
    assert (int(rows["P30-1"]["answered"]), int(rows["P30-1"]["right"])) == (
        len(answers),
        sum(row["correct"] == "true" for row in answers),
    )


def test_questions_are_found_by_subject_answer_and_relation(client: Client, answered: Site) -> None:
    assert [row["id"] for row in csv_rows(client, f"{ADDRESS}?search=egypt&relation=P30")] == ["P30-1"]
    assert {row["answer"] for row in csv_rows(client, f"{ADDRESS}?search=AFRICA")} == {"Africa"}
    assert csv_rows(client, f"{ADDRESS}?search=nowhere") == []
    assert "No question passes these filters" in client.get(f"{ADDRESS}?search=nowhere").content.decode()


def test_a_benchmark_that_nobody_was_measured_on_promises_no_shares(client: Client, site: Site) -> None:
    Run.objects.all().delete()
    make.restore_figures(site.benchmark)
    page = client.get(ADDRESS).content.decode()
    assert "No model has been measured on all of them yet." in page
    assert "share of right answers" not in page


def test_each_question_links_to_its_page(client: Client, answered: Site) -> None:
    page = client.get(ADDRESS).content.decode()
    for row in csv_rows(client, ADDRESS):
        assert f'href="{ADDRESS}{row["id"]}/"' in page


def test_questions_that_nobody_answered_are_listed_without_a_share(client: Client, small: Benchmark) -> None:
    rows = csv_rows(client, ADDRESS)
    assert len(rows) == small.items
    assert {row["share"] for row in rows} == {""}


def test_a_list_takes_few_queries(
    client: Client, answered: Site, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(12):
        client.get(ADDRESS)


def test_a_benchmark_without_files_has_no_list_and_says_why(client: Client, db: None) -> None:
    make.benchmark("printed")
    response = client.get("/benchmarks/printed/items/")
    assert response.status_code == 404
    assert "not on this site" in response.content.decode()


def test_the_pages_of_a_benchmark_and_of_a_relation_lead_to_its_questions(client: Client, site: Site) -> None:
    address = site.benchmark.get_absolute_url()
    html = client.get(address).content.decode()
    assert f'href="{address}items/"' in html
    assert f'href="{address}try/"' in html
    relation = client.get(f"{address}relations/P30/").content.decode()
    assert f'href="{address}items/P30-0/"' in relation


def test_a_list_of_statements_tells_true_from_false_and_offers_no_quiz(client: Client, db: None) -> None:
    graph = make.shipped("graph")
    truths = {
        question_id(relation, item): item.tags["truth"]
        for relation in benchmarks.read(graph).relations
        for item in relation.items
    }
    assert {row["id"]: row["truth"] for row in csv_rows(client, "/benchmarks/graph/items/")} == truths
    page = client.get("/benchmarks/graph/items/").content.decode()
    assert "True or false" in page
    assert "/benchmarks/graph/try/" not in page
