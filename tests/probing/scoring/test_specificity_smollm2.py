"""Specificity of a real model on the starter pairs."""

from pathlib import Path

import pytest

from probing.runner import run
from probing.scoring.load import load


@pytest.mark.slow
def test_examples_make_smollm2_more_specific_but_a_clause_after_the_blank_does_not(smollm2: Path) -> None:
    model = load(str(smollm2))
    vanilla, few_shot, cascade = (
        run(model, "pairs", probe="specificity", prompting=prompting, relations="part_of", limit=11, progress=False)
        for prompting in ("vanilla", "few-shot", "cascade")
    )
    assert few_shot.items["specific"].mean() > vanilla.items["specific"].mean()
    assert cascade.items["specific"].equals(vanilla.items["specific"])
