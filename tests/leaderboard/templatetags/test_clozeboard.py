"""The filters of the templates."""

import pytest

from leaderboard.display.cells import Cell
from leaderboard.models import Model, Run
from leaderboard.templatetags.clozeboard import cell_attributes, lang, submit_url, svg_length
from tests.leaderboard import factories as make


def test_text_in_another_language_is_marked_with_it() -> None:
    assert lang("ar") == 'lang="ar" dir="auto"'
    assert lang("") == ""


def test_a_cell_has_only_the_attributes_that_it_needs() -> None:
    assert cell_attributes(Cell("a", "a")) == ""
    assert cell_attributes(Cell("a", "a", lang="ko")) == 'lang="ko" dir="auto"'
    assert cell_attributes(Cell("a", "a", note="n")) == 'title="n"'
    assert cell_attributes(Cell("a", "a", note="n", lang="ko")) == 'lang="ko" dir="auto" title="n"'


def test_a_note_with_a_quotation_mark_stays_inside_its_attribute() -> None:
    assert cell_attributes(Cell("a", "a", note='5" > 4"')) == 'title="5&quot; &gt; 4&quot;"'


def test_a_length_on_a_bar_is_a_percentage_with_two_digits() -> None:
    assert svg_length(100 / 3) == "33.33%"


@pytest.mark.django_db
def test_the_submit_form_is_filled_in_with_what_was_run() -> None:
    run = Run(model=Model(hub_id="org/name"), benchmark=make.benchmark("pairs"))
    run.settings = {"options": {"prompting": "few-shot", "note": "a b"}}
    assert submit_url(run) == "/submit/?model=org/name&benchmark=pairs&set-prompting=few-shot&set-note=a%20b"
