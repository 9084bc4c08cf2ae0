"""What the library makes of each model type of the installed transformers: a table, and the comparison of two tables.

`python -m tests.zoo.model_types` compares the table with the one that is kept, which a page of the documentation shows,
and ends with 1 if a type has become worse; with `--write` it is kept in its place.

A tiny network of each type is saved, loaded by the library from its folder, and asked a few facts of the shipped
benchmark. The scores are compared with those of the network that was saved, by code that calls it once for each text.
"""

import csv
import json
import signal
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import transformers
from transformers import PreTrainedModel

from probing.errors import ProbingError
from probing.language_model import OptionScores, Request, Scoring
from probing.scoring.load import load
from probing.scoring.verbs import AnsweringModel
from probing.template import prompt
from tests.probing.scoring import obvious
from tests.probing.scoring.seq2seq import obvious_infilling, obvious_span
from tests.zoo.tiny_types import ModelType, build, model_types

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures" / "starter"
RELATION, ITEMS, OPTIONS = "country_continent", 8, 6
COMPARED = 2  # requests whose scores are compared with those of the network that was saved
CLOSE = 1e-3  # largest accepted difference of a statement's sum in float32
SHARED = 1.3  # positions per distinct prefix up to which prefixes count as shared
SECONDS = 60
TABLE = Path(__file__).with_name("model_types.csv")
STATES = ("accepted", "refused", "failed", "not built")  # the best one first
NOT_BUILT = "No tiny network of it can be built by the rules for sizes: {}."
REFERENCE = "scored with the reference implementation: "


@dataclass(frozen=True)
class Outcome:
    """What became of a type.

    `state`: accepted, refused, failed (an error that is no sentence of the library), or not built. `sentence`: why.
    `scoring`: shared (each distinct input once) or reference. `positions`: token positions that causal models compute
    for each distinct prefix. `decide`: whether an early decision gives the same predictions. `difference`: the largest
    difference of a statement's log-probability from what the saved network gives, one digit.
    """

    kind: str
    name: str
    architecture: str
    state: str
    sentence: str = ""
    scoring: str = ""
    positions: str = ""
    decide: str = ""
    difference: str = ""

    @property
    def key(self) -> tuple[str, str]:
        return self.name, self.architecture

    def is_worse_than(self, before: "Outcome") -> bool:
        """Tell whether less works than before: a refusal, a slower way, another answer, or a larger difference."""
        if (self.state, before.state) != ("accepted", "accepted"):
            return STATES.index(self.state) > STATES.index(before.state)
        differences = float(self.difference), float(before.difference)
        return (
            (self.scoring, before.scoring) == ("reference", "shared")
            or (self.decide, before.decide) == ("other", "same")
            or not differences[0] <= max(CLOSE, 2 * differences[1])
        )


def read_table() -> Mapping[tuple[str, str], Outcome]:
    """Return the table that is kept, by the name and the class of each type."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {outcome.key: outcome for outcome in (Outcome(**line) for line in csv.DictReader(file))}


def write_table(outcomes: Iterable[Outcome]) -> None:
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Outcome)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, outcomes))


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise `TimeoutError` in a block that takes more of the processor's time."""

    def end(number: int, frame: Any) -> None:
        raise TimeoutError(f"it took more than {seconds} s")

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def outcome(row: ModelType, items: int = ITEMS, compared: int = COMPARED) -> Outcome:
    """Build, load and score a network of the type by so many questions, and compare the scores of the first ones."""
    facts = (row.kind, row.name, row.architecture)
    if row.reason:
        return Outcome(*facts, "not built", row.reason)
    with tempfile.TemporaryDirectory() as place, time_limit(SECONDS):
        folder = Path(place) / "model"
        try:
            network, tokenizer = build(row, folder)
        except Exception as error:
            return Outcome(*facts, "not built", NOT_BUILT.format(_line(error)))
        try:
            model = load(str(folder), device="cpu")
        except ProbingError as error:
            message = error.message.replace(str(folder), "the folder")
            return Outcome(*facts, "refused", message[0].upper() + message[1:])
        except Exception as error:
            return Outcome(*facts, "failed", _line(error))
        try:
            reader = getattr(network, row.exception.get("reads_text", ""), network)
            sentence, *scored = _scored(model, reader, tokenizer, items, compared)
            remark = row.exception.get("remark", "")
            return Outcome(*facts, "accepted", "; ".join(filter(None, [sentence, remark])), *scored)
        except Exception as error:
            return Outcome(*facts, "failed", _line(error))


def _line(error: Exception) -> str:
    """Return the name of an error with its first sentence."""
    return f"{type(error).__name__}: {' '.join(str(error).split()).split('. ')[0][:200].rstrip('. ')}"


def _scored(
    model: AnsweringModel, network: PreTrainedModel, tokenizer: Any, items: int, compared: int
) -> Iterable[str]:
    asked = requests()[:items]
    before = model.usage.positions - model.usage.padding
    scores = list(model.score(asked, Scoring()))
    computed = model.usage.positions - model.usage.padding - before
    decided = list(model.score(asked, Scoring(decide=1)))
    reference = [note for note in model.usage.notes if note.startswith(REFERENCE)]
    per_prefix = computed / _prefixes(asked, tokenizer) if model.kind == "causal" else 0.0
    yield "; ".join(note for note in model.usage.notes)
    yield "reference" if reference or per_prefix > SHARED else "shared"
    yield f"{per_prefix:.1f}" if per_prefix else ""
    yield "same" if all(map(_same, scores, decided)) else "other"
    yield f"{_difference(scores[:compared], model, network, tokenizer):.0e}"


def _same(scores: OptionScores, decided: OptionScores) -> bool:
    """Tell whether an early decision has the same best option; options whose scores are as good as equal may change."""
    whole, best = scores.reduce(), int(decided.reduce().argmax())
    return bool(whole[best] >= whole.max() - CLOSE and decided.exact[best])


def _prefixes(asked: Sequence[Request], tokenizer: Any) -> int:
    """Count the distinct prefixes after which a token is scored."""
    prefixes = set()
    for request in asked:
        for statement in obvious.statements(request):
            ids = (tokenizer.bos_token_id, *tokenizer(statement.text, add_special_tokens=False).input_ids)
            prefixes.update(ids[:end] for end in range(1, len(ids)))
    return len(prefixes)


def _difference(
    scores: Sequence[OptionScores], model: AnsweringModel, network: PreTrainedModel, tokenizer: Any
) -> float:
    """Return the largest difference of an option's score from that of the saved network."""
    differences = []
    for request, answer in zip(requests(), scores, strict=False):
        right = np.array([sum(tokens) for tokens in _obvious(request, model, network, tokenizer)])
        differences.append(np.abs(answer.reduce() - right).max())
    return float(np.max(differences))


def _obvious(request: Request, model: AnsweringModel, network: PreTrainedModel, tokenizer: Any) -> list[list[float]]:
    if model.kind == "encoder-decoder":
        score = obvious_span if model.card.option_only else obvious_infilling
        return score(network, tokenizer, request, True)
    by_statement = (
        obvious.causal(network, tokenizer)
        if model.kind == "causal"
        else obvious.masked(network, tokenizer, "within_word_l2r")
    )
    return [by_statement(statement) for statement in obvious.statements(request)]


@cache
def requests() -> Sequence[Request]:
    """Return some questions of the starter benchmark with a few of their options."""
    relation = json.loads((FIXTURES / "metadata_relations.json").read_text(encoding="utf-8"))[RELATION]
    lines = (FIXTURES / f"{RELATION}.jsonl").read_text(encoding="utf-8").splitlines()[:ITEMS]
    options = relation["answer_space_labels"][:OPTIONS]
    return [(prompt(relation["templates"][0], json.loads(line)["sub_label"]), options) for line in lines]


def main() -> int:
    """Compare every type with the table that is kept, or keep the new table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="keep the new table")
    arguments = parser.parse_args()
    before, after, worse = read_table() if TABLE.exists() else {}, [], 0
    for row in model_types():
        after.append(result := outcome(row))
        kept = before.get(row.key)
        if kept is None:
            print("new:", *asdict(result).values(), flush=True)
        elif result.is_worse_than(kept):
            worse += 1
            print("worse:", *asdict(result).values(), "| before:", *asdict(kept).values(), flush=True)
    for gone in sorted(before.keys() - {result.key for result in after}):
        print("gone:", *gone)
    print(f"{len(after)} types of transformers {transformers.__version__}, {worse} worse than before")
    if arguments.write:
        write_table(after)
    return int(worse > 0 and not arguments.write)


if __name__ == "__main__":
    sys.exit(main())
