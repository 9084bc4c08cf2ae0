"""Options and subjects that a model's tokenizer does not know: their numbers in a run's record, and in words.

A word without a token of its own is often one unknown token, or loses the letters that are not in the vocabulary. Such
an option is scored all the same, and an unknown token may be more probable than any word (docs/methods/scoring.md).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from probing.benchmark import Item, Relation
from probing.language_model import LanguageModel, Request
from probing.statements.prompting import item_prompt
from probing.template import Prompt

UNKNOWN_NAMES = "unknown_names"  # the key of run.json
NAMED, RELATIONS_NAMED = 2, 10
SHOWN = 60  # characters of a name, which may be a whole sentence
# What a record counts, with what follows if some of them are unknown.
MEANINGS = {
    "options": "such an option may win whatever is asked",
    "subjects": "what is asked about such a subject is not known to the model",
}


def unknown_names(model: LanguageModel, relation: Relation, template: int) -> list[dict[str, Any]]:
    """Return how many distinct options of a relation the tokenizer does not know, and how many of its subjects.

    An option is looked at in the sentence of the first item that has it, a subject by itself.
    """
    requests: list[Request] = []
    options: set[str] = set()
    first_with: dict[tuple[str, ...], Item] = {}
    for item in relation.items:
        first_with.setdefault(item.options, item)
    for item in first_with.values():
        new = [option for option in dict.fromkeys(relation.options_of(item)) if option not in options]
        requests.append((item_prompt(relation, item, template), new))
        options.update(new)
    subjects = dict.fromkeys(item.subject for item in relation.items if item.subject not in options)
    by_kind: dict[str, list[Request]] = {
        "options": requests,
        "subjects": [(Prompt(("", ""), verbatim=True), list(subjects))],
    }
    return [{"relation": relation.id, "kind": kind, **_counts(model, asked)} for kind, asked in by_kind.items()]


def _counts(model: LanguageModel, requests: Sequence[Request]) -> dict[str, Any]:
    answers = zip(requests, model.unknown(requests), strict=True)
    pairs = [pair for (_, names), are_unknown in answers for pair in zip(names, are_unknown, strict=True)]
    unknown = [name for name, is_unknown in pairs if is_unknown]
    return {"names": len(pairs), "unknown": len(unknown), "examples": [name[:SHOWN] for name in unknown[:NAMED]]}


def all_unknown_names(records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries of several parts' records, one for each relation and kind; none where all names are known.

    Of several templates the one counts with which most names are unknown.
    """
    entries = [entry for record in records for entry in record.get(UNKNOWN_NAMES, [])]
    most = {(entry["relation"], entry["kind"]): entry for entry in sorted(entries, key=_count)}
    return [most[key] for key in sorted(most)] if any(map(_count, entries)) else []


def _count(entry: Mapping[str, Any]) -> int:
    return int(entry["unknown"])


def unknown_names_in_words(record: Mapping[str, Any]) -> list[str]:
    """Return a sentence on the options that the tokenizer does not know, and one on such subjects."""
    entries = record.get(UNKNOWN_NAMES, [])
    by_kind = {kind: [entry for entry in entries if entry["kind"] == kind] for kind in MEANINGS}
    return [_in_words(kind, of_kind) for kind, of_kind in by_kind.items() if any(map(_count, of_kind))]


def _in_words(kind: str, entries: Sequence[Mapping[str, Any]]) -> str:
    unknown, names = sum(map(_count, entries)), sum(int(entry["names"]) for entry in entries)
    most = sorted((entry for entry in entries if _count(entry)), key=_count, reverse=True)
    examples = [repr(name) for entry in most for name in entry["examples"]][:NAMED]
    counts = ", ".join(f"{entry['relation']} {_count(entry):,}" for entry in most[:RELATIONS_NAMED])
    more = f" and {len(most) - RELATIONS_NAMED} more relations" if len(most) > RELATIONS_NAMED else ""
    return (
        f"The tokenizer does not know {unknown:,} of {names:,} {kind} ({unknown / names:.2%}), such as "
        f"{' and '.join(examples)}: in their place the model reads an unknown token, or not all letters, so that "
        f"{MEANINGS[kind]}. By relation: {counts}{more}."
    )
