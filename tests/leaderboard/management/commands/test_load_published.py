"""manage.py load_published: the figures that ship with the project."""

import re

import pytest

from leaderboard.models import Model, Run
from tests.leaderboard.management.commands.output import output_of


@pytest.mark.django_db
def test_models_that_papers_name_without_an_id_are_those_of_the_hub() -> None:
    printed = output_of("load_published")
    assert int(re.match(r"(\d+) published results\.", printed)[1]) >= Run.objects.count() > 100
    published = Model.objects.filter(runs__provenance=Run.Provenance.PUBLISHED).distinct()
    assert {model.title for model in published if not model.parameters} == {"GPT3.5-turbo"}
    assert not Model.objects.filter(hub_id__in=["published/kykimbert-base", "published/qarib"]).exists()
    kykim = Run.objects.filter(model__hub_id="kykim/bert-kor-base").values_list("benchmark__slug", flat=True)
    assert {"cultlama", "dlama"} <= set(kykim), "two spellings of one model"
