"""A real model on the starter pairs."""

from pathlib import Path

import pytest

from probing.runner import run
from probing.scoring.load import load


@pytest.mark.slow
def test_smollm2_becomes_more_specific_by_examples_and_not_by_a_clause_it_cannot_see(smollm2: Path) -> None:
    model = load(str(smollm2))
    vanilla, shown, cascade = (
        run(model, "pairs", probe="specificity", prompting=prompting, relations="part_of", limit=11, progress=False)
        for prompting in ("vanilla", "few-shot", "cascade")
    )
    assert shown.items["specific"].mean() > vanilla.items["specific"].mean()
    assert cascade.items["specific"].equals(vanilla.items["specific"])
