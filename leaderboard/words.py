"""How pages call what the tables of scores call by a short name; what is not here is shown as it is stored."""

DIMENSIONS = {
    "overall": "Overall",
    "template": "Template",
    "relation": "Relation",
    "domain": "Domain",
    "cardinality": "Cardinality",
    "culture": "Culture",
    "culture_pair": "Culture pair",
    "language": "Language",
    "fact_type": "Fact type",
    "head": "Head",
}
METRICS = {
    "accuracy": "Accuracy",
    "accuracy_sem": "Template SEM",
    "p_at_1": "P@1",
    "in_near_15": "In near 15",
    "p_value_median": "Median p-value",
    "relative_accuracy_lm_pub_quiz": "Relative accuracy",
    "chance": "Chance",
    "mean_reciprocal_rank": "Mean reciprocal rank",
    "precision_at_5": "Precision at 5",
}


def dimension(name: str) -> str:
    return DIMENSIONS.get(name, _plain(name))


def metric(name: str) -> str:
    return METRICS.get(name, _plain(name))


def _plain(name: str) -> str:
    return name.replace("_", " ").capitalize()
