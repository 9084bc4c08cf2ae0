"""The filters of the templates."""

import pytest
from django.template import Context, Template
from django.test import RequestFactory

from leaderboard.models import Model, Run
from leaderboard.templatetags.clozeboard import submit_url
from tests.leaderboard import factories as make


@pytest.mark.django_db
def test_the_submit_form_is_filled_in_with_what_was_run() -> None:
    run = Run(model=Model(hub_id="org/name"), benchmark=make.benchmark("pairs"))
    run.settings = {"options": {"prompting": "few-shot", "note": "a b"}}
    assert submit_url(run) == "/submit/?model=org/name&benchmark=pairs&set-prompting=few-shot&set-note=a%20b"


def test_a_heading_is_as_wide_as_its_table_has_heads() -> None:
    body = '{% head "a" "A" %}{% head "b" "B" %}{% include "cells/heading.html" with heading=text %}'
    template = Template(f'{{% load clozeboard %}}{{% table "name" "Caption" text %}}{body}{{% endtable %}}')
    page = template.render(Context({"request": RequestFactory().get("/"), "text": 'colspan="all"'}))
    assert '<th role="rowheader" scope="colgroup" colspan="2">colspan=&quot;all&quot;</th>' in page


@pytest.mark.parametrize("classes", ["number", "number folded"])
def test_a_table_with_folded_cells_offers_to_show_all_values(classes: str) -> None:
    body = f'<tr role="row"><td role="cell"\n class="{classes}">folded</td></tr>'
    template = Template(f'{{% load clozeboard %}}{{% table "name" "Caption" text %}}{body}{{% endtable %}}')
    page = template.render(Context({"request": RequestFactory().get("/"), "text": "one"}))
    assert ("Show all values" in page) == ("folded" in classes)
