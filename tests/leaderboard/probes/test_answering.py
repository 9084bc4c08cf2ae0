"""Pages of answering: questions, and the texts that models wrote."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from django.test import Client

from leaderboard.figures import benchmarks
from leaderboard.models import Benchmark, Printed, Run
from leaderboard.models.benchmark import named
from leaderboard.probes.benchmark_words import topic_of
from leaderboard.probes.items import item_url
from probing.language_model import Continuation
from probing.settings import Settings
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.probes.cloze_runs import TRIPLES
from tests.leaderboard.ui.charts.plotted import plotted


class Writes(FakeModel):
    """Gives the same response to every question."""

    def __init__(self, response: str = "They speak French.") -> None:
        super().__init__()
        self.response = response

    def generate(
        self, texts: Iterable[str], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation]:
        return (Continuation(f" {self.response}", [len(self.response) + 1]) for _ in texts)


@pytest.fixture
def run(culture: Benchmark) -> Run:
    answering = Benchmark.objects.get(named("culture:answering"))
    return make.probed(answering, make.model(), Writes(), Settings(probe="answering", options={"chat": False}))


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


@pytest.mark.django_db
def test_facts_of_geography_are_asked_by_wh_questions_and_stand_by_fact_type(client: Client, tmp_path: Path) -> None:
    (tmp_path / "triples.jsonl").write_text("\n".join(map(json.dumps, TRIPLES)))
    geography, _ = benchmarks.install("geography", tmp_path, "geography", probe="answering")
    of = make.probed(
        geography, make.model(), Writes("In France."), Settings(probe="answering", options={"chat": False})
    )
    first = csv_rows(client, f"/runs/{of.pk}/items/")[0]
    assert first["statement"] == "In which country is the city of Paris?"
    by_type = {row["group"]: float(row["value"]) for row in csv_rows(client, f"/runs/{of.pk}/", "fact_type")}
    assert by_type == {"city_country": 0.5, "desert_continent": 0, "river_countries": 0}
    (row,) = csv_rows(client, "/benchmarks/geography:answering/")
    assert float(row["accuracy_substring"]) == pytest.approx(1 / 7)


def test_the_page_of_a_question_has_what_is_stored_of_it_and_no_options(client: Client, run: Run) -> None:
    item = next(row for row in csv_rows(client, f"/runs/{run.pk}/items/") if row["subject"] == "France")
    address = item_url(run, {**item, "template": 0})
    page = client.get(address)
    assert "options" not in page.context
    facts = {fact["name"]: fact["stored"] for fact in csv_rows(client, address, "facts")}
    assert "What do people of France speak?" in facts.values()
    assert "They speak French." in facts.values()


def test_the_board_has_a_chart_of_both_cultures_with_the_figures_of_its_table(client: Client, run: Run) -> None:
    page = client.get("/benchmarks/culture:answering/")
    plot = plotted(page.context["gaps"].figure)
    assert [(trace.name, list(trace.x)) for trace in plot.data if trace.name in ("Arab", "West")] == [
        ("Arab", [0.0]),
        ("West", [pytest.approx(2 / 3)]),
    ]
    rows = csv_rows(client, "/benchmarks/culture:answering/")
    (row,) = (row for row in rows if row["model"] == run.model.hub_id)
    assert [float(row[name]) for name in ("first", "second", "gap")] == [
        0.0,
        pytest.approx(2 / 3),
        pytest.approx(-2 / 3),
    ]


def test_a_run_has_its_gap_and_both_sides_of_each_predicate(client: Client, run: Run) -> None:
    page = client.get(f"/runs/{run.pk}/")
    assert page.context["probe"]["charts"]["predicates"].title == "Arab and West, asked in English"
    assert "Substring accuracy by relation and culture" in page.content.decode()
    rows = csv_rows(client, f"/runs/{run.pk}/", "predicates")
    assert [(row["relation"], float(row["gap"])) for row in rows] == [
        ("all", pytest.approx(-2 / 3)),
        ("P37", pytest.approx(-2 / 3)),
    ]


@pytest.fixture
def ranked_run(culture: Benchmark) -> Run:
    return make.probed(culture, make.model("org/ranked"), FakeModel(), culture.settings_with({}))


def test_the_boards_of_two_probes_share_no_run(client: Client, run: Run, ranked_run: Run) -> None:
    def models(address: str) -> set[str]:
        rows = csv_rows(client, address)
        return {row["model"] for row in rows} & {run.model.hub_id, ranked_run.model.hub_id}

    assert models("/benchmarks/culture/") == {"org/ranked"}
    assert models("/benchmarks/culture:answering/") == {run.model.hub_id}


def test_the_pages_of_a_benchmark_link_its_probes(client: Client, culture: Benchmark) -> None:
    for name, current in (("culture", "ranking"), ("culture:answering", "answering")):
        links = client.get(f"/benchmarks/{name}/").context["probes"]
        assert [(link.title, link.href) for link in links] == [
            ("ranking", "/benchmarks/culture/"),
            ("answering", "/benchmarks/culture:answering/"),
        ]
        assert [link.title for link in links if link.current] == [current]


def test_pairs_of_cultures_are_one_topic_whatever_probe_asks(culture: Benchmark) -> None:
    boards = [Benchmark.objects.get(named(name)) for name in ("culture", "culture:answering")]
    assert [topic_of(board) for board in boards] == ["Cultures", "Cultures"]


def test_the_page_shows_a_question_as_it_is_asked(client: Client, culture: Benchmark) -> None:
    example = client.get("/benchmarks/culture:answering/").context["example"]
    assert example["before"] == "What do people of Egypt speak? "


def test_every_page_of_the_benchmark_is_there_for_the_probe(client: Client, run: Run) -> None:
    questions = csv_rows(client, "/benchmarks/culture:answering/items/")
    assert questions
    for address in (
        "/benchmarks/culture:answering/items/",
        f"/benchmarks/culture:answering/items/{questions[0]['id']}/",
        "/benchmarks/culture:answering/relations/P37/",
        "/submit/?benchmark=culture:answering",
    ):
        assert client.get(address).status_code == 200, address
    assert client.get("/benchmarks/culture:guessing/").status_code == 404


def test_the_overview_has_the_main_probe_only(client: Client, run: Run, ranked_run: Run) -> None:
    rows = {row["model"]: row for row in csv_rows(client, "/")}
    assert "org/ranked" in rows
    assert run.model.hub_id not in rows


def test_tables_and_the_api_name_probes(client: Client, run: Run, ranked_run: Run) -> None:
    names = {run.pk: client.get(f"/api/v1/runs/{run.pk}").json()["benchmark"]["name"] for run in (run, ranked_run)}
    assert names == {run.pk: "culture:answering", ranked_run.pk: "culture"}
    for one, name in names.items():
        board = client.get(f"/benchmarks/{name}/?format=json").json()
        assert {row["run"] for row in board} & set(names) == {one}
    body = {"model": "org/model", "benchmark": "culture:answering"}
    answer = client.post("/api/v1/submit", body, content_type="application/json").json()
    assert answer["benchmark"] == "culture:answering"


def test_published_figures_of_the_probe_stand_on_its_board(client: Client, db: None) -> None:
    make.published_figures()
    by_board = {
        name: set(Printed.objects.filter(named(name, "benchmark__")).values_list("model__hub_id", flat=True))
        for name in ("dlama", "dlama:answering")
    }
    assert by_board["dlama:answering"] == {"published/gpt3.5-turbo"}
    assert by_board["dlama"].isdisjoint(by_board["dlama:answering"])
    assert b"gpt3.5-turbo" in client.get("/benchmarks/dlama:answering/").content
    assert b"gpt3.5-turbo" not in client.get("/benchmarks/dlama/").content


def test_published_figures_of_single_predicates_have_a_chart_of_both_cultures(client: Client, db: None) -> None:
    make.published_figures()
    address, name = "/benchmarks/dlama:answering/", "predicates"
    page = client.get(address)
    chart = page.context["probe"]["charts"][name]
    assert "GPT3.5-turbo (Keleg et al. 2023)." in page.content.decode()
    assert 'href="?part=arab-west+ar#section-predicates"' in page.content.decode()
    rows = {row["relation"]: row for row in csv_rows(client, address, name)}
    assert (float(rows["P36"]["first"]), float(rows["P36"]["second"])) == (0.955, 0.947)
    assert sorted(plotted(chart.figure).data[0].x) == sorted(float(row["first"]) for row in rows.values())
    arabic = {row["relation"]: row for row in csv_rows(client, f"{address}?part=arab-west+ar", name)}
    assert arabic["P36"] != rows["P36"]


def test_pairs_and_languages_are_chosen_on_the_form_and_never_share_a_list(client: Client, culture: Benchmark) -> None:
    form = client.get("/submit/?benchmark=culture").context["form"]
    assert form.fields["set-language"].choices == [("", "all"), ("ar", "Arabic"), ("en", "English")]
    form = client.get("/submit/?benchmark=culture:answering").context["form"]
    assert "set-language" not in form.fields, "there are questions in one language only"
    one, other = (
        make.probed(culture, make.model(), FakeModel(), culture.settings_with({"language": language}))
        for language in ("en", "ar")
    )
    assert one.settings_group == "language en"
    assert other.settings_group == "language ar"


def test_open_questions_have_a_board_of_answers(client: Client, db: None, tmp_path: Path) -> None:
    metadata = "{'topic': 'Art', 'answer_type': 'Person'}"
    (tmp_path / "qa.csv").write_text(f'metadata,problem,answer\n"{metadata}",Who speaks what?,French\n')
    benchmark = benchmarks.install("open_questions", tmp_path, "simpleqa")[0]
    assert (benchmark.probe, benchmark.main) == ("answering", True)
    run = make.probed(benchmark, make.model(), Writes(), Settings(probe="answering"))
    (row,) = csv_rows(client, "/benchmarks/simpleqa/")
    assert (row["model"], float(row["accuracy_substring"])) == (run.model.hub_id, 1)
    assert client.get(run.get_absolute_url()).context["headline"]["title"] == "Substring accuracy"
    (question,) = csv_rows(client, f"/runs/{run.pk}/items/")
    assert question["statement"] == "Who speaks what?"
