"""Sentence templates and questions of predicates that were written for this project, by predicate and language.

The questions of DLAMA's paper to chat models are here as well, for runs that are compared with its Table D3.

The templates stand in for those of a benchmark whose source has none, such as DLAMA, whose paper uses mLAMA's. They are
part of the predicates' entries in `predicates.toml`, which `probing.curation.predicates` reads as a whole.

The questions are for the probe `answering`: those of the predicates' entries, or those of a user's file. They stand in
a benchmark's file of questions where its curation or its user gives none.
"""

import json
import tomllib
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from probing.errors import BadInput
from probing.formats.reading import parse_lines, template_text
from probing.template import SUBJECT_SLOT

OWN_PREDICATES = Path(__file__).with_name("predicates.toml")
PAPER_QUESTIONS = Path(__file__).with_name("dlama_questions.toml")
TEMPLATE_FILE = "templates.jsonl"
# The key of a line of templates that says who worded it, and its value for those of this project.
SOURCE_KEY, PROJECT = "source", "Clozeboard"
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


def own_templates(language: str) -> dict[str, str]:
    """Return predicate -> template in a language; empty if this project has none in it."""
    return {name: text for (name, own), text in own_texts("templates").items() if own == language}


def own_texts(kind: str) -> dict[tuple[str, str], str]:
    """Return the "templates" or the "questions" of this project by predicate and language."""
    return {(name, language): text for name, entry in _entries().items() for language, text in entry[kind].items()}


@lru_cache(maxsize=1)
def own_names() -> dict[str, str]:
    """Return predicate -> what it says in a few words, such as "place of birth"."""
    return {predicate: entry["name"] for predicate, entry in _entries().items()}


def source_note(source: str) -> str:
    """Return the beginning of a benchmark's note on templates from a source."""
    return f"Templates from {source}: "


@lru_cache(maxsize=1)
def paper_questions() -> Mapping[tuple[str, str], tuple[str, str]]:
    """Return the questions of DLAMA's Table F10 by predicate and language, each with its system message."""
    content = tomllib.loads(PAPER_QUESTIONS.read_text(encoding="utf-8"))
    return {
        (predicate, language): (question, content["system"][language])
        for predicate, questions in content["questions"].items()
        for language, question in questions.items()
    }


def write_templates(target: Path, user_folder: Path | None) -> None:
    """Write `<language>/templates.jsonl` below `target`: the user's templates, and this project's where there are none.

    Each line says in its field `source` where it is from, as figures depend on it: this project, the source that the
    user's line names, or else the name of the user's folder. Raises `BadInput` if that folder has no templates.
    """
    files = sorted(user_folder.glob(f"*/{TEMPLATE_FILE}")) if user_folder else []
    if user_folder and not files:
        raise BadInput(f"{user_folder} has no templates.", f"Give a folder with <language>/{TEMPLATE_FILE}.")
    lines = {path.parent.name: _user_lines(path) for path in files}
    own_languages = {language for entry in _entries().values() for language in entry["templates"]}
    for language in sorted(own_languages | lines.keys()):
        own = {name: _line(name, text, PROJECT) for name, text in own_templates(language).items()}
        merged = {**own, **lines.get(language, {})}
        path = target / language / TEMPLATE_FILE
        path.parent.mkdir(parents=True)
        texts = (f"{json.dumps(line, ensure_ascii=False)}\n" for line in merged.values())
        path.write_text("".join(texts), encoding="utf-8")


def _user_lines(path: Path) -> dict[str, dict[str, str]]:
    folder = path.resolve().parents[1].name
    lines = parse_lines(path.read_bytes(), f"{path.parent.name}/{path.name}")
    sources = {line.text("relation"): line.optional_text(SOURCE_KEY) or folder for line in lines}
    texts = {line.text("relation"): template_text(line) for line in lines}
    return {name: _line(name, text, sources[name]) for name, text in texts.items()}


def _line(predicate: str, template: str, source: str) -> dict[str, str]:
    return {"relation": predicate, "template": template, SOURCE_KEY: source}


@lru_cache
def _entries() -> Mapping[str, Mapping[str, Any]]:
    """Return the entry of each predicate, whose file also describes kinds of subjects."""
    content = tomllib.loads(OWN_PREDICATES.read_text(encoding="utf-8"))
    return {name: entry for name, entry in content.items() if name != "kinds"}


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
        own = {predicate: entry["questions"] for predicate, entry in _entries().items()}
        questions = {**own, **(user_questions or {})}
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
