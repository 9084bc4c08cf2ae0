"""Titles for the short names that scores are stored under; a name without a title here is made readable."""

from collections.abc import Sequence

from django.conf.locale import LANG_INFO

from leaderboard.models import Run

DIMENSIONS = {
    "overall": "Overall",
    "template": "Wording",
    "relation": "Relation",
    "domain": "Domain",
    "cardinality": "Cardinality",
    "culture": "Culture",
    "culture_pair": "Culture pair",
    "language": "Language",
    "relation_culture": "Relation and culture",
    "culture_pair_culture": "Culture pair and culture",
    "culture_pair_language": "Culture pair and language",
    "culture_pair_language_culture": "Culture pair, language and culture",
    "fact_type": "Fact type",
    "head": "Head",
    "major": "Major fact types",
    "repeats": "Repeated words",
    "normalisation": "Normalisation",
    "repetition": "Repetition",
    "truth": "Truth",
}
SETTINGS = {
    "dtype": "Number format",
    "pll": "PLL",
    "pmi": "PMI",
    "start": "Start token",
}
METRICS = {
    "accuracy_sem": "Spread over wordings",
}
# The headings of docs/methods.md that explain columns, by the columns' names; /methods/ has them as ids.
ABOUT = {
    "rank": "what-does-a-rank-such-as-25-mean",
    "places": "what-does-a-rank-such-as-25-mean",
    "tie_group": "ranks",
    "value": "what-is",
}


def dimension(name: str) -> str:
    return DIMENSIONS.get(name, plain(name))


def metric(name: str) -> str:
    return METRICS.get(name, plain(name))


def setting(name: str) -> str:
    return SETTINGS.get(name, plain(name))


def choice(value: str | bool) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else value


def within(title: str) -> str:
    """Return a metric's title as it is written within a sentence; names such as P@1 keep their capital."""
    return title if title[1:2] == "@" else title[:1].lower() + title[1:]


def sentence(text: str) -> str:
    """Return a text with a capital at its start, everything else unchanged."""
    return f"{text[:1].upper()}{text[1:]}"


def language(code: str) -> str:
    """Return a language's English name, or its code if Django does not know it."""
    return str(LANG_INFO.get(code, {}).get("name", code))


def counted(runs: Sequence[Run]) -> str:
    """Return the number of models in words, and that of the runs where it is larger."""
    number = len({run.model.hub_id for run in runs})
    models = f"{number} model{'' if number == 1 else 's'}"
    return models if number == len(runs) else f"{models} in {len(runs)} runs"


def plain(name: str) -> str:
    """Return a name with spaces for its underscores and with a capital."""
    return name.replace("_", " ").capitalize()
