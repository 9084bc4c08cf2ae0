"""The quiz: typed answers, and where a reader stands among models."""

import pytest
from django.test import Client

from leaderboard.figures.quiz import QuizScore, describe_rank, drawn_questions, mark
from leaderboard.models import Benchmark
from tests.leaderboard import factories as make

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
