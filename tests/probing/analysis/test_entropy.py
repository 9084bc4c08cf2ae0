"""Entropy of right answers: by hand, and as the paper has it where the facts are the same."""

from pathlib import Path

import pandas as pd
import pytest

from probing.analysis.culture_metrics import ENTROPY_COLUMNS, entropies, entropy, totals
from probing.formats import dlama
from tests.probing.formats.dlama_folder import DlamaFolder


@pytest.mark.parametrize(
    ("objects", "bits"),
    [
        ([["Q1"], ["Q1"], ["Q1"]], 0.0),
        ([["Q1"], ["Q2"]], 1.0),
        ([["Q1"], ["Q2"], ["Q3"], ["Q4"]], 2.0),
        ([["Q1"], ["Q1"], ["Q1"], ["Q2"]], 0.811278),
        # The object that is most frequent among all stands for an item with several.
        ([["Q1", "Q2"], ["Q1"], ["Q3", "Q1"]], 0.0),
        # Of equally frequent ones the first id, as people count: Q9 before Q10.
        ([["Q10", "Q9"], ["Q9", "Q10"]], 0.0),
        ([["Q10", "Q9"], ["Q9", "Q10"], ["Q10", "Q3"], ["Q9"]], 0.811278),
    ],
)
def test_it_is_what_one_computes_by_hand(objects: list[list[str]], bits: float) -> None:
    assert entropy(objects) == pytest.approx(bits, abs=1e-6)


def test_it_has_one_line_per_relation_and_culture(tmp_path: Path) -> None:
    table = entropies(dlama.read(DlamaFolder(tmp_path / "pairs").write()))
    assert table[["relation", "culture", "items"]].to_numpy().tolist() == [["P37", "Arab", 2], ["P37", "West", 3]]
    assert table["entropy"].tolist() == pytest.approx([0.0, 0.918296], abs=1e-6)


def test_arab_countries_have_one_official_language_in_the_sample(real_dlama: Path) -> None:
    table = entropies(dlama.read(real_dlama / "sample")).set_index(["relation", "culture", "language"])
    assert table.loc[("P37", "Arab", "en"), "entropy"] == 0.0
    assert table.loc[("P37", "Arab", "ar"), "entropy"] == 0.0
    assert table.loc[("P36", "Arab", "en"), "entropy"] == pytest.approx(2.3219, abs=1e-4)  # five capitals


@pytest.mark.slow
def test_the_real_archive_has_the_papers_entropies_where_the_facts_hardly_changed(real_dlama: Path) -> None:
    """Table 2 of the paper; the later release has the same 22 Arab countries."""
    table = entropies(dlama.read(real_dlama / "cultlama_v1.tar.gz"))
    chosen = table[(table.culture_pair == "arab-west") & (table.language == "en") & (table.objects == "raw")]
    entropy_of = chosen.set_index(["relation", "culture"])["entropy"].round(1)
    expected = {("P36", "Arab"): 4.5, ("P36", "West"): 4.2, ("P37", "Arab"): 0.0, ("P47", "Arab"): 2.5}
    assert {key: entropy_of[key] for key in expected} == expected


@pytest.mark.slow
def test_western_continents_differ_from_the_paper_by_one_object_of_the_older_release(real_dlama: Path) -> None:
    """The paper has 1.0; these files place the United States in Insular Oceania too, as a third."""
    continents = dlama.read(real_dlama / "cultlama_v1.tar.gz")["P30.arab-west.en"]
    west = {
        item.subject: [continents.answer_space[answer] for answer in item.answers]
        for item in continents.items
        if item.tags["culture"] == "West"
    }
    assert entropy(list(west.values())) == pytest.approx(0.913, abs=1e-3)
    assert west["United States of America"] == ["Insular Oceania", "North America"]
    west["United States of America"].remove("Insular Oceania")
    assert entropy(list(west.values())) == pytest.approx(0.953, abs=1e-3)


def test_all_relations_together_have_the_sum_of_items_and_the_plain_mean() -> None:
    tags = {"culture_pair": "arab-west", "language": "en", "objects": "augmented"}
    sides = [("P30", "Arab", 10, 1.0), ("P30", "West", 20, 2.0), ("P37", "Arab", 30, 0.0), ("P37", "West", 40, 3.0)]
    by_relation = pd.DataFrame([{**tags, **dict(zip(ENTROPY_COLUMNS[3:], side, strict=True))} for side in sides])
    whole = totals(by_relation)
    assert whole[["relation", "culture", "items", "entropy"]].to_numpy().tolist() == [
        ["all", "Arab", 40, 0.5],
        ["all", "West", 60, 2.5],
    ]
