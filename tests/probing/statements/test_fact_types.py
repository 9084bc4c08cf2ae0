"""The fact types of geography agree with the paper's tables."""

import re

from probing.statements.geography_sentences import FACT_TYPES, FactType

HEADS = {"Geo-political": 6, "Natural": 11, "Public and Industrial Facilities": 6}


def test_there_are_the_papers_fact_types_and_templates_under_different_keys() -> None:
    heads = [fact_type.head for fact_type in FACT_TYPES.values()]
    assert {head: heads.count(head) for head in HEADS} == HEADS
    assert sum(len(fact_type.templates) for fact_type in FACT_TYPES.values()) == 33
    assert all(key == fact_type.key for key, fact_type in FACT_TYPES.items())
    assert len(FACT_TYPES) == sum(HEADS.values())


def all_templates(fact_type: FactType) -> list[str]:
    return [template for template in (*fact_type.templates, fact_type.single) if template]


def test_a_template_has_the_slots_of_a_subject_and_one_or_two_objects_and_each_type_one_for_one() -> None:
    slots = {
        (key, template): sorted(re.findall(r"\{(\w+)\}", template))
        for key, fact_type in FACT_TYPES.items()
        for template in all_templates(fact_type)
    }
    assert {where: names for where, names in slots.items() if names not in (["O", "S"], ["O1", "O2", "S"])} == {}
    missing = [key for key, one in FACT_TYPES.items() if not any("{O}" in text for text in all_templates(one))]
    assert missing == []


def test_each_fact_type_has_a_wh_question() -> None:
    for fact_type in FACT_TYPES.values():
        assert fact_type.question.endswith("?") and fact_type.question.count("{S}") == 1
        assert bool(fact_type.subject_question) == fact_type.masks_subject
