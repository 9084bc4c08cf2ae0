"""Sentence templates for predicates: ours, or those of a folder `<language>/templates.jsonl` in mLAMA's form."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from probing.errors import BadInput
from probing.formats.dlama import TEMPLATE_FILE
from probing.formats.files import read_lines
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

OURS = Path(__file__).parent / "templates.toml"


def templates(predicates: Sequence[str], language: str, folder: Path | None = None) -> dict[str, str]:
    """Predicate -> template; each must have one."""
    known = _in_folder(folder, language) if folder else _ours(language)
    missing = [predicate for predicate in predicates if predicate not in known]
    if missing:
        where = folder or "our own templates"
        step = f"Give a folder with <language>/{TEMPLATE_FILE} by --templates."
        raise BadInput(f"{where}: no template for {', '.join(missing)} in {language!r}.", step)
    return {predicate: known[predicate] for predicate in predicates}


def check(template: str, place: str) -> str:
    """The template, if it has each slot once."""
    for slot in (SUBJECT_SLOT, ANSWER_SLOT):
        if template.count(slot) != 1:
            raise BadInput(f"{place}: {template!r:.80} must have {slot} once.", "Correct the template.")
    return template


@lru_cache
def _read_ours() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(OURS.read_text(encoding="utf-8"))


def _ours(language: str) -> dict[str, str]:
    return {predicate: texts[language] for predicate, texts in _read_ours().items() if language in texts}


def _in_folder(folder: Path, language: str) -> dict[str, str]:
    lines = read_lines(folder / language / TEMPLATE_FILE)
    return {line.text("relation"): check(line.text("template"), line.place) for line in lines}
