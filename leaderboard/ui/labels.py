"""Titles for the short names that scores are stored under; a name without a title here is made readable."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from django.conf.locale import LANG_INFO

from leaderboard.models import Entry
from leaderboard.ui.visible import visible
from probing.analysis.breakdowns import CROSSED
from probing.formats.own_wordings import own_names
from probing.results.run_json import marked_start

MEASURED, PUBLISHED = "● Measured here", "○ Published"
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
    "culture_pair_language_relation": "Culture pair, language and relation",
    "culture_pair_language_relation_culture": "Culture pair, language, relation and culture",
    "language_relation": "Language and relation",
    "fact_type_major_leak": "Fact type, major and leak",
    "fact_type": "Fact type",
    "head": "Kind of place",
    "major": "Major fact types",
    "masked": "What the blank stands for",
    "repeats": "Repeated words",
    "wording": "Wording of a fact type",
    "repetition": "Repetition",
    "truth": "Truth",
    "level": "Level of difficulty",
    "divided_by": "What the log-probability is divided by",
}
SETTINGS = {
    "dtype": "Number format",
    "pll": "PLL",
    "start": "Start token",
    "templates": "Wordings",
}
GROUPS = {
    "single instance per answer": "each answer once",
    "multiple instances per answer": "answers repeat",
}
# Wikidata properties of facts that ship with this project, beside those that can be curated.
OTHER_PREDICATES = {"P131": "located in", "P279": "subclass of", "P361": "part of", "P2936": "language used"}
# The relations of the starter benchmarks, whose ids name what is given and what is asked.
STARTER_RELATIONS = {
    "animal_class": "class of an animal",
    "athlete_sport": "sport of an athlete",
    "author_language": "language of an author",
    "battle_war": "war of a battle",
    "city_country": "country of a city",
    "club_country": "country of a club",
    "company_country": "country of a company",
    "company_industry": "industry of a company",
    "composition_composer": "composer of a piece of music",
    "country_capital": "capital of a country",
    "country_continent": "continent of a country",
    "country_currency": "currency of a country",
    "country_language": "language of a country",
    "currency_country": "country of a currency",
    "dish_country": "country of a dish",
    "element_group": "group of an element",
    "event_century": "century of an event",
    "film_decade": "decade of a film",
    "film_director": "director of a film",
    "god_tradition": "mythology of a god",
    "instrument_family": "family of an instrument",
    "landmark_city": "city of a landmark",
    "language_family": "family of a language",
    "moon_planet": "planet of a moon",
    "novel_author": "author of a novel",
    "painting_painter": "painter of a painting",
    "river_continent": "continent of a river",
    "scientist_field": "field of a scientist",
    "state_capital": "capital of a state",
    "study_subject": "subject of a study",
    "unit_quantity": "quantity that a unit measures",
}
# The cultures that ship with this project, as they are called within a sentence.
CULTURES = {"Arab": "the Arab world", "Asia": "Asia", "South America": "South America", "West": "the West"}
LANGUAGES = {"zh": "Chinese"}  # that Django knows by their scripts only
METRICS = {
    "accuracy_sem": "Standard error over wordings",
    "majority_answer": "Commonest answer",
    "most_frequent_answer": "Commonest answer of all relations",
}
# The headings of docs/methods/ that explain columns, by the columns' names, as addresses below /methods/.
METHODS_HEADINGS = {
    "value": "#what-is-plus-minus",
    "score": "#what-is-plus-minus",
    "provenance": "#what-do-the-circles-mean",
    "n": "#why-can-a-number-of-items-be-a-fraction",
    "sem": "statistics/#standard-error-over-wordings",
    "accuracy_sem": "statistics/#standard-error-over-wordings",
    "chance": "#what-is-chance",
    "accuracy": "multiple-choice/#accuracy",
    "precision_at_5": "multiple-choice/#precision-at-5",
    "mean_reciprocal_rank": "multiple-choice/#precision-at-5",
    "ties": "multiple-choice/#ties",
    "difference": "comparing/#comparing-runs",
    "p_holm": "comparing/#comparing-runs",
    "margin": "scoring/#option-scores",
    "confidence": "sensitivity/#confidence",
    "p_at_1": "culture/#culture-pairs",
    "p_at_5": "culture/#culture-pairs",
    "gap": "culture/#the-gap",
    "specificity": "specificity/#specificity",
    "naturalness": "specificity/#factors",
    "relatedness": "specificity/#factors",
    "acc_at_10_either": "specificity/#acc10",
    "acc_at_10_fine": "specificity/#acc10",
    "superiority": "knowledge-graph/#effect-sizes",
    "cohens_d": "knowledge-graph/#effect-sizes",
    "discriminates": "knowledge-graph/#p-values",
    "in_top_1": "geography/#encoders",
    "in_top_5": "geography/#encoders",
    "in_top_10": "geography/#encoders",
    "in_near_1": "geography/#generators",
    "in_near_5": "geography/#generators",
    "in_near_15": "geography/#generators",
    "settings": "scoring/#what-a-run-records",
}


def column_name(*words: str) -> str:
    """Return the name of a CSV column: small letters, digits and hyphens, with an underscore for everything else."""
    return re.sub(r"[^\w-]+", "_", "_".join(words)).strip("_").lower()


def group_column(dimension: str, group: str) -> str:
    """Return the name of a group's CSV column, such as `domain_arts`; a group of several tags is its own name."""
    return column_name(group) if dimension in CROSSED else column_name(dimension, group)


def dimension(name: str) -> str:
    return DIMENSIONS.get(name, plain(name))


def metric(name: str) -> str:
    return METRICS.get(name, plain(name))


def relation(name: str) -> str:
    """Return a relation in words: the name of its Wikidata property, or its own with spaces for underscores."""
    words = own_names().get(name) or OTHER_PREDICATES.get(name) or STARTER_RELATIONS.get(name, "")
    return sentence(words) or (plain(name) if "_" in name and name == name.lower() else name)


def group(name: str) -> str:
    """Return a group of items in words: a value of a tag, or a relation."""
    return GROUPS.get(name) or relation(name)


def culture(name: str) -> str:
    """Return a culture as it is called within a sentence, behind a word such as "about"."""
    return CULTURES.get(name, f"the culture {name}")


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
    return LANGUAGES.get(code) or str(LANG_INFO.get(code, {}).get("name", code))


def variant(run: Entry) -> str:
    """Return what tells runs of one model apart, empty where all have the usual settings.

    A run that stands for earlier steps of its training says how many. A start token that also marks roles in the
    model's chat template is named.
    """
    words = " ".join(filter(None, [run.variant, run.earlier_in_words]))
    return ", ".join(filter(None, [words, visible(marked_start(run.provenance_record))]))


def counted(models_of_runs: Sequence[str]) -> str:
    """Return the number of models in words, given the model of each run, and that of the runs if it is larger."""
    number = len(set(models_of_runs))
    models = number_of(number, "model")
    return models if number == len(models_of_runs) else f"{models} in {len(models_of_runs)} runs"


def distinct(names: Mapping[int, str]) -> dict[int, str]:
    """Return the names of runs, with the run's number where several have the same name.

    Numbers of printed rows are below zero.
    """
    times, numbers = Counter(names.values()), {run: f"run {run}" if run > 0 else f"row {-run}" for run in names}
    return {run: f"{name}, {numbers[run]}" if times[name] > 1 else name for run, name in names.items()}


def number_of(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where there is not one of it."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


SLACK = 1e-9  # up to this size a difference of two figures is rounding


def ahead_in(differences: Iterable[float], noun: str) -> str:
    """Return in how many cases a side is ahead, and in how many level: "in 3 of 8 relations, level in 2"."""
    values = list(differences)
    ahead, level = sum(value > SLACK for value in values), sum(abs(value) <= SLACK for value in values)
    return f"in {ahead} of {number_of(len(values), noun)}{f', level in {level}' if level else ''}"


def plain(name: str) -> str:
    """Return a name with spaces for its underscores and with a capital."""
    return name.replace("_", " ").capitalize()
