"""Ranking with networks equals an obvious implementation in four languages, at the expected cost per item."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, PreTrainedModel, PreTrainedTokenizerFast

from fixtures.build_culture import FOLDER
from probing.formats import dlama
from probing.language_model import ModelCard
from probing.probes.ranking import Ranking
from probing.runner import run
from probing.scoring.causal import CausalModel
from probing.scoring.load import load
from probing.scoring.masked import MaskedModel
from probing.settings import Settings
from tests.tiny_models import build_gpt2, metaspace_unigram, word_piece

CULTURE = dlama.read(FOLDER)
LABELS = [label for relation in CULTURE.relations for label in (*relation.answer_space, *relation.templates)]


def tiny_bert(tokenizer: PreTrainedTokenizerFast) -> MaskedModel:
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, max_position_embeddings=128, initializer_range=0.4,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = BertForMaskedLM(config).eval()  # the obvious implementation uses the same network
    return MaskedModel(network, tokenizer, ModelCard("tiny", "masked", "Bert", 0))


@torch.inference_mode()
def obvious(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, template: str, subject: str, candidate: str
) -> float:
    """Score as methods 4.4 says: one mask per token of the candidate, and the mean of their log-probabilities."""
    tokens = tokenizer(candidate, add_special_tokens=False).input_ids
    text = template.replace("[X]", subject)
    text = (text[:1].upper() + text[1:]).replace("[Y]", tokenizer.mask_token)
    ids = tokenizer(text).input_ids
    start = ids.index(tokenizer.mask_token_id)
    masked = [*ids[:start], *[tokenizer.mask_token_id] * len(tokens), *ids[start + 1 :]]
    log_probs = network(input_ids=torch.tensor([masked])).logits[0].double().log_softmax(-1)
    return float(np.mean([log_probs[start + place, token] for place, token in enumerate(tokens)]))


@pytest.mark.parametrize("tokenizer", [word_piece, metaspace_unigram], ids=["WordPiece", "SentencePiece"])
def test_a_masked_model_ranks_as_the_obvious_implementation(tokenizer: Callable[..., PreTrainedTokenizerFast]) -> None:
    """The languages are English, Arabic, Korean and Spanish; in Korean, letters directly follow the blank."""
    model = tiny_bert(tokenizer(sentences=LABELS))
    right, lengths = [], set()
    for name in ("P30.arab-west.en", "P37.arab-west.ar", "P30.asia-west.ko", "P36.south-america-west.es"):
        relation = replace(CULTURE[name], items=CULTURE[name].items[:2])
        for item, row in zip(relation.items, Ranking().rows(model, relation, 0, Settings()), strict=True):
            expected = [
                obvious(model.network, model.tokenizer, relation.templates[0], item.subject, candidate)
                for candidate in relation.answer_space
            ]
            assert row["scores"] == pytest.approx(expected, abs=1e-3)
            assert row["prediction"] == int(np.argmax(expected))
            right.append((row["correct"], int(np.argmax(expected)) in item.answers))
        ids = model.tokenizer(list(relation.answer_space), add_special_tokens=False).input_ids
        lengths |= {len(candidate) for candidate in ids}
    assert np.mean([mine for mine, _ in right]) == np.mean([theirs for _, theirs in right])
    assert len(lengths) > 2


def test_one_masked_input_serves_all_candidates_of_one_length() -> None:
    """An item costs as many inputs as its candidates have different lengths, whatever their number."""
    model = tiny_bert(word_piece(sentences=LABELS))
    relation = replace(CULTURE["P47.asia-west.ko"], items=CULTURE["P47.asia-west.ko"].items[:1])
    list(Ranking().rows(model, relation, 0, Settings()))
    tokens = model.tokenizer(list(relation.answer_space), add_special_tokens=False).input_ids
    lengths = {len(candidate) for candidate in tokens}
    around = len(
        model.tokenizer(relation.templates[0].replace("[X]", relation.items[0].subject).replace("[Y]", "")).input_ids
    )
    assert model.usage.positions - model.usage.padding == sum(length + around for length in lengths)
    assert len(lengths) < len(relation.answer_space) / 5


@torch.inference_mode()
@pytest.mark.parametrize("name", ["P37.arab-west.en", "P30.asia-west.ko"])
def test_a_causal_model_ranks_by_both_rules_as_the_obvious_implementation(name: str, tmp_path: Path) -> None:
    """The space before the object is part of it; the text after the object only matters to the second rule."""
    model = load(str(build_gpt2(tmp_path)))
    relation = replace(CULTURE[name], items=CULTURE[name].items[:2])
    for item, row in zip(relation.items, Ranking().rows(model, relation, 0, Settings()), strict=True):
        left, right = relation.templates[0].replace("[X]", item.subject).split(" [Y]")
        start = len(model.tokenizer(left).input_ids)
        answers = [token_scores(model, f"{left} {candidate}")[start:] for candidate in relation.answer_space]
        assert row["scores"] == pytest.approx([np.mean(scores) for scores in answers], abs=1e-3)
        whole = [sum(token_scores(model, f"{left} {candidate}{right}")) for candidate in relation.answer_space]
        assert row["prediction_statement"] == int(np.argmax(whole))


def token_scores(model: CausalModel, text: str) -> list[float]:
    ids = model.tokenizer(text).input_ids
    logits = model.network(input_ids=torch.tensor([[model.tokenizer.bos_token_id, *ids]])).logits[0].double()
    return [float(logits.log_softmax(-1)[place, token]) for place, token in enumerate(ids)]


@pytest.mark.parametrize("template", ["People of [X] speak [Y] at home.", "[Y] is what people of [X] speak."])
def test_both_rules_compute_shared_prefixes_only_once(template: str, tmp_path: Path) -> None:
    """Candidates share the text before them; if they begin the template, items share the candidates."""
    model = load(str(build_gpt2(tmp_path)))
    spoken = CULTURE["P37.arab-west.en"]
    relation = replace(spoken, templates=(template,), items=spoken.items[:3])
    list(Ranking().rows(model, relation, 0, Settings()))  # excludes the self-check from the cost
    before = replace(model.usage)
    list(Ranking().rows(model, relation, 0, Settings()))
    texts = {
        template[:end].replace("[X]", item.subject).replace("[Y]", candidate)
        for item in relation.items
        for candidate in relation.answer_space
        for end in (len(template), template.index("[Y]") + len("[Y]"))
    }
    sequences = [(0, *model.tokenizer(text).input_ids) for text in texts]
    distinct = {ids[:end] for ids in sequences for end in range(1, len(ids))}
    computed = model.usage.positions - before.positions - (model.usage.padding - before.padding)
    assert len(distinct) <= computed < 1.1 * len(distinct)
    assert computed < 0.6 * sum(map(len, sequences))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_an_early_decision_gives_the_same_precision(kind: str, tmp_path: Path) -> None:
    model = load(str(build_gpt2(tmp_path))) if kind == "causal" else tiny_bert(word_piece(sentences=LABELS))
    settings = {"relations": "P47", "pair": "asia-west", "limit": 4, "progress": False}
    full, decided = (run(model, CULTURE, decide=decide, **settings) for decide in (False, True))
    assert decided.items["prediction"].tolist() == full.items["prediction"].tolist()
    precisions = [result.scores[result.scores.metric.isin(["p_at_1", "culture_gap"])] for result in (full, decided)]
    pd.testing.assert_frame_equal(*(scores.reset_index(drop=True) for scores in precisions))
