"""The fold of a comparison of two runs on facts that were changed between them."""

from html import unescape
from urllib.parse import urlencode

import pandas as pd
import pytest
from django.test import Client

from leaderboard.figures import item_rows
from leaderboard.figures.comparisons import changed_facts, records
from leaderboard.figures.scores import OVERALL_SLICE
from leaderboard.models import Run
from probing.analysis.changed_facts import changes_by_nearness, parse_facts
from tests.leaderboard.conftest import Site
from tests.leaderboard.pages.html_table import Tables
from tests.leaderboard.pages.test_every_page import read_csv

COLUMNS = ["relation", "template", "index", "subject", "prediction_label", "correct", "answers", "scores"]


def rows(run: Run) -> pd.DataFrame:
    return item_rows.frame(run, COLUMNS)


def address(site: Site, facts: str) -> str:
    return "/compare/?" + urlencode([("m", site.first.pk), ("m", site.second.pk), ("facts", facts)])


@pytest.mark.parametrize("in_lines", [False, True], ids=["CSV", "JSON Lines"])
def test_the_table_has_the_figures_of_the_library(client: Client, site: Site, in_lines: bool) -> None:
    item = rows(site.first).iloc[0]
    facts = pd.DataFrame([{"relation": item["relation"], "subject": item["subject"], "answer": "nothing"}])
    text = facts.to_json(orient="records", lines=True) if in_lines else facts.to_csv(index=False)
    expected = changes_by_nearness(rows(site.first), rows(site.second), facts)
    header, *lines = read_csv(client, f"{address(site, text)}&table=facts&format=csv")
    table = pd.DataFrame(lines, columns=header)
    assert [name.lower() for name in table["group"]] == expected["group"].tolist()
    bounds = ("first_low", "second_high", "unchanged_n", "unchanged_low", "unchanged_high", "chance")
    for name in ("n", "first", "second", "difference", "low", "high", "unchanged", "p", "p_holm", *bounds):
        assert table[name].astype(float).tolist() == pytest.approx(expected[name].tolist()), name
    assert float(table["new_answer"][0]) == 0, "no model answers it"
    page = client.get(address(site, text)).content.decode()
    assert len(Tables(page).found["facts"]) == 1 + len(expected)
    assert text.strip() in unescape(page), "the field keeps what was asked"


def test_scores_are_read_one_relation_after_the_other(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def frame(run: Run, columns: list[str], relation: str = "") -> pd.DataFrame:
        if "scores" in columns:
            read.append(relation)
        return stored(run, columns, relation)

    stored = item_rows.frame
    monkeypatch.setattr(item_rows, "frame", frame)
    changed_facts([site.first, site.second], parse_facts("relation,subject\nP30,Chad", "It"), OVERALL_SLICE)
    assert sorted(read) == ["P30", "P36"]


def test_chance_has_a_column_where_the_probe_has_options(
    client: Client, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = "relation,subject\nP30,Chad"
    assert "chance" in Tables(client.get(address(site, facts)).content.decode()).found["facts"][0]
    without = changes_by_nearness(rows(site.first).drop(columns="scores"), rows(site.second), parse_facts(facts, "It"))
    monkeypatch.setattr("leaderboard.pages.changed_facts_fold.changed_facts", lambda *_: records(without))
    assert "chance" not in Tables(client.get(address(site, facts)).content.decode()).found["facts"][0]


def test_two_runs_of_one_model_are_no_change_of_facts(client: Client, site: Site) -> None:
    Run.objects.filter(pk=site.second.pk).update(model=site.first.model_id, settings_digest="2" * 64)
    page = client.get(address(site, "relation,subject\nP30,Chad")).content.decode()
    refusal = "Both runs are of one model with the same weights."
    assert refusal in unescape(page.partition('id="facts"')[2])
    quantised = {**site.first.settings, "quantization": "4bit"}
    Run.objects.filter(pk=site.second.pk).update(settings=quantised, settings_digest="3" * 64)
    assert refusal not in client.get(address(site, "relation,subject\nP30,Chad")).content.decode()


def test_without_facts_there_is_the_field_alone(client: Client, site: Site) -> None:
    page = client.get(address(site, "")).content.decode()
    assert "Changed facts" in page
    assert "facts" not in Tables(page).found


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ("relation,subject\nP30,Atlantis", "1 of 1 facts were not asked, such as 'Atlantis' in P30."),
        ("Atlantis", "The list has no facts: it needs relation, and index or subject."),
        ("{broken", "The list cannot be read as a list of facts"),
    ],
)
def test_what_is_wrong_with_the_facts_is_said_in_the_fold(client: Client, site: Site, facts: str, reason: str) -> None:
    page = client.get(address(site, facts)).content.decode()
    fold = unescape(page.partition('id="facts"')[2])
    assert reason in fold
    assert "facts" not in Tables(page).found
