from typing import Any

from speed.report import missed


def comparison(ratio: float, required: float | None) -> dict[str, Any]:
    return {"model": {"name": "BERT"}, "rows": [{"system": "full", "ratio": ratio, "must_be": required}]}


def test_a_ratio_below_the_required_one_is_missed() -> None:
    assert missed([comparison(1.4, 1.5)]) == ["BERT, full: 1.40 times the peer, must be 1.5."]


def test_a_ratio_that_equals_the_required_one_holds() -> None:
    assert missed([comparison(1.5, 1.5), comparison(1.0, None)]) == []
