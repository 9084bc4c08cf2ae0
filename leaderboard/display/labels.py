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
    "accuracy": "Accuracy",
    "accuracy_sem": "Template SEM",
    "p_at_1": "P@1",
    "p_at_1_statement": "P@1, whole statement",
    "p_at_5": "P@5",
    "culture_gap": "Gap between cultures",
    "culture_gap_p": "p-value of the gap",
    "wrong_own_culture": "Wrong, own culture",
    "wrong_other_culture": "Wrong, other culture",
    "wrong_both_cultures": "Wrong, both cultures",
    "wrong_no_culture": "Wrong, neither culture",
    "accuracy_substring": "Accuracy, substring",
    "accuracy_substring_normalised": "Accuracy, normalised substring",
    "accuracy_exact": "Accuracy, exact",
    **{f"in_top_{k}": f"In top {k}" for k in (1, 5, 10)},
    "in_near_1": "Within 1 token",
    **{f"in_near_{k}": f"Within {k} tokens" for k in (5, 15)},
    "not_one_token": "Answer not one token",
    "p_value": "p-value",
    "p_value_mean": "Mean p-value",
    "p_value_std": "Standard deviation of p-values",
    "p_value_median": "Median p-value",
    "p_value_spread": "Range of p-values",
    "p_value_less": "p-value, one-sided",
    "p_value_welch": "p-value, Welch",
    "p_value_mann_whitney": "p-value, Mann-Whitney",
    "log10_p": "log₁₀ p",
    "log10_p_less": "log₁₀ p, one-sided",
    "log10_p_welch": "log₁₀ p, Welch",
    "log10_p_mann_whitney": "log₁₀ p, Mann-Whitney",
    "log10_p_median": "log₁₀ p, median",
    "log10_p_less_median": "log₁₀ p one-sided, median",
    "log10_p_welch_median": "log₁₀ p Welch, median",
    "log10_p_mann_whitney_median": "log₁₀ p Mann-Whitney, median",
    "superiority": "Probability of superiority",
    "cohens_d": "Cohen's d",
    "discriminates": "Discriminating repetitions",
    "perplexity_median": "Median perplexity",
    "perplexity_corpus": "Corpus perplexity",
    "relative_accuracy_lm_pub_quiz": "Relative accuracy",
    "acc_at_10_either": "Acc@10, either answer",
    "acc_at_10_fine": "Acc@10, fine answer",
    "acc_at_10_fine_change": "Change of Acc@10, fine answer",
    "specificity_all_pairs": "Specificity, all pairs",
    "specificity_whole_clause": "Specificity, whole clause",
    "chance": "Chance",
    "mean_reciprocal_rank": "Mean reciprocal rank",
    "precision_at_5": "Precision at 5",
}
# A probe's options.
OPTIONS = {
    "by": "Perplexity per",
    "chat": "Use the chat template",
    "closed": "Rank only the relation's answers",
    "public_code": "Compute as the paper's public code",
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
