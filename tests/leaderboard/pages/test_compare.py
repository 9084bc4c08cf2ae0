"""/compare/ : by run or by model, and what cannot be compared."""

import pytest
from django.test import Client

from tests.leaderboard.pages.conftest import Site
from tests.leaderboard.pages.html_table import Tables


def test_runs_and_models_mean_the_same(client: Client, site: Site) -> None:
    by_run = client.get(f"/compare/?m={site.first.pk}&m={site.second.pk}").content.decode()
    by_model = client.get("/compare/?m=org/first&m=org/second").content.decode()
    assert Tables(by_run).found == Tables(by_model).found


def test_the_agreement_adds_up_to_all_answers(client: Client, site: Site) -> None:
    html = client.get("/compare/?m=org/first&m=org/second").content.decode()
    counts = [int(cell) for row in Tables(html).found["agreement"][1:] for cell in row[1:]]
    assert sum(counts) == 12


@pytest.mark.parametrize("second", ["org/nobody", "999", "org/first"])
def test_what_cannot_be_compared_is_said(client: Client, site: Site, second: str) -> None:
    response = client.get(f"/compare/?m=org/first&m={second}")
    assert response.status_code == 400
    assert "Choose" in response.content.decode()
