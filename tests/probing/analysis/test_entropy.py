"""Entropy of right answers: by hand, and as the paper has it where the facts are the same."""

from pathlib import Path

import pytest

from probing.analysis.entropy import entropies, entropy
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
    found = entropies(dlama.read(DlamaFolder(tmp_path / "pairs").write()))
    assert found[["relation", "culture", "items"]].to_numpy().tolist() == [["P37", "Arab", 2], ["P37", "West", 3]]
    assert found["entropy"].tolist() == pytest.approx([0.0, 0.918296], abs=1e-6)


def test_arab_countries_have_one_official_language_in_the_sample(real_dlama: Path) -> None:
    found = entropies(dlama.read(real_dlama / "sample")).set_index(["relation", "culture", "language"])
    assert found.loc[("P37", "Arab", "en"), "entropy"] == 0.0
    assert found.loc[("P37", "Arab", "ar"), "entropy"] == 0.0
    assert found.loc[("P36", "Arab", "en"), "entropy"] == pytest.approx(2.3219, abs=1e-4)  # five capitals


def test_the_real_archive_has_the_papers_entropies_where_the_facts_hardly_changed(real_dlama: Path) -> None:
    """Table 2 of the paper; the later release has the same 22 Arab countries."""
    found = entropies(dlama.read(real_dlama / "cultlama_v1.tar.gz"))
    chosen = found[(found.culture_pair == "arab-west") & (found.language == "en") & (found.objects == "raw")]
    entropy_of = chosen.set_index(["relation", "culture"])["entropy"].round(1)
    expected = {("P36", "Arab"): 4.5, ("P36", "West"): 4.2, ("P37", "Arab"): 0.0, ("P47", "Arab"): 2.5}
    assert {key: entropy_of[key] for key in expected} == expected
