"""Samples of a geography benchmark's sentences for people to judge, each with all fact types (paper, section 2.2)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.formats.geography import TypedSentence, fits, typed_sentences

SAMPLES, SIZE = 2, 225  # of the paper


@dataclass(frozen=True)
class Sampling:
    """How many samples are drawn, the number of sentences in each, and the seed."""

    samples: int = SAMPLES
    size: int = SIZE
    seed: int = 0

    def __post_init__(self) -> None:
        if self.samples < 1 or self.size < 1:
            raise BadInput("A sample needs a sentence at least.", "Give --samples and --size of 1 or more.")


def sentences_of(benchmark: Benchmark) -> list[TypedSentence]:
    """Return the sentences of a geography benchmark with their fact types; other benchmarks are refused."""
    folder = benchmark.files[0].parent if benchmark.files else Path()
    if benchmark.probe != "cloze" or not fits(folder):
        raise BadInput(
            f"{benchmark.slug} is no geography benchmark.", "Choose a folder with triples.jsonl or triples.csv."
        )
    return typed_sentences(folder)


def draw(typed: Sequence[TypedSentence], sampling: Sampling) -> list[list[TypedSentence]]:
    """Return the samples, each with sentences of every fact type in proportion to their numbers, in mixed order.

    No sentence is in two samples, unless its fact type has too few for all of them. Equal seeds draw equally.
    """
    by_type: dict[str, list[TypedSentence]] = defaultdict(list)
    for key, sentence in typed:
        by_type[key].append((key, sentence))
    sizes = _sizes({key: len(members) for key, members in by_type.items()}, sampling.size)
    samples: list[list[TypedSentence]] = [[] for _ in range(sampling.samples)]
    for key, members in by_type.items():
        shuffled = Random(f"{sampling.seed} {key}").sample(members, len(members))
        for number, sample in enumerate(samples):
            places = range(number * sizes[key], (number + 1) * sizes[key])
            sample += [shuffled[place % len(shuffled)] for place in places]
    for number, sample in enumerate(samples):
        Random(f"{sampling.seed} order {number}").shuffle(sample)
    return samples


def _sizes(numbers: Mapping[str, int], size: int) -> dict[str, int]:
    """Divide the size of a sample among fact types: one sentence each, the rest in proportion (largest remainders)."""
    total = sum(numbers.values())
    if not len(numbers) <= size <= total:
        raise BadInput(
            f"A sample of {size} sentences is not possible.",
            f"Give --size from {len(numbers)}, the number of fact types, to {total}, that of sentences.",
        )
    spare, left = size - len(numbers), total - len(numbers)
    shares = {key: (number - 1) * spare / left if left else 0.0 for key, number in numbers.items()}
    sizes = {key: 1 + int(share) for key, share in shares.items()}
    by_remainder = sorted(shares, key=lambda key: int(shares[key]) - shares[key])
    for key in by_remainder[: size - sum(sizes.values())]:
        sizes[key] += 1
    return sizes
