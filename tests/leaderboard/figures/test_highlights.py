"""Highlights: found when a result is stored, and computed from the rows of results that were stored before."""

import json
from collections.abc import Sequence

import pandas as pd
import pytest
from django.core.files.base import ContentFile
from django.test import Client

from leaderboard.figures import artefacts, highlights, item_rows
from leaderboard.figures.highlights import surest_errors, to_json
from leaderboard.models import Run
from probing.results.result import Result
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site

pytestmark = pytest.mark.django_db


def stored_again(run: Run, rows: pd.DataFrame) -> Run:
    """Store these rows as the run's result, as a worker does that finishes it."""
    folder = artefacts.store_result(run, Result(rows, make.tidy_scores(run), {}))
    Run.objects.filter(pk=run.pk).update(artefact=folder)
    return Run.objects.get(pk=run.pk)


def test_a_new_result_has_the_highlights_that_are_computed_for_an_old_one(site: Site) -> None:
    old = highlights.highlights(site.first)
    run = stored_again(site.first, make.stored_rows(site.first))
    assert artefacts.storage().exists(f"{run.artefact}/{highlights.FILE}")
    assert old and json.loads(to_json(highlights.highlights(run))) == json.loads(to_json(old))


def test_the_page_of_a_run_reads_its_highlights_and_no_rows_for_them(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stored_again(site.first, make.stored_rows(site.first))

    frame = item_rows.frame

    def frame_of_relation(of: Run, columns: Sequence[str], relation: str = "") -> pd.DataFrame:
        assert relation, "all rows were read"
        return frame(of, columns, relation)

    monkeypatch.setattr(item_rows, "frame", frame_of_relation)
    assert "Wrong, and sure of it" in client.get(f"/runs/{run.pk}/").content.decode()


def test_another_result_has_highlights_of_its_own(site: Site) -> None:
    assert highlights.highlights(site.first)
    run = stored_again(site.first, make.stored_rows(site.first).assign(correct=True))
    assert highlights.highlights(run) == []


@pytest.mark.parametrize("others", [[None, None], [[], [[{"index": 0}, [[0, "Nile", True]]]], [{"relation": "P30"}]]])
def test_files_with_other_highlights_behind_the_errors_are_still_read(site: Site, others: list[object]) -> None:
    run = stored_again(site.first, make.stored_rows(site.first))
    errors = highlights.highlights(run)
    name = f"{run.artefact}/{highlights.FILE}"
    for stored, expected in ((errors, errors), (None, [])):
        artefacts.storage().delete(name)
        artefacts.storage().save(name, ContentFile(json.dumps([stored, *others]).encode()))
        highlights.stored_highlights.cache_clear()
        assert highlights.highlights(run) == expected


def test_rows_without_margins_have_no_highlights() -> None:
    assert surest_errors(pd.DataFrame({"relation": ["P30"], "index": [0]})) == []


def test_missing_values_are_no_obstacle() -> None:
    rows = pd.DataFrame(
        {
            "relation": "P30",
            "template": [number % 2 for number in range(20)],
            "index": [number // 2 for number in range(20)],
            "subject": "Nile",
            "answer_label": "Africa",
            "prediction_label": [("Africa", None)[number % 2] for number in range(20)],
            "correct": pd.array([None, *(number % 2 == 1 for number in range(1, 20))], dtype="boolean"),
            "margin": 0.5,
        }
    )
    (errors,) = json.loads(to_json(surest_errors(rows)))
    assert [row["index"] for row in errors] == [1, 2, 3, 4, 5]


def test_a_wording_with_wide_margins_throughout_does_not_fill_the_surprises() -> None:
    """Wording 0 begins with its blank, where a causal model's margins are wide; in wording 1 one is unusual."""
    margins = {0: [-30.0, -31.0, -29.0, 30.0], 1: [-0.5, -4.0, 0.5, 0.4]}
    rows = pd.DataFrame(
        {"relation": "P30", "template": template, "index": 10 * template + number, "margin": margin}
        for template, values in margins.items()
        for number, margin in enumerate(values)
    ).assign(subject="Nile", answer_label="Africa", prediction_label="Asia", correct=lambda table: table["margin"] > 0)
    assert [row["margin"] for row in surest_errors(rows)] == [-4.0, -31.0, -30.0, -0.5, -29.0]
