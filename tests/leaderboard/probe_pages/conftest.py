"""Benchmarks and runs that the tests of several probes' pages share."""

import json
from pathlib import Path

import pytest

from leaderboard.models import Benchmark, Run
from leaderboard.probe_pages.published import load
from leaderboard.stored import benchmarks
from tests.leaderboard import factories as make
from tests.leaderboard.probe_pages.cloze_runs import TRIPLES, cloze_run
from tests.leaderboard.probe_pages.culture_runs import culture_run_of
from tests.probing.formats.dlama_folder import DlamaFolder


@pytest.fixture
def geography(db: None, tmp_path: Path) -> Benchmark:
    folder = tmp_path / "triples"
    folder.mkdir()
    (folder / "triples.jsonl").write_text("".join(json.dumps(triple) + "\n" for triple in TRIPLES))
    return benchmarks.install("geography", folder, "geography")[0]


@pytest.fixture
def cities(db: None, tmp_path: Path) -> Run:
    """A major fact type with 24 sentences, of which 4 are leaky, and the two minor ones of before."""
    named = [("City", "Egypt", 16), ("Egypt Town", "Egypt", 4), ("Village", "France", 4)]
    triples = [
        {"fact_type": "city_country", "subject": f"{name} {number}", "objects": [country]}
        for name, country, many in named
        for number in range(many)
    ]
    (tmp_path / "triples.jsonl").write_text("".join(json.dumps(triple) + "\n" for triple in [*triples, *TRIPLES[2:]]))
    return cloze_run(benchmarks.install("geography", tmp_path, "cities")[0], make.model("org/encoder", kind="masked"))


@pytest.fixture
def encoder(geography: Benchmark) -> Run:
    return cloze_run(geography, make.model("org/encoder", kind="masked"))


@pytest.fixture
def generator(geography: Benchmark) -> Run:
    return cloze_run(geography, make.model("org/generator", kind="causal"))


@pytest.fixture
def culture(db: None, tmp_path: Path) -> Benchmark:
    folder = DlamaFolder(tmp_path / "pairs")
    folder.add_arabic()
    return benchmarks.install("dlama", folder.write(), "culture")[0]


@pytest.fixture
def culture_run(culture: Benchmark) -> Run:
    return culture_run_of(culture, "org/one")


@pytest.fixture
def published_culture_run(culture: Benchmark, culture_run: Run, tmp_path: Path) -> Run:
    """A paper's figures of the same model."""
    sides = [("culture", "Arab", 0.336), ("culture", "West", 0.23)]
    sides += [("relation_culture", "P37 Arab", 0.9), ("relation_culture", "P37 West", 0.8)]
    about = {"metric": "p_at_1", "n": 100, "low": None, "high": None}
    row = {
        "model": "org/one",
        "name": "One",
        "kind": "masked",
        "parameters": None,
        "settings": {"pair": "arab-west", "language": "ar"},
        "reference": "Table 1",
        "scores": [{**about, "dimension": where, "group": group, "value": value} for where, group, value in sides],
    }
    content = {
        "source": {"title": "A paper", "authors": "A. Author", "year": 2023, "url": "https://example.org"},
        "benchmark": {"slug": "culture", "title": "Culture", "version": "published", "probe": "ranking"},
        "differs": "Other facts.",
        "rows": [row],
    }
    folder = tmp_path / "published"
    folder.mkdir()
    (folder / "paper.json").write_text(json.dumps(content))
    load(folder)
    return Run.objects.get(provenance=Run.Provenance.PUBLISHED)
