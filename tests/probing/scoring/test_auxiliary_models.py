"""Models that help to make a benchmark: how they are loaded, grammar correction, and acceptability."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertForSequenceClassification,
    T5ForConditionalGeneration,
)

from probing.errors import ModelNotFound, UnsafeModel, UnsupportedModel
from probing.scoring.auxiliary_models import Corrector, Judge, acceptable_class, load_auxiliary
from tests.tiny_models import build_bert, build_gpt2, classifier, metaspace_unigram, save, text_to_text, word_piece


def load_judge(model: Path) -> tuple[Any, Any, str]:
    return load_auxiliary(str(model), "a judge", lambda config: AutoModelForSequenceClassification)


def load_corrector(model: Path) -> tuple[Any, Any, str]:
    return load_auxiliary(str(model), "a corrector", lambda config: AutoModelForSeq2SeqLM)


def test_a_model_is_described_by_its_name_and_the_digests_of_its_files(tmp_path: Path) -> None:
    network, _, digests = load_judge(save(tmp_path, classifier, word_piece(), seed=0))
    assert digests.startswith(f"{tmp_path} ")
    assert "model.safetensors " in digests and "tokenizer.json " in digests
    assert not network.training


def test_pickled_weights_a_gguf_file_and_a_model_that_is_not_there_are_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(UnsafeModel, match="no safetensors"):
        load_judge(tmp_path)
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    with pytest.raises(UnsupportedModel, match=r"A GGUF file is not a judge\. Give a folder"):
        load_judge(tmp_path / "model.gguf")
    with pytest.raises(ModelNotFound):
        load_judge(tmp_path / "none.gguf")


def test_a_tokenizer_without_a_padding_token_is_refused(tmp_path: Path) -> None:
    tokenizer = metaspace_unigram()
    tokenizer.pad_token = None
    folder = save(tmp_path, lambda: text_to_text(len(tokenizer)), tokenizer, seed=0)
    with pytest.raises(UnsupportedModel, match=r"has no padding token\. Save it with a tokenizer that names one"):
        load_corrector(folder)


@pytest.fixture(scope="module")
def t5_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer = metaspace_unigram()
    return save(tmp_path_factory.mktemp("t5"), lambda: text_to_text(len(tokenizer)), tokenizer, seed=0)


def test_a_sentence_is_corrected_alike_alone_and_in_a_batch(t5_folder: Path) -> None:
    corrector = Corrector.load(str(t5_folder))
    sentences = ["Chad is in Africa", "Oslo", "The word oak is a kind of tree"]
    together = list(corrector.correct(sentences))
    assert together == [text for sentence in sentences for text in corrector.correct([sentence])]
    assert len(together) == 3


def test_the_prefix_and_the_beams_are_the_papers(t5_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tokenizer writes the colon as a byte."""
    corrector, arguments = Corrector.load(str(t5_folder)), {}
    generate = corrector.network.generate

    def listen(**options: Any) -> Any:
        arguments.update(options)
        return generate(**options)

    monkeypatch.setattr(corrector.network, "generate", listen)
    list(corrector.correct(["Oslo"]))
    assert corrector.tokenizer.decode(arguments["input_ids"][0], skip_special_tokens=True) == "grammar<0x3A> Oslo"
    assert (arguments["generation_config"].num_beams, arguments["generation_config"].min_length) == (5, 1)


def test_the_remark_names_the_model_and_its_files(t5_folder: Path) -> None:
    assert Corrector.load(str(t5_folder)).remark.startswith(f"Grammar corrected by {t5_folder}")
    assert "model.safetensors" in Corrector.load(str(t5_folder)).remark


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    gpt2 = build_gpt2(tmp_path)
    with pytest.raises(UnsupportedModel, match="is not a text-to-text model"):
        Corrector.load(str(gpt2))
    with pytest.raises(UnsupportedModel, match="is not a corrector that can be loaded: "):
        load_corrector(gpt2)


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
