"""Diversity of a data set: facts by culture, and the share of them that another data set has, counted by hand."""

from pathlib import Path

import pandas as pd

from probing.analysis.facts_by_culture import REST, UNKNOWN, CulturePlaces, Fact, diversity, facts_of, overlap
from probing.formats import dlama
from tests.probing.formats.dlama_folder import DlamaFolder


def fact(relation: str, subject: str, *objects: str, cultures: tuple[str, ...] = ()) -> Fact:
    return Fact(relation, subject, frozenset(objects), frozenset(cultures))


def cells(table: pd.DataFrame, *columns: str) -> dict[tuple[str, str], tuple[float, ...]]:
    keys = zip(table["relation"], table["group"], strict=True)
    return dict(zip(keys, table[list(columns)].itertuples(index=False, name=None), strict=True))


def test_a_fact_counts_once_however_many_languages_and_kinds_of_objects_have_it(tmp_path: Path) -> None:
    folder = DlamaFolder(tmp_path / "pairs")
    folder.add_arabic()
    folder.facts |= {name.replace("/dlama/", "/dlama_raw/"): lines for name, lines in folder.facts.items()}
    facts = facts_of(dlama.read(folder.write()))
    assert len(facts) == 5
    assert fact("P37", "Q796", "Q36368", "Q13955", cultures=("Arab",)) in facts
    assert cells(diversity(facts), "facts", "share") == {
        ("P37", "Arab"): (2, 0.4),
        ("P37", "West"): (3, 0.6),
        ("all", "Arab"): (2, 0.4),
        ("all", "West"): (3, 0.6),
    }


def test_where_facts_name_no_culture_a_subject_or_an_object_in_it_decides() -> None:
    places = CulturePlaces("West", members={"Paris", "France"}, located={"Paris", "France", "Cairo", "Egypt"})
    facts = [
        fact("P36", "France", "Paris"),
        fact("P36", "Egypt", "Cairo"),
        fact("P36", "Atlantis", "Poseidonis"),
        fact("P190", "Cairo", "Paris"),
    ]
    assert cells(diversity(facts, places), "facts", "share") == {
        ("P36", "West"): (1, 1 / 3),
        ("P36", REST): (1, 1 / 3),
        ("P36", UNKNOWN): (1, 1 / 3),
        ("P190", "West"): (1, 1.0),
        ("all", "West"): (2, 0.5),
        ("all", REST): (1, 0.25),
        ("all", UNKNOWN): (1, 0.25),
    }


def test_predicates_stand_in_the_order_of_their_numbers_and_all_of_them_at_the_end() -> None:
    facts = [fact(relation, "Q1", "Q2") for relation in ("P103", "P36", "P1376")]
    assert diversity(facts)["relation"].tolist() == ["P36", "P103", "P1376", "all"]


def test_a_fact_of_two_cultures_counts_in_both_and_once_in_the_whole() -> None:
    facts = [fact("P47", "Q1", "Q2", cultures=("Arab", "West")), fact("P47", "Q3", "Q2", cultures=("West",))]
    assert cells(diversity(facts), "facts", "share")["all", "Arab"] == (1, 0.5)
    assert cells(diversity(facts), "facts", "share")["all", "West"] == (2, 1.0)


def test_a_fact_is_shared_if_predicate_subject_and_one_object_are() -> None:
    facts = [
        fact("P37", "Q1", "Q10", "Q11", cultures=("Arab",)),
        fact("P37", "Q2", "Q10", cultures=("Arab",)),
        fact("P37", "Q3", "Q10", cultures=("West",)),
        fact("P36", "Q4", "Q12", cultures=("West",)),
    ]
    others = [fact("P37", "Q1", "Q11"), fact("P37", "Q2", "Q12"), fact("P47", "Q3", "Q10"), fact("P36", "Q4", "Q12")]
    table = cells(overlap(facts, others), "shared", "shared_share")
    assert table["P37", "Arab"] == (1, 0.5)
    assert table["P37", "West"] == (0, 0.0)
    assert table["all", "West"] == (1, 0.5)
