"""The measurement of how fast a corpus is counted."""

from pathlib import Path

from probing.catalog import open_benchmark
from probing.exposure.named_facts import facts_of
from speed.corpus_counting import REQUIRED, missed, rate, write_corpus


def test_a_corpus_states_facts_and_has_a_rate(tmp_path: Path) -> None:
    facts = facts_of(open_benchmark("starter"))
    write_corpus(tmp_path / "corpus.jsonl", facts, 100_000)
    assert (tmp_path / "corpus.jsonl").stat().st_size >= 100_000
    assert " has to do with " in (tmp_path / "corpus.jsonl").read_text(encoding="utf-8")
    assert rate(tmp_path / "corpus.jsonl", facts, "sentence") > 0


def test_a_rate_below_the_required_one_is_a_miss() -> None:
    (line,) = missed({"required": REQUIRED, "megabytes_per_second": {"sentence": 19.9, "document": 20.0}})
    assert line == "by sentence: 19.9 MB/s, required are 20.0"
