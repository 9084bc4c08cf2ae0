"""How fast the facts of a benchmark are counted in a corpus: `python -m speed.corpus_counting`.

The corpus is this project's documents, over and over, with the names of a fact in every third line, as JSON Lines.
Processor time of one process decides. The exit code is 1 where fewer bytes are read in a second than is required.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import probing
from probing.exposure.corpus import CorpusFile
from probing.exposure.counting import count_file
from probing.exposure.matching import DOCUMENT, SENTENCE
from probing.exposure.named_facts import NO_ALIASES, Aliases, Fact, facts_of
from speed.machine import describe
from speed.stored_results import CHECKOUT, show
from speed.work import bear

REQUIRED = 20.0  # megabytes a second, of one core
MEGABYTES, ROUNDS = 16, 3
UNITS = (SENTENCE, DOCUMENT, "window:50")


def main() -> int:
    argparse.ArgumentParser(prog="python -m speed.corpus_counting", description=__doc__).parse_args()
    benchmark = bear()
    aliases = Aliases.of_benchmark(benchmark) if benchmark else NO_ALIASES
    facts = facts_of(benchmark or probing.open_benchmark("starter"), aliases)
    with TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus.jsonl"
        write_corpus(corpus, facts, MEGABYTES * 10**6)
        rates = {unit: rate(corpus, facts, unit) for unit in UNITS}
    results = {"machine": describe(), "facts": len(facts), "required": REQUIRED, "megabytes_per_second": rates}
    show(results)
    misses = missed(results)
    print(*misses, sep="\n", file=sys.stderr)
    return int(bool(misses))


def write_corpus(path: Path, facts: Sequence[Fact], size: int) -> None:
    """Write documents until they take so many bytes."""
    chance = random.Random(0)
    texts = [file.read_text(encoding="utf-8") for file in sorted((CHECKOUT / "docs").rglob("*.md"))]
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < size:
            for text in texts:
                lines = text.split("\n")
                for number in range(0, len(lines), 3):
                    fact = chance.choice(facts)
                    lines[number] += f" {fact.subject} has to do with {fact.answer}. "
                file.write(json.dumps({"text": "\n".join(lines)}) + "\n")


def rate(corpus: Path, facts: Sequence[Fact], unit: str) -> float:
    """Return how many megabytes of the file are counted in a second of processor time."""
    count_file(CorpusFile.of_path(corpus), tuple(facts[:1]), unit)  # so that the file is in the memory of the system
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        count_file(CorpusFile.of_path(corpus), tuple(facts), unit)
        seconds.append(time.process_time() - start)
    return round(corpus.stat().st_size / median(seconds) / 1e6, 1)


def missed(results: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each unit by which counting is slower than required."""
    rates, required = results["megabytes_per_second"], results["required"]
    return [f"by {unit}: {rate} MB/s, required are {required}" for unit, rate in rates.items() if rate < required]


if __name__ == "__main__":
    sys.exit(main())
