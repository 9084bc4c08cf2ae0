"""What exhibits show of their runs."""

from types import SimpleNamespace
from typing import Any, cast

import pandas as pd

from probing.papers.measures import ExhibitRuns, measured_scores
from probing.results.result import Result


def scores(metric: str, counted: dict[str, float], value: float) -> Result:
    """A result with one score for each fact type; `counted`: how many of its sentences count."""
    shared = {"metric": metric, "dimension": "fact_type", "value": value, "low": 0.0, "high": 1.0}
    rows: list[dict[str, Any]] = [{**shared, "group": group, "n": n} for group, n in counted.items()]
    return cast(Result, SimpleNamespace(scores=pd.DataFrame(rows)))


def test_a_fact_type_is_major_by_the_sentences_that_count_in_a_run_whatever_the_file_has() -> None:
    results = {
        ("encoder", "sentences"): scores("in_top_5", {"range": 20.0, "river": 19.0, "dam": 19.0}, 0.25),
        ("other encoder", "sentences"): scores("in_top_5", {"range": 20.0, "river": 19.0, "dam": 19.0}, 0.75),
        ("generator", "sentences"): scores("in_near_5", {"range": 7.0, "river": 25.0, "dam": 3.0}, 0.5),
    }
    table = measured_scores("means_of_kinds", ExhibitRuns({}, results))
    means = {(row["metric"], row["group"]): row["value"] for row in table.to_dict("records")}
    assert means == {
        ("mean_of_encoders", "range"): 0.5,
        ("mean_of_encoders", "river"): 0.5,
        ("mean_of_generators", "range"): 0.5,
        ("mean_of_generators", "river"): 0.5,
    }
