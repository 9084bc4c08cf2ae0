"""Grammar correction: a text-to-text model rewrites every sentence, with the prefix and beams of the paper."""

from pathlib import Path
from typing import Any

import pytest

from probing.errors import UnsupportedModel
from probing.scoring.auxiliary_models import Corrector
from tests.tiny_models import build_gpt2, metaspace_unigram, save, text_to_text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer = metaspace_unigram()
    return save(tmp_path_factory.mktemp("t5"), lambda: text_to_text(len(tokenizer)), tokenizer, seed=0)


def test_a_sentence_is_corrected_alike_alone_and_in_a_batch(folder: Path) -> None:
    corrector = Corrector.load(str(folder))
    sentences = ["Chad is in Africa", "Oslo", "The word oak is a kind of tree"]
    together = list(corrector.correct(sentences))
    assert together == [text for sentence in sentences for text in corrector.correct([sentence])]
    assert len(together) == 3


def test_the_prefix_and_the_beams_are_the_papers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tokenizer writes the colon as a byte."""
    corrector, arguments = Corrector.load(str(folder)), {}
    generate = corrector.network.generate

    def listen(**options: Any) -> Any:
        arguments.update(options)
        return generate(**options)

    monkeypatch.setattr(corrector.network, "generate", listen)
    list(corrector.correct(["Oslo"]))
    assert corrector.tokenizer.decode(arguments["input_ids"][0], skip_special_tokens=True) == "grammar<0x3A> Oslo"
    assert (arguments["generation_config"].num_beams, arguments["generation_config"].min_length) == (5, 1)


def test_the_remark_names_the_model_and_its_files(folder: Path) -> None:
    assert Corrector.load(str(folder)).remark.startswith(f"Grammar corrected by {folder}")
    assert "model.safetensors" in Corrector.load(str(folder)).remark


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedModel, match="is not a text-to-text model"):
        Corrector.load(str(build_gpt2(tmp_path)))
