"""The forgetting experiment in small: one relation, and fewer steps than the example itself takes."""

from pathlib import Path

import pandas as pd
import pytest

from examples.forgetting import CHOICE, FILLING, forgetting, save


@pytest.mark.slow  # trains a model for many seconds
def test_mask_filling_measures_far_more_forgetting_than_choosing_from_the_answers(tmp_path: Path) -> None:
    table = forgetting(fact_steps=150, stage_steps=30, relations=("god_tradition",))
    accuracy = table.pivot(index="stage", columns="asked by", values="accuracy")
    kept = table.pivot(index="stage", columns="asked by", values="kept")
    assert accuracy.loc[0].min() > 0.5
    assert kept.loc[5, FILLING] < kept.loc[5, CHOICE] / 2
    assert kept.loc[3:, FILLING].sum() < kept.loc[3:, CHOICE].sum()
    save(table, tmp_path / "figures")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "figures" / "forgetting.csv"), table)
    assert "accuracy kept" in (tmp_path / "figures" / "forgetting.html").read_text(encoding="utf-8")
