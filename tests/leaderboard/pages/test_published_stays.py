"""A published figure stays where a run exists: on the overview, a model's page and in comparisons."""

from collections import Counter

import pytest
from django.test import Client

from leaderboard.models import Benchmark, Model, Run
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows

pytestmark = pytest.mark.django_db


def published_of(on: Benchmark, hub_id: str, value: float, **fields: object) -> Run:
    of = make.model(hub_id, source=Model.Source.PUBLISHED, commit="")
    return make.finished(on, value, of, provenance=Run.Provenance.PUBLISHED, reference="Table 1 of a paper", **fields)


def test_it_stands_beside_the_measured_figure(client: Client) -> None:
    on = make.benchmark()
    make.finished(on, 0.41, make.model("org/both"))
    published_of(on, "org/both", 0.435)
    published_of(on, "org/paper", 0.3)
    rows = {row["model"]: row for row in csv_rows(client, "/")}
    assert (rows["org/both"]["tiny"], rows["org/both"]["tiny_published"]) == ("0.41", "0.435")
    assert (rows["org/paper"]["tiny"], rows["org/paper"]["tiny_published"]) == ("0.3", "")
    assert "○ published: 0.435" in client.get("/").content.decode()
    (profile,) = csv_rows(client, "/models/org/both/", "profile")
    assert (profile["score"], profile["published"]) == ("0.41", "0.435")
    assert "○ Published" not in client.get("/models/org/paper/").content.decode()


def test_two_published_models_have_their_figures_in_all_common_settings(client: Client) -> None:
    make.published_figures()
    on_dlama = Run.objects.filter(benchmark__slug="dlama", benchmark__main=True)
    runs = on_dlama.filter(scores__dimension="culture_pair_language").distinct()
    (first, _), (second, _) = Counter(run.model.hub_id for run in runs).most_common(2)
    rows = csv_rows(client, f"/compare/?m={first}&m={second}&benchmark=dlama")
    assert len(rows) > 2
    assert all(row["value"] for row in rows)
    for one, other in zip(rows[::2], rows[1::2], strict=True):
        assert one["settings"] == other["settings"]
        assert one["run"] != other["run"]
    assert len({row["settings"] for row in rows}) == len(rows) / 2


def test_figures_of_different_questions_are_said_not_to_be_comparable(client: Client) -> None:
    on = make.benchmark(probe="ranking")
    for hub_id, part in (("org/one", "arab-west ar"), ("org/two", "asia-west ko")):
        run = published_of(on, hub_id, 0.5)
        make.score(run, 0.5, "culture_pair_language", part, metric="p_at_1")
    html = " ".join(client.get("/compare/?m=org/one&m=org/two").content.decode().split())
    assert "They are about different questions, so they cannot be compared." in html
    assert "Arab and West, asked in Arabic" in html
