from typing import Any

from speed.report import missed


def comparison(ratio: float, bar: float | None) -> dict[str, Any]:
    return {"model": {"name": "BERT"}, "rows": [{"system": "full", "ratio": ratio, "must_be": bar}]}


def test_a_ratio_below_its_bar_is_missed() -> None:
    assert missed([comparison(1.4, 1.5)]) == ["BERT, full: 1.40 times the peer, must be 1.5."]


def test_a_ratio_at_its_bar_holds() -> None:
    assert missed([comparison(1.5, 1.5), comparison(1.0, None)]) == []
