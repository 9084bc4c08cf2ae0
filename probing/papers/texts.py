"""Tables of texts and lists that papers have in their appendices, from the files by which this project asks."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from probing.benchmark import Relation
from probing.curation.cultures import COMMON_SITE, KNOWN_PAIRS, read_culture
from probing.formats.dlama import natural
from probing.formats.own_wordings import paper_questions
from probing.papers.measures import Runs
from probing.statements.fact_types import FACT_TYPES


def templates(runs: Runs) -> pd.DataFrame:
    """Return the templates by relation and language (DLAMA, Table F9), with those of cascades (S-TEST, Table 6)."""
    table = _texts(runs, "template", lambda relation: relation.cascades or relation.templates)
    return table if table["language"].any() else table.drop(columns="language")


def questions(runs: Runs) -> pd.DataFrame:
    """Return the questions to chat models by predicate and language, and those of the paper (DLAMA, Table F10)."""
    table = _texts(runs, "question", lambda relation: relation.questions)
    places = zip(table["relation"], table["language"], strict=True)
    return table.assign(printed=[paper_questions().get(place, ("",))[0] for place in places])


def _texts(runs: Runs, column: str, texts_of: Callable[[Relation], Sequence[str]]) -> pd.DataFrame:
    texts = {
        (relation.label, str(relation.tags.get("language", "")), text)
        for benchmark in runs.benchmarks.values()
        for relation in benchmark.relations
        for text in texts_of(relation)
    }
    rows = sorted(texts, key=lambda row: (natural(row[0]), *row[1:]))
    return pd.DataFrame(rows, columns=["relation", "language", column])


def countries(runs: Runs) -> pd.DataFrame:
    """Return the countries of each culture with the Wikipedia sites whose articles are read (DLAMA, Table F8).

    Their names are those of a benchmark about them, in English.
    """
    names = {
        item.subject_id: item.subject
        for benchmark in runs.benchmarks.values()
        for relation in benchmark.relations
        if relation.tags.get("language") == COMMON_SITE
        for item in relation.items
    }
    rows = [
        (culture.name, names.get(country, country), ", ".join(dict.fromkeys([COMMON_SITE, *sites])))
        for culture in map(
            read_culture, dict.fromkeys(name for cultures, _ in KNOWN_PAIRS.values() for name in cultures)
        )
        for country, sites in culture.sites.items()
    ]
    return pd.DataFrame(rows, columns=["culture", "country", "sites"])


def fact_type_templates(_: Runs) -> pd.DataFrame:
    """Return the templates of each fact type (Geography, Table 7)."""
    rows = [(kind.head, kind.name, template) for kind in FACT_TYPES.values() for template in kind.templates]
    return pd.DataFrame(rows, columns=["head", "fact type", "template"])


TEXTS: Mapping[str, Callable[[Runs], pd.DataFrame]] = {
    "templates": templates,
    "questions": questions,
    "countries": countries,
    "fact_type_templates": fact_type_templates,
}
