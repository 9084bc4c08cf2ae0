"""Acceptability: T5 answers in the paper's words, a classifier by its class, and other models are refused."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy
from transformers import AutoTokenizer, BertForSequenceClassification, T5ForConditionalGeneration

from probing.errors import UnsupportedModel
from probing.scoring.auxiliary_models import Judge, acceptable_class
from tests.tiny_models import build_bert, build_gpt2, classifier, metaspace_unigram, save, text_to_text, word_piece

GOOD = ["Oslo is the capital of Norway.", "Peru is in South America.", "Lima belongs to Peru."]
BAD = ["Oslo are the capital of Norway.", "Peru are in South America.", "Lima belong are to Peru."]
SENTENCES = [*GOOD, *BAD]


def taught() -> BertForSequenceClassification:
    """Return a classifier that is trained to tell the good sentences from the bad ones."""
    network, tokenizer = classifier({0: "acceptable", 1: "unacceptable"}).train(), word_piece()
    batch = tokenizer(SENTENCES, return_tensors="pt", padding=True)
    steps = torch.optim.AdamW(network.parameters(), lr=3e-3)
    for _ in range(40):
        logits = network(input_ids=batch.input_ids, attention_mask=batch.attention_mask).logits
        cross_entropy(logits, torch.tensor([0] * len(GOOD) + [1] * len(BAD))).backward()
        steps.step()
        steps.zero_grad()
    return network


def build_t5(folder: Path) -> Path:
    """Save a T5 to which each answer is one token, so that neither is much more likely because it is shorter."""
    tokenizer = metaspace_unigram()
    tokenizer.add_tokens(["unacceptable", "acceptable"])
    return save(folder, lambda: text_to_text(len(tokenizer)), tokenizer, seed=0)


def build_classifier(folder: Path) -> Path:
    return save(folder, classifier, word_piece(), seed=0)


@pytest.fixture
def t5(tmp_path: Path) -> Path:
    return build_t5(tmp_path)


def test_a_classifier_tells_good_sentences_from_bad_ones(tmp_path: Path) -> None:
    judge = Judge.load(str(save(tmp_path, taught, word_piece(), seed=0)))
    chances = list(judge.acceptability(SENTENCES))
    assert min(chances[: len(GOOD)]) > 0.5 > max(chances[len(GOOD) :])


def test_t5_is_asked_for_the_words_of_the_paper(t5: Path) -> None:
    """The expected values are the losses of both whole answers, one sentence at a time."""
    network = T5ForConditionalGeneration.from_pretrained(t5).eval()
    tokenizer = AutoTokenizer.from_pretrained(t5)
    expected = []
    for sentence in SENTENCES:
        question = tokenizer(f"cola sentence: {sentence}", return_tensors="pt").input_ids
        answers = [tokenizer(word, return_tensors="pt").input_ids for word in ("acceptable", "unacceptable")]
        with torch.inference_mode():
            losses = [network(input_ids=question, labels=answer).loss * answer.shape[1] for answer in answers]
        expected.append(torch.stack(losses).neg().softmax(0)[0].item())
    assert min(expected) < max(expected) - 1e-3
    assert list(Judge.load(str(t5)).acceptability(SENTENCES)) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("build", [build_classifier, build_t5])
def test_a_sentence_is_judged_alike_alone_and_in_a_batch(tmp_path: Path, build: Callable[[Path], Path]) -> None:
    judge = Judge.load(str(build(tmp_path)))
    alone = [chance for sentence in SENTENCES for chance in judge.acceptability([sentence])]
    assert list(judge.acceptability(SENTENCES)) == pytest.approx(alone, abs=1e-5)
    assert all(0 < chance < 1 for chance in alone)


@pytest.mark.parametrize(
    ("names", "number"),
    [
        ({0: "unacceptable", 1: "acceptable"}, 1),
        ({0: "Acceptable", 1: "Unacceptable"}, 0),
        ({0: "LABEL_0", 1: "LABEL_1"}, 1),
    ],
    ids=["named", "capitals", "numbered"],
)
def test_the_acceptable_class_is_known_by_its_name_or_colas_number(names: dict[int, str], number: int) -> None:
    assert acceptable_class(names) == number


@pytest.mark.parametrize("names", [{0: "NEGATIVE", 1: "POSITIVE"}, {0: "LABEL_0"}, {n: f"LABEL_{n}" for n in range(3)}])
def test_a_classifier_without_an_acceptable_class_is_refused(tmp_path: Path, names: dict[int, str]) -> None:
    folder = save(tmp_path, lambda: classifier(names), word_piece(), seed=0)
    with pytest.raises(UnsupportedModel, match=r"None of the classes .* id2label 0 unacceptable, 1 acceptable"):
        Judge.load(str(folder))


def test_a_judge_names_its_model_and_files(t5: Path) -> None:
    description = Judge.load(str(t5)).about
    assert description.startswith(str(t5))
    assert "model.safetensors" in description


@pytest.mark.parametrize("build", [build_bert, build_gpt2])
def test_a_model_without_the_head_of_a_judge_is_refused(tmp_path: Path, build: Callable[[Path], Path]) -> None:
    """The missing head would be initialized with random numbers."""
    with pytest.raises(UnsupportedModel, match="is not a judge of acceptability: it lacks"):
        Judge.load(str(build(tmp_path)))
