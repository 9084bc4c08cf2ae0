"""Known accuracies of a real model on the real benchmark."""

from pathlib import Path

import pytest

from probing.runner import run


@pytest.mark.slow
def test_smollm2_has_its_known_accuracies_with_and_without_an_early_decision(smollm2: Path, real_bear: Path) -> None:
    """The first 20 items of three relations with template 0."""
    full, decided = (
        run(smollm2, real_bear, relations=["P30", "P36", "P19"], limit=20, decide=decide, progress=False).items
        for decide in (False, True)
    )
    assert full.groupby("relation")["correct"].mean().to_dict() == {"P19": 0.25, "P30": 0.60, "P36": 0.55}
    assert full["prediction"].to_list() == decided["prediction"].to_list()
    exact = decided["exact"].explode()
    assert 0 < exact.mean() < 0.5
