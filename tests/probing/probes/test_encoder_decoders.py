"""Probes with encoder-decoders: ranking and cloze as obvious code answers, and what makes no sense is refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadInput, UnsupportedModel
from probing.probes.cloze import Cloze
from probing.probes.perplexity import Perplexity
from probing.probes.ranking import Ranking
from probing.results.rescoring import rescored
from probing.runner import run
from probing.scoring.encoder_decoder import EncoderDecoderModel
from probing.scoring.load import load
from probing.settings import Settings
from probing.template import prompt
from tests.probing.scoring.seq2seq import OBVIOUS, build


@pytest.fixture(scope="module", params=["t5", "bart"])
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def model(family: str, tmp_path_factory: pytest.TempPathFactory) -> EncoderDecoderModel:
    loaded = load(str(build(tmp_path_factory.mktemp("model"), family)), device="cpu")
    assert isinstance(loaded, EncoderDecoderModel)
    return loaded


def relation(*templates: str) -> Relation:
    items = tuple(Item(index, subject, (index,)) for index, subject in enumerate(("Chad", "Peru", "Japan")))
    return Relation("P30", templates, ("Africa", "South America", "Asia"), items)


def test_a_loaded_model_is_of_its_own_kind(model: EncoderDecoderModel, family: str) -> None:
    assert model.card.kind == "encoder-decoder"
    assert model.card.architecture == f"{family.upper() if family == 't5' else 'Bart'}ForConditionalGeneration"
    assert model.card.tokenizer is not None and model.card.tokenizer.start is None


def test_candidates_rank_by_the_mean_of_their_tokens_and_second_by_all_that_the_decoder_writes(
    model: EncoderDecoderModel, family: str
) -> None:
    questions = relation("[X] is located in [Y], they say.")
    for item, row in zip(questions.items, Ranking().rows(model, questions, 0, Settings()), strict=True):
        request = (prompt(questions.templates[0], item.subject), questions.answer_space)
        own, whole = (OBVIOUS[family](model.network, model.tokenizer, request, span) for span in (False, True))
        assert row["scores"] == pytest.approx([np.mean(tokens) for tokens in own], abs=1e-4)
        assert row["prediction_statement"] == int(np.argmax([sum(tokens) for tokens in whole]))
    (first, *_) = Ranking().rows(model, questions, 0, Settings(decide=True))
    assert "prediction_statement" not in first and all(first["exact"])


def test_a_blank_inside_a_sentence_is_written_without_an_instruction(model: EncoderDecoderModel) -> None:
    questions = relation("[X] is in [Y], as [X] says.")
    rows = list(Cloze(k=5).rows(model, questions, 0, Settings(probe="cloze")))
    texts = [prompt(questions.templates[0], item.subject) for item in questions.items]
    assert [row["method"] for row in rows] == ["near"] * 3
    written = [continuation[: continuation.ends[14]] for continuation in model.generate(texts, 16)]
    assert [row["continuation"] for row in rows] == written


def test_a_closed_cloze_ranks_single_tokens_at_the_blank(model: EncoderDecoderModel) -> None:
    rows = list(Cloze(closed=True).rows(model, relation("[X] is in [Y]."), 0, Settings(probe="cloze")))
    assert [row["method"] for row in rows] == ["top"] * 3


def test_perplexity_is_refused_in_one_sentence(model: EncoderDecoderModel) -> None:
    item = Item(0, "Chad", (0,), options=("Chad is in Africa",), tags={"truth": "true", "repetitions": ["0"]})
    statements = Relation("P30", ("[Y]",), (), (item,))
    with pytest.raises(UnsupportedModel, match="Perplexity is not defined for an encoder-decoder"):
        list(Perplexity().rows(model, statements, 0, Settings(probe="perplexity")))


@pytest.mark.parametrize("setting", [{"start": "bos"}, {"protocol": "lm-eval"}])
def test_settings_of_causal_models_are_refused(setting: dict[str, str]) -> None:
    with pytest.raises(BadInput, match="an encoder-decoder"):
        Settings(**setting).refuse_kind("encoder-decoder")


@pytest.mark.slow
def test_a_saved_model_runs_every_probe_that_makes_sense_from_its_folder(family: str, tmp_path: Path) -> None:
    folder = build(tmp_path / "model", family)
    content = Benchmark("small", "1", "0", (relation("[X] is located in [Y].", "[Y] has [X] in it."),))
    result = run(folder, content, out=tmp_path / "result", keep_tokens=True, templates=(0, 1), progress=False)
    assert result.record["model"]["kind"] == "encoder-decoder"
    assert len(result.items) == 6
    behind_sentinel = {"t5": True, "bart": False}[family]
    assert result.record["model"]["option_only"] is behind_sentinel
    assert rescored(result, content).scores.equals(result.scores)
    for probe in ("ranking", "similarity", "cloze"):
        assert len(run(folder, content, probe=probe, progress=False).items) == 3
    pairs = replace(
        content.relations[0],
        items=tuple(replace(item, options=("Asia", "Africa"), answers=(1,)) for item in content.relations[0].items),
    )
    specific = run(folder, replace(content, relations=(pairs,)), probe="specificity", progress=False)
    assert len(specific.items) == 3
