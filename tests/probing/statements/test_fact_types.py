"""The fact types of geography agree with the paper's tables."""

import re

import pytest

from probing.statements.fact_types import FACT_TYPES, FactType

HEADS = {"Geo-political": 6, "Natural": 11, "Public and Industrial Facilities": 6}


def test_there_are_the_papers_fact_types_and_templates() -> None:
    heads = [fact_type.head for fact_type in FACT_TYPES.values()]
    assert {head: heads.count(head) for head in HEADS} == HEADS
    assert sum(len(fact_type.templates) for fact_type in FACT_TYPES.values()) == 33


def test_fact_types_have_different_keys() -> None:
    assert all(key == fact_type.key for key, fact_type in FACT_TYPES.items())
    assert len(FACT_TYPES) == sum(HEADS.values())


@pytest.mark.parametrize("fact_type", FACT_TYPES.values(), ids=FACT_TYPES)
def test_a_template_has_the_slots_of_a_subject_and_one_or_two_objects(fact_type: FactType) -> None:
    for template in filter(None, (*fact_type.templates, fact_type.single)):
        slots = sorted(re.findall(r"\{(\w+)\}", template))
        assert slots in (["O", "S"], ["O1", "O2", "S"])


@pytest.mark.parametrize("fact_type", FACT_TYPES.values(), ids=FACT_TYPES)
def test_a_subject_with_one_object_has_a_template(fact_type: FactType) -> None:
    assert any("{O}" in template for template in (*fact_type.templates, fact_type.single))
