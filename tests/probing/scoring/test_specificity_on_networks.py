"""Specificity equals an obvious implementation, for both kinds of model, every prompting and any batch budget."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
import pytest

from probing.benchmark import Benchmark, Relation
from probing.catalog import open_benchmark
from probing.probes.specificity import Specificity
from probing.scoring.verbs import AnsweringModel
from probing.settings import Settings
from probing.statements.prompting import PROMPTINGS, Question
from probing.template import Prompt
from tests.probing.scoring import pair_models
from tests.probing.scoring.obvious import predictions
from tests.real_data import real_data

Answer = Callable[[Prompt, str], float]


def shipped() -> Benchmark:
    return open_benchmark("pairs").select(limit=12)


def real() -> Benchmark:
    return open_benchmark(real_data("stest")).select(limit=30)


@pytest.fixture(scope="module", params=[shipped, pytest.param(real, marks=pytest.mark.slow)])
def benchmark(request: pytest.FixtureRequest) -> Benchmark:
    return request.param()


@pytest.fixture(scope="module", params=["causal", "masked"])
def model(request: pytest.FixtureRequest, benchmark: Benchmark) -> AnsweringModel:
    if request.param == "causal":
        return pair_models.causal(pair_models.byte_level(texts(benchmark)))
    return pair_models.masked(pair_models.word_piece(texts(benchmark)))


def texts(benchmark: Benchmark) -> list[str]:
    return [
        question.prompt.fill(option, option).text
        for relation in benchmark.relations
        for question in PROMPTINGS["cascade"](relation, 0, 0, 0)
        for option in question.item.options
    ]


def causal(model: AnsweringModel) -> Answer:
    """Return a function to the answer's log-probability as the next token after the text left of the blank."""

    def answer(prompt: Prompt, option: str) -> float:
        text = prompt.fill("", "<s>").text
        left = text[: prompt.fill("", "<s>").start].rstrip()
        ids = model.tokenizer(left)["input_ids"]
        token = model.tokenizer(" " + option)["input_ids"]
        return float(predictions(model.network, [0, *ids])[-1, token[0]]) if len(token) == 1 else math.nan

    return answer


def masked(model: AnsweringModel) -> Answer:
    """Return a function to the answer's log-probability at the mask."""
    vocabulary, mask = model.tokenizer.get_vocab(), model.tokenizer.mask_token_id

    def answer(prompt: Prompt, option: str) -> float:
        ids = model.tokenizer(prompt.fill("[MASK]", "[MASK]").text)["input_ids"]
        place = [place for place, token in enumerate(ids) if token == mask][prompt.scored]
        return float(predictions(model.network, ids)[place, vocabulary[option]]) if option in vocabulary else math.nan

    return answer


def rows(model: AnsweringModel, relation: Relation, prompting: str, **options: int) -> pd.DataFrame:
    probe = Specificity(prompting, **options)
    return probe.frame(list(probe.rows(model, relation, 0, Settings())))


def expected_log_probs(answer: Answer, questions: list[Question]) -> Iterator[tuple[float, float, float, float]]:
    log_probs: dict[tuple[Prompt, str], float] = {}
    for question in questions:
        coarse, fine = question.item.options
        keys = [(prompt, option) for prompt in (question.prompt, question.bare) for option in (fine, coarse)]
        for key in keys:
            if key not in log_probs:
                log_probs[key] = answer(*key)
        yield tuple(log_probs[key] for key in keys)


@pytest.mark.slow
@pytest.mark.parametrize("prompting", PROMPTINGS)
def test_specificity_equals_the_obvious_one(model: AnsweringModel, benchmark: Benchmark, prompting: str) -> None:
    answer = (causal if model.kind == "causal" else masked)(model)
    for relation in benchmark.relations:
        actual = rows(model, relation, prompting, shots=3)
        expected = np.array(list(expected_log_probs(answer, list(PROMPTINGS[prompting](relation, 0, 3, 0)))))
        columns = ["fine_log_prob", "coarse_log_prob", "fine_natural_log_prob", "coarse_natural_log_prob"]
        np.testing.assert_allclose(actual[columns].to_numpy(float), expected, atol=1e-3, rtol=0)
        single = np.isfinite(expected[:, :2]).all(axis=1)
        assert single.mean() > 0.5
        assert actual["specific"].notna().tolist() == single.tolist()
        assert actual["specific"][single].astype(bool).tolist() == (expected[single, 0] > expected[single, 1]).tolist()


@pytest.mark.parametrize("prompting", ["few-shot", "cascade"])  # a vanilla prompt is the end of each
@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_any_batch_budget_gives_the_same_rows(kind: str, prompting: str) -> None:
    benchmark = shipped()
    if kind == "causal":
        tokenizer, make = pair_models.byte_level(texts(benchmark)), pair_models.causal
    else:
        tokenizer, make = pair_models.word_piece(texts(benchmark)), pair_models.masked
    relation = benchmark.relations[0]
    small, large = (rows(make(tokenizer, budget), relation, prompting) for budget in (40, 4000))
    pd.testing.assert_frame_equal(small, large, atol=1e-3)


def test_cascade_equals_vanilla_for_a_causal_model_except_for_the_clause_score() -> None:
    benchmark = shipped()
    model = pair_models.causal(pair_models.byte_level(texts(benchmark)))
    vanilla, cascade = (rows(model, benchmark["lies_in"], prompting) for prompting in ("vanilla", "cascade"))
    assert vanilla["specific"].tolist() == cascade["specific"].tolist()
    assert vanilla["fine_clause_score"].isna().all()
    assert (cascade["fine_clause_score"] < cascade["scores"].str[1]).all(), "the clause has more tokens than the answer"


def test_the_clause_score_covers_the_answer_and_the_clause_after_it() -> None:
    benchmark = shipped()
    model = pair_models.causal(pair_models.byte_level(texts(benchmark)))
    relation = benchmark["kind_of"]
    (item, *_), (row, *_) = relation.items, rows(model, relation, "cascade").to_dict("records")
    left = f"{item.subject[0].upper()}{item.subject[1:]} is a kind of"
    before = model.tokenizer(left)["input_ids"]
    ids = model.tokenizer(f"{left} {item.options[1]}, which is a kind of")["input_ids"]
    log_probs = predictions(model.network, [0, *ids])
    expected = sum(float(log_probs[place, ids[place]]) for place in range(len(before), len(ids)))
    assert row["fine_clause_score"] == pytest.approx(expected, abs=1e-3)


MASKED = {
    "word_piece": (pair_models.word_piece, "{}"),
    "byte_level": (lambda texts: pair_models.byte_level(texts, mask=True), "Ġ{}"),
    "sentence_piece": (pair_models.sentence_piece, "▁{}"),
}


@pytest.mark.parametrize("kind", MASKED)
@pytest.mark.parametrize("prompting", PROMPTINGS)
def test_masked_models_rank_answers_that_are_single_tokens(kind: str, prompting: str) -> None:
    benchmark = shipped()
    build, piece = MASKED[kind]
    model = pair_models.masked(build(texts(benchmark)))
    tokenizer = model.tokenizer
    (question, *_) = PROMPTINGS[prompting](benchmark["lies_in"], 0, 3, 0)
    (filling,) = model.fill([(question.prompt, ["France", "Europe", "South America", "Zyx"])], k=len(tokenizer))
    assert np.isfinite(filling.options).tolist() == [True, True, False, False]
    assert (filling.ranks > 0).tolist() == [True, True, False, False]
    ids = tokenizer(question.prompt.fill("France", tokenizer.mask_token).text)["input_ids"]
    token = tokenizer.convert_tokens_to_ids(piece.format("France"))
    place = max(index for index, id_ in enumerate(ids) if id_ == token)
    hidden = [*ids[:place], tokenizer.mask_token_id, *ids[place + 1 :]]
    assert filling.options[0] == pytest.approx(float(predictions(model.network, hidden)[place, token]), abs=1e-4)
