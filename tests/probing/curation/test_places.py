"""Which items belong to a culture: citizens of its countries and what lies in them, by Wikidata or the user's table."""

from collections.abc import Callable
from pathlib import Path

import pytest

from probing.curation.cultures import members, read_countries, read_culture
from probing.errors import BadInput
from tests.probing.curation.conftest import Source
from tests.probing.curation.world import World


def test_citizens_and_what_lies_in_a_country_however_far_below_belong_to_it(serve: Callable[[World], Source]) -> None:
    world = World()
    world.claim("Q90", "P131", "Q13917")  # Paris lies in a region
    world.claim("Q13917", "P17", "Q142")  # which lies in France
    world.claim("Q7186", "P27", "Q36", "Q142")  # a citizen of Poland and of France
    world.claim("Q85", "P17", "Q79")  # Cairo lies in Egypt
    world.claim("Q9999", "P27", "Q29999")  # a citizen of the Kingdom of the Netherlands
    items = ["Q90", "Q142", "Q7186", "Q85", "Q79", "Q9999", "Q4"]
    assert members(serve(world).endpoint(), read_culture("west"), items) == {"Q90", "Q142", "Q7186", "Q9999"}


def test_a_table_names_the_countries_of_ids(tmp_path: Path) -> None:
    path = tmp_path / "countries.tsv"
    path.write_text("Q90\tQ142\n\nQ7186\tQ36\tQ142\nQ90\tQ183\n")
    assert read_countries(path) == {"Q90": {"Q142", "Q183"}, "Q7186": {"Q36", "Q142"}}
    path.write_text("Q90\tQ142\nQ85\n")
    with pytest.raises(BadInput, match=r"countries\.tsv, line 2: no id or no country"):
        read_countries(path)
