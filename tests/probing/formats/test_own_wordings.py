"""Questions of this project, which stand in benchmarks of culture pairs that have none, and names of predicates."""

import json
from pathlib import Path

import pytest

from probing.curation.predicates import PREDICATES
from probing.formats.own_wordings import QUESTIONS_FILE, own_names, own_templates, write_questions

LANGUAGES = ("en", "ar", "ko", "es")


def test_every_predicate_has_a_question_with_one_subject_in_every_language(tmp_path: Path) -> None:
    write_questions(tmp_path, None)
    content = json.loads((tmp_path / QUESTIONS_FILE).read_text(encoding="utf-8"))
    assert content["system_message"].keys() == set(LANGUAGES)
    assert content["questions"].keys() == PREDICATES.keys() == own_templates("en").keys()
    for predicate, texts in content["questions"].items():
        assert texts.keys() == set(LANGUAGES), predicate
        assert all(text.count("{}") == 1 and text[-1] in "?؟" for text in texts.values()), predicate


def test_the_names_of_predicates_are_those_of_curation() -> None:
    assert own_names() == {name: predicate.name for name, predicate in PREDICATES.items()}


def test_only_the_chosen_predicates_and_languages_are_written(tmp_path: Path) -> None:
    write_questions(tmp_path, None, ["P36"], ["ko"])
    content = json.loads((tmp_path / QUESTIONS_FILE).read_text(encoding="utf-8"))
    assert content["questions"].keys() == {"P36"}
    assert content["questions"]["P36"].keys() == content["system_message"].keys() == {"ko"}


@pytest.mark.parametrize("has_questions", [True, False])
def test_the_users_questions_come_first(tmp_path: Path, has_questions: bool) -> None:
    user, target = tmp_path / "user", tmp_path / "target"
    user.mkdir()
    target.mkdir()
    own = '{"questions": {"P36": {"en": "And {}?"}}}'
    if has_questions:
        (user / QUESTIONS_FILE).write_text(own, encoding="utf-8")
    write_questions(target, user)
    assert ((target / QUESTIONS_FILE).read_text(encoding="utf-8") == own) == has_questions
