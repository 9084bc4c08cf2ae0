"""Models that help to make a benchmark: loaded from safetensors only, complete, and described by their files."""

from pathlib import Path

import pytest
from transformers import AutoModelForSeq2SeqLM, AutoModelForSequenceClassification

from probing.errors import ModelNotFound, UnsafeModel, UnsupportedModel
from probing.scoring.auxiliary_models import Auxiliary, load_auxiliary
from tests.tiny_models import build_gpt2, classifier, metaspace_unigram, save, text_to_text, word_piece


def load_judge(model: Path) -> Auxiliary:
    return load_auxiliary(str(model), "a judge", lambda config: AutoModelForSequenceClassification)


def load_corrector(model: Path) -> Auxiliary:
    return load_auxiliary(str(model), "a corrector", lambda config: AutoModelForSeq2SeqLM)


def test_a_model_is_described_by_its_name_and_the_digests_of_its_files(tmp_path: Path) -> None:
    judge = load_judge(save(tmp_path, classifier, word_piece(), seed=0))
    digests = judge.description
    assert digests.startswith(f"{tmp_path} ")
    assert "model.safetensors " in digests and "tokenizer.json " in digests
    assert not judge.network.training


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


def test_a_model_of_another_architecture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedModel, match="is not a corrector that can be loaded: "):
        load_corrector(build_gpt2(tmp_path))


def test_a_tokenizer_without_a_padding_token_is_refused(tmp_path: Path) -> None:
    tokenizer = metaspace_unigram()
    tokenizer.pad_token = None
    folder = save(tmp_path, lambda: text_to_text(len(tokenizer)), tokenizer, seed=0)
    with pytest.raises(UnsupportedModel, match=r"has no padding token\. Save it with a tokenizer that names one"):
        load_corrector(folder)
