"""The citation of a run's figure."""

import pytest
from django.test import Client

from tests.leaderboard import factories as make

pytestmark = pytest.mark.django_db


def test_a_citation_has_the_figure_its_interval_version_date_and_address(client: Client) -> None:
    run = make.finished(make.benchmark(version="c0ffee"), 0.5, make.model("org/name_1", commit="a" * 40))
    text, bibtex = client.get(run.get_absolute_url()).context["citation"]
    low, high = run.scores.filter(dimension="overall").values_list("low", "high")[0]
    figure = f"accuracy 0.500 (95 % interval {low:.3f} to {high:.3f}) over 100 questions"
    assert text.startswith(f"org/name_1 on {run.benchmark.title}: {figure}; commit aaaaaaa; benchmark version c0ffee;")
    assert f"measured here on {run.finished:%Y-%m-%d}. " in text
    assert text.endswith(f"Clozeboard, run {run.pk}, http://testserver/runs/{run.pk}/")
    assert f"@misc{{clozeboard-run-{run.pk}," in bibtex
    assert r"org/name\_1" in bibtex and r"95 \% interval" in bibtex
    assert f"year = {{{run.finished:%Y}}}" in bibtex and f"url = {{http://testserver/runs/{run.pk}/}}" in bibtex


def test_the_citation_of_a_published_figure_names_its_source_and_no_date(client: Client) -> None:
    run = make.published(make.benchmark(), 0.5)
    text, bibtex = client.get(run.get_absolute_url()).context["citation"]
    assert "published: Table 1 of a paper." in text
    assert "year" not in bibtex


def test_a_run_without_a_figure_has_no_citation(client: Client) -> None:
    run = make.run(make.model(), make.benchmark())
    response = client.get(run.get_absolute_url())
    assert response.context["citation"] is None
    assert 'id="cite"' not in response.content.decode()


def test_the_name_of_a_stranger_cannot_leave_its_place_in_bibtex(client: Client) -> None:
    run = make.finished(make.benchmark(title="x}, year = {1999"), 0.5)
    _, bibtex = client.get(run.get_absolute_url()).context["citation"]
    assert r"x\}, year = \{1999" in bibtex
