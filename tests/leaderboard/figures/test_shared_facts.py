"""Facts that two benchmarks share, counted when one of them is imported."""

from pathlib import Path

import pytest
from django.test import Client

from leaderboard.figures import benchmarks
from leaderboard.figures.outcomes import shared_facts
from leaderboard.models import Benchmark
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.kept import kept
from tests.probing.formats.dlama_folder import DlamaFolder

ARAB, WEST = (f"arab-west/dlama/en/P37_general_{region}.jsonl" for region in ("ARAB_REGION", "WESTERN_COUNTRIES"))


@pytest.fixture
def whole(tmp_path: Path, db: None) -> Benchmark:
    """A benchmark of two Arab facts and three Western ones."""
    folder = DlamaFolder(tmp_path / "whole")
    return kept("whole", lambda: benchmarks.install("dlama", folder.write(), "whole")[0])


@pytest.fixture
def part(tmp_path: Path, whole: Benchmark) -> Benchmark:
    """One with a fact of either culture less, and one whose object is another."""
    folder = DlamaFolder(tmp_path / "part")
    del folder.facts[ARAB][0], folder.facts[WEST][0]
    folder.facts[WEST][0] |= {"obj_uri": ["Q0"], "obj_label": ["Klingon"]}
    return kept("part", lambda: benchmarks.install("dlama", folder.write(), "part")[0])


def counts(slug: str) -> list[tuple[str, str, int, int]]:
    rows = shared_facts(Benchmark.objects.get(slug=slug, main=True, current=True), Benchmark.objects.all())
    return [(row.other.slug, row.culture, row.facts, row.shared) for row in rows]


def test_both_benchmarks_keep_what_they_share(part: Benchmark) -> None:
    assert counts("part") == [("whole", "Arab", 1, 1), ("whole", "West", 2, 1)]
    assert counts("whole") == [("part", "Arab", 2, 1), ("part", "West", 3, 1)]


def test_a_new_version_is_counted_anew(tmp_path: Path, part: Benchmark) -> None:
    folder = DlamaFolder(tmp_path / "again")
    del folder.facts[WEST][0]
    benchmarks.install("dlama", folder.write(), "part")
    assert counts("part") == [("whole", "Arab", 2, 2), ("whole", "West", 2, 2)]
    assert counts("whole") == [("part", "Arab", 2, 2), ("part", "West", 3, 2)]


def test_benchmarks_without_a_shared_fact_keep_nothing(tmp_path: Path, part: Benchmark) -> None:
    folder = DlamaFolder(tmp_path / "other")
    for lines in folder.facts.values():
        for number, line in enumerate(lines):
            line["sub_uri"] = f"Q9999{number}"
    benchmarks.install("dlama", folder.write(), "other")
    assert counts("other") == []
    assert {row[0] for row in counts("whole")} == {"part"}


def test_what_was_imported_before_is_counted_at_the_next_import(tmp_path: Path, part: Benchmark) -> None:
    Benchmark.objects.update(shared_facts=None)
    assert counts("whole") == []
    assert benchmarks.install("dlama", DlamaFolder(tmp_path / "same").write(), "whole")[1] is False
    assert counts("whole") == [("part", "Arab", 2, 1), ("part", "West", 3, 1)]
    assert counts("part")


def test_a_page_shows_the_counts_while_both_benchmarks_are_here(client: Client, part: Benchmark) -> None:
    rows = csv_rows(client, "/benchmarks/part/", "overlap")
    assert [(row["other"], row["culture"], row["facts"], row["shared"]) for row in rows] == [
        ("whole", "Arab", "1", "1"),
        ("whole", "West", "2", "1"),
    ]
    page = client.get("/benchmarks/part/").content.decode()
    assert "Facts that other benchmarks have as well" in page
    Benchmark.objects.filter(slug="whole").update(current=False)
    assert "Facts that other benchmarks have as well" not in client.get("/benchmarks/part/").content.decode()
