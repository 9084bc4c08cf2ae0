"""/benchmarks/<slug>/try/ : ten questions for a reader, and where a reader stands among models."""

from urllib.parse import urlencode

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from leaderboard.models import Benchmark, Run
from leaderboard.pages.quiz_page import OPTIONS, QuizScore, describe_rank, drawn_questions, mark
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows

ADDRESS = "/benchmarks/small/try/"


def answers(benchmark: Benchmark, right: int, seed: str = "a") -> str:
    """A query string in which the first answers are right and the others wrong."""
    questions = drawn_questions(benchmark, seed)
    chosen = {}
    for place, question in enumerate(questions):
        options = [option for option in question.options if (option in question.item.answers) == (place < right)]
        chosen[f"q{place + 1}"] = options[0]
    return urlencode({"draw": seed, "done": 1, **chosen})


def test_without_a_draw_the_reader_gets_one(client: Client, small: Benchmark) -> None:
    first, second = (client.get(ADDRESS)["Location"] for _ in range(2))
    assert first != second
    assert client.get(first).status_code == 200


def test_the_same_draw_gives_everybody_the_same_questions(client: Client, small: Benchmark) -> None:
    assert client.get(f"{ADDRESS}?draw=abc").content == client.get(f"{ADDRESS}?draw=abc").content
    draws = {tuple(question.item.subject for question in drawn_questions(small, seed)) for seed in "abcdef"}
    assert len(draws) > 1


def test_no_question_is_drawn_twice_and_each_offers_a_right_option(small: Benchmark) -> None:
    for seed in "abcdef":
        questions = drawn_questions(small, seed)
        assert len({(question.relation.label, question.item.index) for question in questions}) == len(questions)
        for question in questions:
            assert sum(option in question.item.answers for option in question.options) == 1
            assert 2 <= len(question.options) <= OPTIONS


def test_a_form_without_script_asks_every_question(client: Client, small: Benchmark) -> None:
    page = client.get(f"{ADDRESS}?draw=a").content.decode()
    assert page.count("<fieldset>") == len(drawn_questions(small, "a"))
    assert '<form class="quiz" method="get">' in page


@pytest.mark.parametrize("right", [0, 3, 6])
def test_the_result_counts_right_answers(client: Client, answered: Site, right: int) -> None:
    page = client.get(f"{ADDRESS}?{answers(answered.benchmark, right)}").content.decode()
    assert f"<h1>{right} of 6 right</h1>" in page


def test_the_result_names_the_models_that_got_each_question(client: Client, answered: Site) -> None:
    rows = csv_rows(client, f"{ADDRESS}?{answers(answered.benchmark, 2)}")
    for question, row in zip(drawn_questions(answered.benchmark, "a"), rows, strict=True):
        right = {
            run.model.hub_id
            for run in (answered.first, answered.second)
            for stored in csv_rows(client, f"/runs/{run.pk}/items/?relation={question.relation.label}&template=0")
            if int(stored["index"]) == question.item.index and stored["correct"] == "true"
        }
        assert set(filter(None, row["right_models"].split("; "))) == right
        assert (row["models_right"], row["models"]) == (str(len(right)), "2")


def test_an_answer_that_was_not_offered_or_is_hostile_counts_as_none(client: Client, answered: Site) -> None:
    hostile = urlencode({"q1": "99", "q2": "<script>alert(1)</script>", "q3": "x" * 500, "q4": "-1"})
    address = f"{ADDRESS}?draw=a&done=1&{hostile}"
    page = client.get(address).content.decode()
    assert "<h1>0 of 6 right</h1>" in page
    assert "<script>alert" not in page
    assert {row["own"] for row in csv_rows(client, address)} == {""}


@pytest.mark.parametrize("seed", ["../x", "A B", "x" * 100, "'--"])
def test_a_draw_of_another_form_is_replaced(client: Client, small: Benchmark, seed: str) -> None:
    response = client.get(f"{ADDRESS}?{urlencode({'draw': seed})}")
    assert response.status_code == 302
    assert client.get(response["Location"]).status_code == 200


def test_nothing_is_written_and_few_queries_are_asked(
    client: Client, answered: Site, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(4) as queries:
        client.get(f"{ADDRESS}?{answers(answered.benchmark, 1)}")
    assert all(query["sql"].startswith("SELECT") for query in queries.captured_queries)


def test_a_benchmark_of_another_kind_says_why_it_cannot_be_tried(client: Client, small: Benchmark) -> None:
    Benchmark.objects.update(probe="perplexity")
    page = client.get(ADDRESS).content.decode()
    assert "cannot be tried here" in page
    assert "true or false" in page


def test_a_benchmark_without_files_cannot_be_tried(client: Client, db: None) -> None:
    make.benchmark("printed")
    assert client.get("/benchmarks/printed/try/?draw=a").status_code == 404
    assert client.get("/benchmarks/nothing/try/").status_code == 404


def test_results_of_a_third_party_are_no_opponents(client: Client, answered: Site) -> None:
    Run.objects.filter(pk=answered.second.pk).update(provenance=Run.Provenance.THIRD_PARTY)
    rows = csv_rows(client, f"{ADDRESS}?{answers(answered.benchmark, 0)}")
    assert {row["models"] for row in rows} == {"1"}


MODELS = [QuizScore(1, "org/best", 9), QuizScore(2, "org/middle", 6), QuizScore(3, "org/last", 2)]


@pytest.mark.parametrize(
    ("right", "words"),
    [
        (10, "above org/best (9 right), the best model here"),
        (9, "level with org/best"),
        (7, "between org/best (9 right) and org/middle (6 right)"),
        (3, "between org/middle (6 right) and org/last (2 right)"),
        (0, "below org/last (2 right), the last model here"),
    ],
)
def test_a_reader_stands_between_the_nearest_models(right: int, words: str) -> None:
    assert words in describe_rank(MODELS, right, 10)


def test_without_models_there_is_none_to_compare_with() -> None:
    assert "none to compare with" in describe_rank([], 5, 10)


@pytest.fixture
def geography(db: None) -> Benchmark:
    return make.shipped("geography")


def test_typed_answers_may_differ_in_case_accents_and_spaces(geography: Benchmark) -> None:
    questions = drawn_questions(geography, "a")
    typed = [f"  {question.answers[0].upper()} " for question in questions]
    assert all(row.right for row in mark(geography, questions, typed, typed=True))
    assert not any(row.right for row in mark(geography, questions, [""] * len(questions), typed=True))


def test_ten_questions_are_of_ten_relations_where_there_are_as_many(geography: Benchmark, client: Client) -> None:
    questions = drawn_questions(geography, "b")
    assert len({question.relation.label for question in questions}) == len(questions) == 10
    page = client.get("/benchmarks/geography/try/?draw=b").content.decode()
    assert page.count('type="text"') == 10


def test_questions_are_in_the_language_of_the_pages(db: None) -> None:
    culture = make.shipped("culture")
    assert {question.relation.tags["language"] for question in drawn_questions(culture, "c")} == {"en"}
