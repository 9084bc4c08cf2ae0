"""/benchmarks/<slug>/items/ : the questions by difficulty, and the page of one with every model's answer."""

import re
from collections import Counter
from urllib.parse import quote

import pandas as pd
import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from leaderboard.figures import benchmarks, item_rows
from leaderboard.figures.questions import QuestionOutcomes, question_id, question_url
from leaderboard.figures.ranks import refresh_standings
from leaderboard.models import Benchmark
from leaderboard.pages.question_page import verdict
from leaderboard.probes.wording import RIGHT_OR_WRONG
from probing.catalog import CATALOG
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows

QUESTIONS = "/benchmarks/small/items/"
ADDRESS = f"{QUESTIONS}P30-1/"


def shares(rows: list[dict[str, str]]) -> list[float]:
    return [float(row["share"]) for row in rows]


def test_the_hardest_questions_come_first_unless_the_easiest_are_asked_for(client: Client, answered: Site) -> None:
    hardest, easiest = csv_rows(client, QUESTIONS), csv_rows(client, f"{QUESTIONS}?order=easiest")
    assert len(hardest) == answered.benchmark.items
    assert shares(hardest) == sorted(shares(hardest))
    assert shares(easiest) == sorted(shares(easiest), reverse=True)


def test_the_share_is_that_of_all_answers_to_all_wordings(client: Client, answered: Site) -> None:
    rows = {row["id"]: row for row in csv_rows(client, QUESTIONS)}
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
    assert [row["id"] for row in csv_rows(client, f"{QUESTIONS}?search=egypt&relation=P30")] == ["P30-1"]
    assert {row["answer"] for row in csv_rows(client, f"{QUESTIONS}?search=AFRICA")} == {"Africa"}
    assert csv_rows(client, f"{QUESTIONS}?search=nowhere") == []
    assert "No question passes these filters" in client.get(f"{QUESTIONS}?search=nowhere").content.decode()


def test_each_question_links_to_its_page(client: Client, answered: Site) -> None:
    page = client.get(QUESTIONS).content.decode()
    for row in csv_rows(client, QUESTIONS):
        assert f'href="{QUESTIONS}{row["id"]}/"' in page


def test_questions_that_nobody_answered_are_shown_without_shares(client: Client, small: Benchmark) -> None:
    rows = csv_rows(client, QUESTIONS)
    assert len(rows) == small.items
    assert {row["share"] for row in rows} == {""}
    page = client.get(QUESTIONS).content.decode()
    assert "No model has been measured on all of them yet." in page
    assert "share of right answers" not in page
    page = client.get(ADDRESS).content.decode()
    assert "Egypt is located in" in page
    assert "No model" in page


def test_a_list_takes_few_queries(
    client: Client, answered: Site, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(12):
        client.get(QUESTIONS)


@pytest.mark.parametrize("question", ["", "P30-1/"], ids=["list", "question"])
def test_the_questions_of_a_benchmark_without_files_are_said_to_be_elsewhere(
    client: Client, db: None, question: str
) -> None:
    make.benchmark("printed")
    response = client.get(f"/benchmarks/printed/items/{question}")
    assert response.status_code == 404
    assert "not on this site" in response.content.decode()


def test_the_page_of_a_benchmark_leads_to_its_questions(client: Client, site: Site) -> None:
    address = site.benchmark.get_absolute_url()
    assert f'href="{address}items/"' in client.get(address).content.decode()


def test_a_list_of_statements_tells_true_from_false(client: Client, db: None) -> None:
    graph = make.shipped("graph")
    truths = {
        question_id(relation, item): item.tags["truth"]
        for relation in benchmarks.read(graph).relations
        for item in relation.items
    }
    assert {row["id"]: row["truth"] for row in csv_rows(client, "/benchmarks/graph/items/")} == truths
    page = client.get("/benchmarks/graph/items/").content.decode()
    assert "True or false" in page


def test_the_page_shows_the_sentence_with_its_blank_and_the_right_answer(client: Client, answered: Site) -> None:
    page = client.get(ADDRESS).content.decode()
    assert "<title>Egypt is located in ____. · " in page
    assert "Egypt is located in" in page.partition("<h1")[2]
    assert "(blank)" in page
    assert "<strong >Africa</strong>" in page


def test_the_page_of_a_run_shows_the_whole_prompt_where_it_is_stored(
    client: Client, answered: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, read = f"{ADDRESS}?run={answered.first.pk}", item_rows.of_item
    assert "The whole prompt" not in client.get(address).content.decode()
    columns = {"prompt": "<s>Egypt is located in [Y]."}
    with_prompts = lambda *item: {number: row | columns for number, row in read(*item).items()}  # noqa: E731
    monkeypatch.setattr(item_rows, "of_item", with_prompts)
    assert "&lt;s&gt;Egypt is located in [Y]." in client.get(address).content.decode()


def test_models_stand_along_a_line_of_sizes_and_lead_to_their_answers(client: Client, answered: Site) -> None:
    rows = {row["model"]: row for row in csv_rows(client, ADDRESS)}
    (trace,) = client.get(ADDRESS).context["charts"]["sizes"].figure.data
    sizes = {run.model.hub_id: run.model.parameters for run in (answered.first, answered.second)}
    assert dict(zip(trace["text"], trace["x"], strict=True)) == sizes
    assert set(trace["customdata"]) == {f"{ADDRESS}?run={run.pk}" for run in (answered.first, answered.second)}
    for model, share in zip(trace["text"], trace["y"], strict=True):
        assert share == int(rows[model]["right"]) / 2
    answered.first.model.parameters = None
    answered.first.model.save()
    assert "sizes" not in client.get(ADDRESS).context["charts"], "one point makes no line"


def test_wrong_answers_are_counted_over_all_wordings(client: Client, answered: Site) -> None:
    rows = csv_rows(client, ADDRESS)
    wrong = Counter(row[f"answer_{n}"] for row in rows for n in (0, 1) if row[f"right_{n}"] == "false")
    instead = client.get(ADDRESS).context["instead"]
    assert {(row["answer"], row["number"], row["of"]) for row in instead} == {(*pair, 4) for pair in wrong.items()}


def test_every_model_has_a_row_with_its_stored_answer_to_each_wording(client: Client, answered: Site) -> None:
    table = {row["model"]: row for row in csv_rows(client, ADDRESS)}
    for run in (answered.first, answered.second):
        rows = make.stored_rows(run)
        of_item = rows[(rows["relation"] == "P30") & (rows["index"] == 1)].set_index("template")
        for template in (0, 1):
            cells = table[run.model.hub_id]
            assert cells[f"answer_{template}"] == of_item.loc[template, "prediction_label"]
            assert cells[f"right_{template}"] == ("true" if of_item.loc[template, "correct"] else "false")
    assert len(table) == 2


def test_difficulty_counts_the_models_that_are_right_in_each_wording(client: Client, answered: Site) -> None:
    wordings = client.get(ADDRESS).context["wordings"]
    rows = pd.concat([make.stored_rows(answered.first), make.stored_rows(answered.second)])
    rows = rows[(rows["relation"] == "P30") & (rows["index"] == 1)]
    assert [(wording["answered"], wording["right"]) for wording in wordings] == [
        (2, int(rows.loc[rows["template"] == template, "correct"].sum())) for template in (0, 1)
    ]


@pytest.mark.parametrize(
    ("shares", "sentence"),
    [
        ([1.0, 0.5, 0.0, 0.0], "1 of 4 models is right in every wording, 1 in some and 2 in none."),
        ([0.0, 0.0], "None of 2 models is right in any wording."),
        ([1.0, 1.0], "All 2 models are right in every wording."),
        ([0.0], "The only model that was asked is right in no wording."),
        ([0.5], "The only model that was asked is right in some wordings."),
    ],
)
def test_the_difficulty_is_a_sentence(monkeypatch: pytest.MonkeyPatch, shares: list[float], sentence: str) -> None:
    of_run = dict(enumerate(shares))
    outcomes = QuestionOutcomes({run: f"org/{run}" for run in of_run}, dict.fromkeys(of_run, ()))
    monkeypatch.setattr(QuestionOutcomes, "share", lambda self, run: of_run[run])
    assert verdict(outcomes, 2, RIGHT_OR_WRONG) == sentence


@pytest.mark.parametrize("slug", [slug for slug, entry in CATALOG.items() if not entry.downloads])
def test_the_questions_of_every_probe_have_a_previous_and_a_next_one(client: Client, db: None, slug: str) -> None:
    benchmark = make.shipped(slug)
    relation = next(relation for relation in benchmarks.read(benchmark).relations if len(relation.items) > 2)
    first, own, last = (question_url(benchmark, relation, item) for item in relation.items[:3])
    page = client.get(own).content.decode()
    assert re.search(rf'<a rel="prev"\s+href="{re.escape(first)}"', page)
    assert re.search(rf'<a rel="next"\s+href="{re.escape(last)}"', page)
    assert f"2 of {len(relation.items)}" in page


def test_the_page_about_a_run_shows_every_option_and_leads_to_all_models(client: Client, answered: Site) -> None:
    response = client.get(f"{ADDRESS}?run={answered.first.pk}&wording=2")
    page = response.content.decode()
    assert {row["option"] for row in response.context["options"]} == {"Africa", "Asia", "Europe"}
    assert [line["model"] for line in csv_rows(client, f"{ADDRESS}?run={answered.first.pk}")] == ["org/first"]
    assert f'<a href="{ADDRESS}">this question in all models</a>' in page
    assert f"/runs/{answered.first.pk}/items/?relation=P30" in page
    assert response.context["after"].endswith(f"?run={answered.first.pk}")


def test_each_wording_of_a_run_has_the_scores_that_are_stored(client: Client, answered: Site) -> None:
    rows = make.stored_rows(answered.second)
    rows = rows[(rows["relation"] == "P30") & (rows["index"] == 1)].set_index("template")
    for template in (0, 1):
        table = csv_rows(client, f"{ADDRESS}?run={answered.second.pk}&wording={template + 1}", "options")
        scores = [float(line["score"]) for line in table]
        assert scores == sorted(rows.loc[template, "scores"], reverse=True)
        (chosen,) = [line["option"] for line in table if line["chosen"] == "true"]
        assert chosen == rows.loc[template, "prediction_label"]


def test_the_answer_of_a_run_on_a_former_version_is_shown(client: Client, answered: Site) -> None:
    Benchmark.objects.filter(pk=answered.benchmark.pk).update(current=False)
    page = client.get(f"{ADDRESS}?run={answered.first.pk}").content.decode()
    assert "Egypt is located in" in page and "Log-probability" in page
    assert "this question in all models" not in page


def test_a_run_that_was_not_asked_a_question_says_so(client: Client, answered: Site) -> None:
    rows = make.stored_rows(answered.first)
    make.replace_rows(answered.first, rows[rows["index"] != 1])
    assert "This run was not asked this wording." in client.get(f"{ADDRESS}?run={answered.first.pk}").content.decode()


def test_the_former_address_of_an_item_leads_to_its_question(client: Client, site: Site) -> None:
    response = client.get(f"/runs/{site.first.pk}/items/P30/0/1/")
    assert response["Location"] == f"{ADDRESS}?run={site.first.pk}&wording=1"
    assert client.get(f"/runs/{site.first.pk}/items/P99/0/0/", follow=True).status_code == 404
    assert client.get("/runs/999999/items/P30/0/1/").status_code == 404


def test_a_run_without_stored_items_has_no_answers_and_says_why(client: Client, site: Site) -> None:
    response = client.get(f"{ADDRESS}?run={make.finished(site.benchmark).pk}")
    assert response.status_code == 404
    assert "no items to show" in response.content.decode()


def test_a_run_that_is_not_on_the_benchmark_is_not_found(client: Client, site: Site) -> None:
    for run in ("999999", "first", "-1", "1" * 30, "<b>"):
        assert client.get(f"{ADDRESS}?run={run}").status_code == 404, run


def test_a_wording_that_was_not_asked_is_the_first_one(client: Client, answered: Site) -> None:
    for wording in ("9", "0", "first"):
        wordings = client.get(f"{ADDRESS}?wording={wording}").context["wordings"]
        assert [shown["current"] for shown in wordings] == [True, False], wording


def test_a_tie_is_called_one(client: Client, site: Site) -> None:
    rows = make.stored_rows(site.first)
    rows["scores"] = rows["scores"].map(lambda scores: [-1.0] * len(scores))
    make.replace_rows(site.first, rows)
    make.restore_figures(site.benchmark)
    page = client.get(ADDRESS).content.decode()
    assert "tie: Africa, Asia, Europe" in page


def test_an_unknown_question_is_not_found_and_shows_a_way_on(
    client: Client, answered: Site, subtests: pytest.Subtests
) -> None:
    malformed = ("P30", "-1", "P30--1", "P30-1.5", "P30-999999999999999999999999", "P30-١", "../../etc/passwd-1")
    hostile = ("<script>-1", "' OR 1=1 ---1", "\u202eP30-1", "x" * 2000 + "-1")
    assert client.get("/benchmarks/nothing/items/P30-1/").status_code == 404
    for name in ("P30-99", "P99-0", *malformed, *hostile):
        with subtests.test(name[:20]):
            response = client.get(f"/benchmarks/small/items/{quote(name, safe='')}/")
            page = response.content.decode()
            assert response.status_code == 404
            assert "No such question" in page
            assert 'action="/benchmarks/small/items/"' in page
            assert "<script>-1" not in page
            assert "\u202e" not in page
            assert len(page) < 20_000


def test_ten_models_a_page_are_read_and_no_others(
    client: Client,
    small: Benchmark,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    runs = [make.measured(small, make.model(f"org/m{number:02}"), skill=1) for number in range(12)]
    make.restore_figures(small)
    refresh_standings(small)
    opened: list[int] = []
    read = item_rows.opened
    monkeypatch.setattr(item_rows, "opened", lambda run: (opened.append(run.pk), read(run))[1])
    with django_assert_max_num_queries(12):
        first = client.get(ADDRESS)
    assert len(opened) == 10
    second = csv_rows(client, f"{ADDRESS}?page=2")
    names = {row["model"] for row in csv_rows(client, ADDRESS)} | {row["model"] for row in second}
    assert names == {run.model.hub_id for run in runs}
    assert first.context["page"].paginator.count == 12


def test_models_that_are_right_in_most_wordings_come_first(client: Client, small: Benchmark) -> None:
    for name, skill in (("always-wrong", -100), ("always-right", 100), ("also-wrong", -100)):
        make.measured(small, make.model(f"org/{name}"), skill=skill)
    make.restore_figures(small)
    refresh_standings(small)
    rows = [(row["model"], row["right"]) for row in csv_rows(client, ADDRESS)]
    assert rows == [("org/always-right", "2"), ("org/also-wrong", "0"), ("org/always-wrong", "0")]
