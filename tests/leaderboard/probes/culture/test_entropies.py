"""How varied the answers of a culture benchmark's predicates are."""

import shutil
from pathlib import Path

import pytest
from django.test import Client

from leaderboard.figures import benchmarks
from leaderboard.models import Benchmark, Run
from leaderboard.probes.culture.variety import variety
from tests.leaderboard.csv_rows import csv_rows
from tests.probing.formats.dlama_folder import DlamaFolder, fact

pytestmark = pytest.mark.django_db


def test_the_benchmark_shows_items_and_entropies_of_both_cultures_side_by_side(
    client: Client, culture_run: Run
) -> None:
    rows = csv_rows(client, "/benchmarks/culture/", "entropies")
    names = ("language", "relation", "first_items", "second_items", "first_entropy")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("ar, en", "P37", "2", "3", "0.0"),
        ("ar, en", "all", "2", "3", "0.0"),
    ]
    assert [float(row["second_entropy"]) for row in rows] == pytest.approx([0.918296, 0.918296], abs=1e-6)
    of_pairs = culture_run.scores.filter(metric="p_at_1", dimension="culture_pair_language_culture")
    assert float(rows[1]["first_best"]) == max(of_pairs.filter(group__endswith="Arab").values_list("value", flat=True))


def test_a_page_about_one_pair_has_no_columns_in_which_all_rows_are_alike(client: Client, culture_run: Run) -> None:
    folds = client.get("/benchmarks/culture/").context["folds"]
    ((section,),) = [fold.sections for fold, _ in folds if fold.name == "entropies"]
    assert (table := section.table)
    assert {column.name for column in table.columns if not column.shown} == {"pair", "language", "objects"}


def test_the_benchmark_says_what_was_left_out(client: Client, tmp_path: Path) -> None:
    folder = DlamaFolder(tmp_path / "pairs")
    folder.facts["arab-west/dlama/ja/P37_general_ARAB_REGION.jsonl"] = [fact(79, "エジプト", {"Q13955": "アラビア語"})]
    benchmarks.install("dlama", folder.write(), "culture")
    assert "Items left out, no template in ja: 1." in client.get("/benchmarks/culture/").content.decode()


def test_a_benchmark_whose_files_cannot_be_read_has_no_varieties(culture: Benchmark, data: Path) -> None:
    benchmarks._read_files.cache_clear()
    shutil.rmtree(data / culture.path)
    assert variety(culture.pk) == ([], ())


def test_figures_of_a_paper_are_not_the_best_that_was_measured_here(
    client: Client, culture: Benchmark, published_culture_run: Run
) -> None:
    Run.objects.exclude(pk=published_culture_run.pk).delete()
    assert {row["first_best"] for row in csv_rows(client, "/benchmarks/culture/", "entropies")} == {""}
