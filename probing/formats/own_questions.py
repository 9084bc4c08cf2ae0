"""Questions about predicates for the probe `answering`: those of the predicates' entries, or those of a user's file.

They stand in a benchmark's file of questions where its curation or its user gives none.
"""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from probing.formats.own_templates import all_own_questions
from probing.template import SUBJECT_SLOT

QUESTIONS_FILE = "questions.json"
QUESTION_SLOT = "{}"  # of the subject, in the file of questions
SYSTEM_MESSAGES = {
    "en": "Answer with a name and nothing else.",
    "ar": "أجب باسم فقط دون أي شيء آخر.",
    "ko": "다른 말 없이 이름만 답하세요.",
    "es": "Responde con un nombre y nada más.",
}
# Predicate -> language -> question with [X] for the subject.
Questions = Mapping[str, Mapping[str, str]]


def write_questions(
    target: Path,
    user_folder: Path | None,
    predicates: Collection[str] = (),
    languages: Collection[str] = (),
    user_questions: Questions | None = None,
) -> None:
    """Write the file of questions into the folder `target`: the user's if there is one, else those of entries.

    `user_questions`: those of the user's own predicates, which go before this project's. Only questions about these
    predicates and in these languages are written; all of them where none is named.
    """
    file = user_folder / QUESTIONS_FILE if user_folder else None
    if file and file.is_file():
        text = file.read_text(encoding="utf-8")
    else:
        questions = {**all_own_questions(), **(user_questions or {})}
        text = json.dumps(_content(questions, predicates, languages), ensure_ascii=False, indent=1) + "\n"
    (target / QUESTIONS_FILE).write_text(text, encoding="utf-8")


def file_questions(questions: Questions, languages: Collection[str] = ()) -> dict[str, dict[str, str]]:
    """Return questions as they stand in the file, in these languages, or in all where none is named."""
    return {
        predicate: {
            language: text.replace(SUBJECT_SLOT, QUESTION_SLOT)
            for language, text in texts.items()
            if not languages or language in languages
        }
        for predicate, texts in questions.items()
    }


def _content(questions: Questions, predicates: Collection[str], languages: Collection[str]) -> dict[str, Any]:
    chosen = {id: texts for id, texts in questions.items() if not predicates or id in predicates}
    messages = {language: text for language, text in SYSTEM_MESSAGES.items() if not languages or language in languages}
    return {"system_message": messages, "questions": file_questions(chosen, languages)}
