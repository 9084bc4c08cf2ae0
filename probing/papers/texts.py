"""Tables of texts and lists that papers have in their appendices, from the files by which this project asks."""

from collections.abc import Callable, Mapping

import pandas as pd

from probing.curation.cultures import COMMON_SITE, KNOWN_PAIRS, read_culture
from probing.formats.dlama import natural
from probing.formats.own_wordings import paper_questions
from probing.papers.measures import Runs
from probing.statements.fact_types import FACT_TYPES


def templates(runs: Runs) -> pd.DataFrame:
    """Return the templates by relation and language (DLAMA, Table F9), with those of cascades (S-TEST, Table 6)."""
    texts = {
        (relation.label, str(relation.tags.get("language", "")), template)
        for benchmark in runs.benchmarks.values()
        for relation in benchmark.relations
        for template in relation.cascades or relation.templates
    }
    rows = sorted(texts, key=lambda row: (natural(row[0]), *row[1:]))
    table = pd.DataFrame(rows, columns=["relation", "language", "template"])
    return table if table["language"].any() else table.drop(columns="language")


def questions(runs: Runs) -> pd.DataFrame:
    """Return the questions to chat models by predicate and language, and those of the paper (DLAMA, Table F10)."""
    texts = {
        (relation.label, str(relation.tags.get("language", "")), question)
        for benchmark in runs.benchmarks.values()
        for relation in benchmark.relations
        for question in relation.questions
    }
    rows = sorted(texts, key=lambda row: (natural(row[0]), *row[1:]))
    printed = [paper_questions().get((relation, language), ("",))[0] for relation, language, _ in rows]
    return pd.DataFrame(rows, columns=["relation", "language", "question"]).assign(printed=printed)


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
