"""What the library makes of each model type of the installed transformers: a table, and the comparison of two tables.

A tiny network of each type is saved, loaded by the library from its folder, and asked a few facts of the shipped
benchmark. The scores are compared with those of the network that was saved, by code that calls it once for each text.
"""

import json
import signal
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from transformers import PreTrainedModel

from probing.errors import ProbingError
from probing.language_model import OptionScores, Request, Scoring
from probing.scoring.load import load
from probing.scoring.verbs import AnsweringModel
from probing.template import prompt
from tests.probing.scoring import obvious
from tests.probing.scoring.seq2seq import obvious_infilling, obvious_span
from tests.zoo.tiny_types import ModelType, build

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures" / "starter"
RELATION, ITEMS, OPTIONS = "country_continent", 8, 6
COMPARED = 2  # requests whose scores are compared with those of the network that was saved
CLOSE = 1e-3  # largest accepted difference of a statement's sum in float32
SHARED = 1.3  # positions per distinct prefix up to which prefixes count as shared
SECONDS = 60
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


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise `TimeoutError` in a block that takes longer."""

    def end(number: int, frame: Any) -> None:
        raise TimeoutError(f"it took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(row: ModelType) -> Outcome:
    """Build, load and score a network of the type."""
    facts = (row.kind, row.name, row.architecture)
    if row.reason:
        return Outcome(*facts, "not built", row.reason)
    with tempfile.TemporaryDirectory() as place, time_limit(SECONDS):
        folder = Path(place) / "model"
        try:
            network, tokenizer = build(row, folder)
        except Exception as error:
            return Outcome(*facts, "not built", _line(error))
        try:
            model = load(str(folder), device="cpu")
        except ProbingError as error:
            return Outcome(*facts, "refused", error.message.replace(place, "").replace(str(folder), "the folder"))
        except Exception as error:
            return Outcome(*facts, "failed", _line(error))
        try:
            reader = getattr(network, row.exception.get("reads_text", ""), network)
            sentence, *scored = _scored(model, reader, tokenizer)
            remark = row.exception.get("remark", "")
            return Outcome(*facts, "accepted", " ".join(filter(None, [sentence, remark])), *scored)
        except Exception as error:
            return Outcome(*facts, "failed", _line(error))


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _scored(model: AnsweringModel, network: PreTrainedModel, tokenizer: Any) -> Iterable[str]:
    asked = requests()
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
    yield f"{_difference(scores, model, network, tokenizer):.0e}"


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
    for request, answer in zip(requests()[:COMPARED], scores, strict=False):
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
