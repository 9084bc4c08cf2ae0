"""Which pages of a site are pictured and checked."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.tools.page_kinds import Site, page_kinds

ITEM = {"relation": "P30", "template": 0, "index": 1}


class DescribedSite(Site):
    """A site with these numbers of measured runs on benchmarks of the named probes."""

    def __init__(self, runs: Mapping[tuple[str, str], int]) -> None:
        self.url = ""
        self.benchmarks = [{"name": name, "probe": probe} for probe, name in runs]
        self._runs = {name: number for (_, name), number in runs.items()}

    def answer(self, route: str) -> Any:
        if "/items" in route:
            return {"items": [ITEM]}
        name = route.partition("benchmark=")[2].partition("&")[0]
        model = {"hub_id": "org/model", "step": None}
        runs = [{"run": number, "provenance": "measured", "model": model} for number in range(self._runs.get(name, 0))]
        return {"runs": runs}


@pytest.mark.parametrize(
    ("runs", "names"),
    [
        ({}, {}),
        ({("cloze", "none"): 0}, {}),
        ({("cloze", "one"): 1, ("cloze", "three"): 3, ("ranking", "two"): 2}, {"cloze": "three", "ranking": "two"}),
        ({("cloze", "first"): 2, ("cloze", "second"): 2}, {"cloze": "first"}),
    ],
)
def test_each_probe_is_shown_on_the_benchmark_with_most_measured_runs(
    runs: dict[tuple[str, str], int], names: dict[str, str]
) -> None:
    assert DescribedSite(runs).measured() == names


@pytest.mark.parametrize(("number", "is_compared"), [(1, False), (2, True)])
def test_a_site_with_one_measured_run_has_every_page_but_a_comparison(number: int, is_compared: bool) -> None:
    pages = page_kinds(DescribedSite({("cloze", "mine"): number}))
    assert pages["run"] == "/runs/0/"
    assert ("compare" in pages) == is_compared
