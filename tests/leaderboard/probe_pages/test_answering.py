"""Pages of answering: questions, and the texts that models wrote."""

from collections.abc import Iterable, Iterator

import pytest
from django.test import Client

from leaderboard.models import Benchmark, Run
from probing.language_model import Continuation
from probing.settings import Settings
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows


class Writes(FakeModel):
    """Gives the same response to every question."""

    def generate(
        self, texts: Iterable[str], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation]:
        return (Continuation(" They speak French.", [5, 11, 18, 19]) for _ in texts)


@pytest.fixture
def run(culture: Benchmark) -> Run:
    Benchmark.objects.update(probe="answering")
    culture.refresh_from_db()
    return make.probed(culture, make.model(), Writes(), Settings(probe="answering", options={"chat": False}))


def test_items_show_the_question_and_the_response(client: Client, run: Run) -> None:
    rows = {row["subject"]: row for row in csv_rows(client, f"/runs/{run.pk}/items/") if row["language"] == "en"}
    assert {subject: row["correct"] for subject, row in rows.items()} == {
        "Egypt": "false",
        "Iraq": "false",
        "France": "true",
        "Canada": "true",
        "Britain": "false",
    }
    assert rows["Egypt"]["statement"] == "What do people of Egypt speak?"
    assert rows["Egypt"]["prediction"] == "They speak French."


def test_the_page_of_a_question_has_what_is_stored_of_it_and_no_options(client: Client, run: Run) -> None:
    item = next(row for row in csv_rows(client, f"/runs/{run.pk}/items/") if row["subject"] == "France")
    address = f"/runs/{run.pk}/items/{item['relation']}/0/{item['index']}/"
    assert set(client.get(address).context["tables"]) == {"facts"}
    facts = {fact["name"]: fact["value"] for fact in csv_rows(client, address, "facts")}
    assert "What do people of France speak?" in facts.values()
    assert "They speak French." in facts.values()


def test_the_leaderboard_has_a_column_for_each_pair_of_cultures(client: Client, run: Run) -> None:
    (row,) = (row for row in csv_rows(client, "/benchmarks/culture/?part=all") if row["model"] == run.model.hub_id)
    assert float(row["accuracy_substring"]) == pytest.approx(0.4)
    assert float(row["culture_pair_arab-west"]) == pytest.approx(0.4)
