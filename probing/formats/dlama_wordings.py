"""The wordings of DLAMA: templates, questions and system messages by language, and where the templates come from."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from probing.benchmark import Relation
from probing.errors import BadBenchmark
from probing.formats.dlama_files import TEMPLATES_FOLDER
from probing.formats.files import JsonObject, by_relation, parse_lines, parse_object, template_text
from probing.formats.own_questions import QUESTION_SLOT, QUESTIONS_FILE
from probing.formats.own_templates import SOURCE_KEY

# The keys that are read: of the file of questions, and of a fact.
QUESTIONS_KEYS = frozenset({"questions", "system_message"})
WORDING_MATTERS = "Compare figures only with those of the same templates."


@dataclass(frozen=True)
class Wordings:
    """Templates and questions by language and predicate, and a system message by language."""

    templates: Mapping[tuple[str, str], str]
    questions: Mapping[tuple[str, str], str]
    systems: Mapping[str, str]


def template_lines(files: Mapping[str, bytes]) -> dict[tuple[str, str], JsonObject]:
    """Return the line of each template by language and predicate."""
    return {
        (PurePosixPath(name).parent.name, predicate): line
        for name, content in files.items()
        if name != QUESTIONS_FILE
        for predicate, line in by_relation(parse_lines(content, f"{TEMPLATES_FOLDER}/{name}")).items()
    }


def source_notes(templates: Mapping[tuple[str, str], JsonObject], relations: Sequence[Relation]) -> list[str]:
    """Return a sentence for each source that lines of templates name: figures depend on who worded the templates."""
    used = sorted({(str(relation.tags["language"]), relation.label) for relation in relations})
    sources = Counter((templates[key].optional_text(SOURCE_KEY), key[0]) for key in used)
    counts: dict[str, list[str]] = defaultdict(list)
    for (source, language), count in sources.items():
        if source:
            counts[source].append(f"{count} in {language}")
    return [f"Templates from {source}: {', '.join(texts)}. {WORDING_MATTERS}" for source, texts in counts.items()]


def read_wordings(files: Mapping[str, bytes]) -> Wordings:
    """Read the contents of the files of templates and questions, by name; raise `BadBenchmark` for a bad question."""
    templates = {key: template_text(line) for key, line in template_lines(files).items()}
    content = files.get(QUESTIONS_FILE, b"{}")
    wordings_file = parse_object(content, QUESTIONS_FILE)
    wordings_file.refuse_misspelt_keys(QUESTIONS_KEYS)
    questions = {
        (language, predicate): text
        for predicate, by_language in _object_field(wordings_file, "questions").items()
        for language, text in _texts(by_language, f"{QUESTIONS_FILE}, {predicate}").items()
    }
    for (_, predicate), text in questions.items():
        if text.count(QUESTION_SLOT) != 1:
            step = f"Put {QUESTION_SLOT} where the subject belongs."
            raise wordings_file.fault(f"the question of {predicate} must have {QUESTION_SLOT} once", step)
    systems = _texts(_object_field(wordings_file, "system_message"), f"{QUESTIONS_FILE}, system_message")
    return Wordings(templates, questions, systems)


def _object_field(wordings_file: JsonObject, name: str) -> Mapping[str, object]:
    value = wordings_file.values.get(name, {})
    if not isinstance(value, dict):
        raise wordings_file.fault(f"{name!r} is not a JSON object", "Write it as {...}.")
    return value


def _texts(value: object, place: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise BadBenchmark(f"{place}: not a JSON object.", "Write it as {...}.")
    inner = JsonObject(value, place)
    return {name: inner.text(name) for name in value}
