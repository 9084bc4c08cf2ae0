"""How pages call what the tables of scores call by a short name; what is not here is shown as it is stored."""

from collections.abc import Sequence

from django.conf.locale import LANG_INFO

from leaderboard.models import Run

DIMENSIONS = {
    "overall": "Overall",
    "template": "Template",
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
    "repetition": "Repetition",
    "truth": "Truth",
}
METRICS = {
    "accuracy_sem": "Template SEM",
}
# A probe's options.
OPTIONS = {
    "by": "Perplexity per",
    "chat": "Use the chat template",
    "closed": "Rank only the relation's answers",
    "k": "Counted answers",
    "pair": "Culture pair",
    "public_code": "Compute as the paper's public code",
    "shots": "Demonstrations",
    "tokens": "Tokens to write",
}


def dimension(name: str) -> str:
    return DIMENSIONS.get(name, _plain(name))


def metric(name: str) -> str:
    return METRICS.get(name, _plain(name))


def option(name: str) -> str:
    return OPTIONS.get(name, _plain(name))


def choice(value: str | bool) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else value


def within(title: str) -> str:
    """A metric's title as it stands within a sentence; names such as P@1 keep their capital."""
    return title if title[1:2] == "@" else title[:1].lower() + title[1:]


def language(code: str) -> str:
    """A language's English name, or its code where it has none here."""
    return str(LANG_INFO.get(code, {}).get("name", code))


def counted(runs: Sequence[Run]) -> str:
    """How many models they are of, and how many runs where these are more."""
    models = len({run.model.hub_id for run in runs})
    said = f"{models} model{'' if models == 1 else 's'}"
    return said if models == len(runs) else f"{said} in {len(runs)} runs"


def _plain(name: str) -> str:
    return name.replace("_", " ").capitalize()
