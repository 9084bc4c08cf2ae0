"""What the columns of a CSV file hold: a file beside it, as the W3C's "CSV on the Web" describes such files."""

from collections.abc import Iterable, Mapping
from typing import Any

from leaderboard.display.cells import Raw

CONTENT_TYPE = "application/csvm+json"
FORMAT = "csv-meta"  # the value of the parameter `format`
# The same columns wherever they stand; the help of a table's own column comes first.
MEANINGS: Mapping[str, str] = {
    "run": "the number of the run; /runs/<number>/ is its page",
    "model": "the model's id on the hub, or the name that its paper prints",
    "benchmark": "the title of the benchmark",
    "version": "the version of the benchmark",
    "settings": "what differs from the benchmark's usual runs",
    "provenance": "where the figures come from",
    "metric": "the name of the metric, such as accuracy",
    "dimension": "what the questions are grouped by: overall, template, relation or a tag",
    "group": "the group within the dimension; all overall",
    "value": "the value of the metric",
    "score": "the model's figure in the main metric of the benchmark",
    "n": "the number of questions; a fraction where a question belongs to several groups",
    "low": "the lower end of the 95 % interval for other questions of the same relations",
    "high": "its upper end",
    "cluster_low": "the lower end of the 95 % interval for other relations like these",
    "cluster_high": "its upper end",
    "correct": "whether the answer counts as right",
}


def metadata(address: str, title: str, types: Mapping[str, str], meanings: Mapping[str, str]) -> dict[str, Any]:
    """Return the description of a CSV file at `address`: the types of its columns by their names, and meanings."""
    columns = [
        {"name": name, "titles": name, "datatype": kind, **_described(meanings.get(name) or MEANINGS.get(name, ""))}
        for name, kind in types.items()
    ]
    return {
        "@context": "http://www.w3.org/ns/csvw",
        "url": address,
        "dc:title": title,
        "dc:publisher": "Clozeboard",
        "dialect": {"encoding": "utf-8", "header": True, "lineTerminators": ["\n"]},
        "tableSchema": {"columns": columns},
    }


def _described(meaning: str) -> dict[str, str]:
    return {"dc:description": meaning} if meaning else {}


def datatype(values: Iterable[Raw]) -> str:
    """Return the type of a column of a CSV file: that of all its values, text where they differ."""
    kinds = {type(value) for value in values if value not in (None, "")}
    if kinds <= {int}:
        return "integer" if kinds else "string"
    if kinds <= {int, float}:
        return "number"
    return "boolean" if kinds == {bool} else "string"
