"""Questions about predicates that were written for this project, for the probe `answering`.

They stand in a benchmark's file of questions where its curation or its user gives none.
"""

import json
import tomllib
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Any

OWN_QUESTIONS = Path(__file__).with_suffix(".toml")
QUESTIONS_FILE = "questions.json"


def write_questions(
    target: Path, user_folder: Path | None, predicates: Collection[str] = (), languages: Collection[str] = ()
) -> None:
    """Write the file of questions into the folder `target`: the user's if there is one, else this project's questions.

    Of this project's, those of these predicates and languages are written; all of them where none is named.
    """
    users = user_folder / QUESTIONS_FILE if user_folder else None
    if users and users.is_file():
        text = users.read_text(encoding="utf-8")
    else:
        text = json.dumps(_own_questions(predicates, languages), ensure_ascii=False, indent=1) + "\n"
    (target / QUESTIONS_FILE).write_text(text, encoding="utf-8")


def _own_questions(predicates: Collection[str], languages: Collection[str]) -> dict[str, Any]:
    def chosen(texts: dict[str, str]) -> dict[str, str]:
        return {language: text for language, text in texts.items() if not languages or language in languages}

    own = _by_predicate()
    questions = {
        predicate: chosen(texts)
        for predicate, texts in own["questions"].items()
        if not predicates or predicate in predicates
    }
    return {"system_message": chosen(own["system_message"]), "questions": questions}


@lru_cache(maxsize=1)
def _by_predicate() -> dict[str, Any]:
    return tomllib.loads(OWN_QUESTIONS.read_text(encoding="utf-8"))
