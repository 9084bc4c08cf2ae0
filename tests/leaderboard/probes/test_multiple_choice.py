"""Pages of multiple choice and of similarity, the default ones: baselines, and how difficult questions are."""

import re

import pandas as pd
import pytest
from django.test import Client

from leaderboard.figures.ranks import refresh_standings, store_figures
from leaderboard.models import Benchmark, Run
from leaderboard.probes.items import item_url
from probing.settings import Settings
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows


@pytest.mark.parametrize("probe", ["multiple_choice", "similarity"])
def test_a_run_opens_on_every_page_with_the_same_main_score(client: Client, small: Benchmark, probe: str) -> None:
    Benchmark.objects.update(probe=probe)
    small.refresh_from_db()
    run = make.probed(small, make.model(), FakeModel(), Settings(probe=probe))
    score = run.scores.get(metric=small.main_metric, dimension="overall").value
    for address in ("/benchmarks/small/", f"/models/{run.model.hub_id}/"):
        (row,) = (row for row in csv_rows(client, address) if str(score) in row.values())
        assert row
    question = item_url(run, {"relation": "P30", "template": 0, "index": 1})
    pages = (f"/runs/{run.pk}/", f"/runs/{run.pk}/items/", question, "/benchmarks/small/relations/P30/")
    for address in (*pages, f"/compare/?m={run.pk}"):
        assert client.get(address).status_code == 200


MAJORITY = "Commonest answer always gives the answer that is right most often in the relation"


def test_every_baseline_is_said_once_on_the_page_of_its_benchmark(client: Client, small: Benchmark) -> None:
    make.finished(small)
    response = client.get("/benchmarks/small/")
    words = response.context["leaderboard"]["baselines"]
    assert f"Chance takes every option to be as likely as the next (0.389); {MAJORITY} (0.500)." in words
    assert "of all relations" not in words, "it reaches the same"
    assert words in response.content.decode()


def test_a_benchmark_of_pairs_has_chance_only(client: Client, pairs: Benchmark) -> None:
    leaderboard = client.get(f"/benchmarks/{pairs.slug}/").context["leaderboard"]
    assert leaderboard["baselines"].endswith("Chance takes every option to be as likely as the next (0.500).")


SKILLS = {"org/weak": 0, "org/middling": 2, "org/strong": 6}


@pytest.fixture
def models(small: Benchmark) -> list[Run]:
    """Three models of different skill on the small benchmark, with everything that is stored when a run finishes."""
    small.settings = {"templates": [0, 1]}
    small.save()
    runs = [make.measured(small, make.model(name), skill, seed=7) for name, skill in SKILLS.items()]
    for run in runs:
        store_figures(run, make.stored_rows(run))
    refresh_standings(small)
    return runs


def test_questions_are_counted_by_the_share_of_right_answers(small: Benchmark, models: list[Run]) -> None:
    answers = pd.concat([make.stored_rows(run) for run in models])
    shares = answers.groupby(["relation", "index"])["correct"].mean()
    small.refresh_from_db()
    none, *tenths, every = small.difficulty
    assert (none, every) == ((shares == 0).sum(), (shares == 1).sum())
    for place, questions in enumerate(tenths):
        between = (shares > place / 10 + 1e-9) & (shares <= (place + 1) / 10 + 1e-9) & (shares < 1)
        assert questions == between.sum(), place
    assert sum(small.difficulty) == len(shares)


def test_the_page_has_how_many_questions_are_how_difficult(client: Client, small: Benchmark, models: list[Run]) -> None:
    page = client.get("/benchmarks/small/").content.decode()
    small.refresh_from_db()
    assert [int(number) for number in re.findall(r"(\d) questions: .* answers are right", page)] == small.difficulty
