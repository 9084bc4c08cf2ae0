"""Which items are about a country."""

import pytest

from leaderboard.figures import benchmarks, country_shares
from leaderboard.figures.country_shares import countries_of
from leaderboard.models import Benchmark
from probing.benchmark import Benchmark as Content
from probing.benchmark import Item, Relation
from probing.catalog import EMBEDDED


def relation(name: str, subjects: list[str], options: tuple[str, ...]) -> Relation:
    items = tuple(Item(index, subject, (index % len(options),)) for index, subject in enumerate(subjects))
    return Relation(name, ("[X] [Y]",), options, items)


def countries(monkeypatch: pytest.MonkeyPatch, *relations: Relation) -> dict[tuple[str, int], str]:
    content = Content("made", "1", "0", relations)
    monkeypatch.setattr(country_shares, "read_questions", lambda benchmark: content)
    return dict(countries_of(Benchmark()))


def test_the_subject_names_the_country_where_most_subjects_do(monkeypatch: pytest.MonkeyPatch) -> None:
    made = relation("capital", ["France", "Egypt", "Atlantis"], ("Paris", "Cairo", "Deep"))
    assert countries(monkeypatch, made) == {("capital", 0): "FR", ("capital", 1): "EG"}


def test_else_the_answer_names_it_where_most_answers_do(monkeypatch: pytest.MonkeyPatch) -> None:
    made = relation("city", ["Lyon", "Luxor"], ("France", "Egypt"))
    assert countries(monkeypatch, made) == {("city", 0): "FR", ("city", 1): "EG"}


def test_a_name_that_a_state_shares_with_a_country_is_not_taken_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made = relation("state", ["Georgia", "Texas", "Ohio"], ("Atlanta", "Austin", "Columbus"))
    assert countries(monkeypatch, made) == {}


def test_an_item_with_several_countries_as_answers_belongs_to_none(monkeypatch: pytest.MonkeyPatch) -> None:
    items = (Item(0, "Inn", (0, 1)), Item(1, "Nile", (2,)), Item(2, "Seine", (0,)))
    made = Relation("river", ("[X] [Y]",), ("France", "Austria", "Egypt"), items)
    assert countries(monkeypatch, made) == {("river", 1): "EG", ("river", 2): "FR"}


@pytest.mark.parametrize(("format", "slug", "least"), [("dlama", "culture", 0.99), ("geography", "geography", 0.8)])
def test_most_items_of_the_benchmarks_about_places_have_a_country(
    db: None, format: str, slug: str, least: float
) -> None:
    benchmark = benchmarks.install(format, EMBEDDED / slug, slug)[0]
    assert len(countries_of(benchmark)) / benchmark.items > least
