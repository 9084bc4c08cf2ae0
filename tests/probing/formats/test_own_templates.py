"""Tests of the templates and questions of this project that stand in where a source has none."""

import pytest

from probing.formats.own_templates import own_questions, own_templates


@pytest.mark.parametrize("language", ["ar", "en", "es", "ko"])
def test_every_own_predicate_has_a_template_and_a_question_with_its_slots(language: str) -> None:
    templates, questions = own_templates(language), own_questions(language)
    assert len(templates) == 20
    assert templates.keys() == questions.keys()
    assert all(text.count("[X]") == text.count("[Y]") == 1 for text in templates.values())
    assert all(text.count("[X]") == 1 and "[Y]" not in text for text in questions.values())


def test_a_language_without_texts_is_empty() -> None:
    assert own_templates("fr") == own_questions("fr") == {}
