"""/compare/ : by run or by model, two to four of them, and what cannot be compared."""

import pytest
from django.test import Client

from leaderboard.lists.compared_runs import compared, disagreements
from leaderboard.models import Benchmark, Run
from leaderboard.probe_pages.pages import PREDICTION
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.views.html_table import Tables
from tests.leaderboard.views.test_every_page import read_csv


@pytest.fixture
def four(site: Site, small: Benchmark) -> list[Run]:
    more = [
        make.measured(small, make.model(f"org/{name}"), skill=skill, seed=skill) for name, skill in (("c", 4), ("d", 5))
    ]
    return [site.first, site.second, *more]


def address(runs: list[Run]) -> str:
    return "/compare/?" + "&".join(f"m={run.pk}" for run in runs)


def records(client: Client, at: str, name: str) -> list[dict[str, str]]:
    header, *rows = read_csv(client, f"{at}&format=csv&table={name}")
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_runs_and_models_mean_the_same(client: Client, site: Site) -> None:
    by_run = client.get(f"/compare/?m={site.first.pk}&m={site.second.pk}").content.decode()
    by_model = client.get("/compare/?m=org/first&m=org/second").content.decode()
    assert Tables(by_run).found == Tables(by_model).found


def test_the_agreement_adds_up_to_all_answers(client: Client, site: Site) -> None:
    html = client.get("/compare/?m=org/first&m=org/second").content.decode()
    rows = Tables(html).found["agreement"]
    assert [len(row) for row in rows] == [3, 3, 3]
    assert sum(int(cell) for row in rows[1:] for cell in row[1:]) == 12


def test_each_count_leads_to_its_answers(client: Client, site: Site) -> None:
    found, at = compared(site.first.pk, site.second.pk), address([site.first, site.second])
    page = client.get(at).content.decode()
    for pattern, count in found.counts().items():
        digits = "".join(str(int(right)) for right in pattern)
        assert f"right={digits}#table-disagreements" in page
        rows = records(client, f"{at}&right={digits}", "disagreements")
        assert len(rows) == count
        assert len({row["right"] for row in rows}) == 1


def test_disagreements_are_where_one_is_right_and_the_other_wrong(client: Client, site: Site) -> None:
    rows = records(client, address([site.first, site.second]), "disagreements")
    differences = records(client, address([site.first, site.second]), "differences")
    assert {row["right"] for row in rows} <= {"first", "second"}
    assert len(rows) == sum(
        n for pattern, n in compared(site.first.pk, site.second.pk).counts().items() if len(set(pattern)) == 2
    )
    assert int(differences[0]["gained"]) + int(differences[0]["lost"]) <= len(rows)
    for row in rows:
        assert row[row["right"]] == row["answer"]


def test_answers_of_runs_in_another_order_belong_together(site: Site) -> None:
    """The other run's file has its rows the other way round."""
    turned = make.reversed_items(site.second)
    straight = disagreements([site.first, site.second], compared(site.first.pk, site.second.pk), None, PREDICTION)
    assert disagreements([site.first, turned], compared(site.first.pk, turned.pk), None, PREDICTION) == straight


def test_up_to_four_runs_stand_beside_each_other(client: Client, four: list[Run]) -> None:
    rows = [row for row in records(client, address(four), "differences") if row["dimension"] == "Overall"]
    assert [row["result"] for row in rows] == ["second", "third", "fourth"]
    for row, run in zip(rows, four[1:], strict=True):
        stored = run.scores.get(metric="accuracy", dimension="overall")
        assert float(row["second"]) == pytest.approx(stored.value)
        assert float(row["p_holm"]) >= float(row["p"])
    agreement = records(client, address(four), "agreement")
    assert len(agreement) == 8
    assert sum(int(row["fourth_right"]) + int(row["fourth_wrong"]) for row in agreement) == 12


def test_the_dots_of_two_runs_are_differences_and_of_more_are_accuracies(client: Client, four: list[Run]) -> None:
    two, more = (client.get(address(runs)).content.decode() for runs in (four[:2], four))
    assert "second minus first" in two
    assert "second minus first" not in more
    assert '"offsetgroup": "fourth"' in more


def test_a_fifth_run_is_refused(client: Client, four: list[Run]) -> None:
    response = client.get(address([*four, four[0]]))
    assert response.status_code == 400
    assert "Leave out all but 4" in response.content.decode()


def test_an_empty_choice_is_none(client: Client, site: Site) -> None:
    asked = address([site.first, site.second])
    assert client.get(f"{asked}&m=&m=").status_code == 200


@pytest.mark.parametrize("second", ["org/nobody", "999", "org/first"])
def test_what_cannot_be_compared_is_said(client: Client, site: Site, second: str) -> None:
    response = client.get(f"/compare/?m=org/first&m={second}")
    assert response.status_code == 400
    assert "Choose" in response.content.decode()
