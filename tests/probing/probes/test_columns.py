"""Columns that the rows of all probes share."""

import pandas as pd

from probing.benchmark import Item, Relation
from probing.probes.probe import tag_cells


def test_tags_of_an_item_go_before_those_of_its_relation() -> None:
    relation = Relation("P36", (), (), (), tags={"domain": "Politics", "language": "en"})
    item = Item(0, "Chad", (0,), tags={"domain": "Geography"})
    assert tag_cells(relation, item) == {"domain": "Geography", "language": "en"}


def test_several_values_of_a_tag_stay_together_in_one_cell() -> None:
    relation = Relation("P36", (), (), (), tags={"domain": ("Politics", "Geography"), "language": "en"})
    cells = [tag_cells(relation, Item(index, "Chad", (0,))) for index in range(2)]
    assert cells[0] == {"domain": ["Politics", "Geography"], "language": "en"}
    assert pd.DataFrame(cells).shape == (2, 2)
    assert cells[0]["domain"] is not cells[1]["domain"]


def test_an_item_without_tags_adds_no_columns() -> None:
    assert tag_cells(Relation("P36", (), (), ()), Item(0, "Chad", (0,))) == {}
