"""PMI on small networks: the score with the subject hidden equals the obvious computation, statement by statement."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from probing.benchmark import Item, Relation
from probing.probes.multiple_choice import MultipleChoice
from probing.probes.ranking import Ranking
from probing.scoring.hf_model import HFModel
from probing.scoring.load import load
from probing.settings import Settings
from probing.template import Statement
from tests.probing.scoring import obvious
from tests.tiny_models import build_bert, build_gpt2

OPTIONS = ("Africa", "South America", "Élysée")
ITEMS = tuple(Item(number, subject, (0,)) for number, subject in enumerate(("Chad", "the river Danube")))
TEMPLATES = ["[X] is located in [Y].", "[Y] is where [X] is.", "The capital of [X], [Y]"]


def relation(template: str) -> Relation:
    return Relation("P1", (template,), OPTIONS, ITEMS)


def obvious_score(model: HFModel) -> obvious.Score:
    network, tokenizer = model.network, model.tokenizer
    if model.card.kind == "causal":
        return obvious.causal(network, tokenizer)
    return obvious.masked(network, tokenizer, "within_word_l2r")


def slow_hidden_sum(model: HFModel, template: str, option: str) -> float:
    """Write the blank's own text in place of the subject, score every token, and leave out those of the blank."""
    text = template.replace("[X]", model.blank).replace("[Y]", option)
    text = text[:1].upper() + text[1:]
    start = text.index(model.blank)
    log_probs = obvious_score(model)(Statement(text, text.index(option), text.index(option) + len(option)))
    spans = model.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    end = start + len(model.blank)
    return sum(value for value, (a, b) in zip(log_probs, spans, strict=True) if not (a < end and b > start))


@pytest.mark.parametrize("build", [build_gpt2, build_bert])
@pytest.mark.parametrize("template", TEMPLATES)
def test_the_hidden_sums_are_those_of_the_statements_without_the_subject(
    build: Callable[[Path], Path], template: str, tmp_path: Path
) -> None:
    model = load(str(build(tmp_path / "tiny")), device="cpu")
    rows = list(MultipleChoice(pmi=True).rows(model, relation(template), 0, Settings()))
    expected = [slow_hidden_sum(model, template, option) for option in OPTIONS]
    for row in rows:
        np.testing.assert_allclose(row["unconditional"], expected, atol=1e-3)


@pytest.mark.parametrize("build", [build_gpt2, build_bert])
def test_a_hidden_subject_makes_the_scores_of_candidates_the_same_for_all_items(
    build: Callable[[Path], Path], tmp_path: Path
) -> None:
    model = load(str(build(tmp_path / "tiny")), device="cpu")
    first, second = Ranking(pmi=True).rows(model, relation(TEMPLATES[0]), 0, Settings())
    assert first["unconditional"] == second["unconditional"]
    assert list(first["scores"]) != list(second["scores"])
    hidden = relation(TEMPLATES[0].replace("[X]", model.blank))
    (expected, _) = Ranking().rows(model, hidden, 0, Settings())
    sums = expected["scores"] * expected["tokens"]
    np.testing.assert_allclose(first["unconditional"], sums, atol=1e-3)
