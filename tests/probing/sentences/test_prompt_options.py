"""Options of a user's own prompts: the scores of multiple choice, without a benchmark."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import probing
from probing.benchmark import Benchmark
from probing.errors import BadInput, NonFiniteScores
from probing.language_model import OptionScores
from probing.scoring.hf_model import HFModel
from probing.scoring.load import load
from probing.sentences.prompt_options import COLUMNS
from tests.fakes import FakeModel, ShortSighted
from tests.tiny_models import build_bert, build_gpt2

PROMPTS = ["The capital of Norway is", "[Y] lies in Peru.", "a = "]
LABELS = ["Oslo", "Lima and Cusco"]


@pytest.fixture(scope="module", params=[build_gpt2, build_bert])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> HFModel:
    return load(str(request.param(tmp_path_factory.mktemp("model"))))


def test_scores_are_those_of_multiple_choice(model: HFModel) -> None:
    table = probing.score(model, PROMPTS, LABELS)
    rows = [{"prompt": prompt, "answer": LABELS[0], "options": LABELS} for prompt in PROMPTS]
    rows_of_run = probing.run(model, Benchmark.from_frame(pd.DataFrame(rows)), progress=False).items
    np.testing.assert_allclose(table["log_prob"], np.concatenate(rows_of_run["scores"]), atol=1e-5)
    assert table["tokens"].tolist() == np.concatenate(rows_of_run["tokens"]).tolist()


def test_there_is_a_row_for_each_option_of_each_prompt() -> None:
    table = probing.score(FakeModel(), PROMPTS, LABELS)
    assert list(table.columns) == list(COLUMNS)
    assert table["prompt"].tolist() == [0, 0, 1, 1, 2, 2]
    assert table["option"].tolist() == [0, 1] * 3
    assert table["label"].tolist() == LABELS * 3
    assert table["statement"].tolist()[1:] == [
        "The capital of Norway is Lima and Cusco",
        "Oslo lies in Peru.",
        "Lima and Cusco lies in Peru.",
        "a = Oslo",
        "a = Lima and Cusco",
    ]
    assert table["tokens"].tolist() == [6, 8, 4, 6, 3, 5]
    assert table["option_tokens"].tolist() == [1, 3] * 3
    assert (table["option_log_prob"] > table["log_prob"]).all()


def test_each_prompt_may_have_options_of_its_own() -> None:
    table = probing.score(FakeModel(knows=["b 2"]), ["a", "b"], [["1"], ["1", "2", "3"]])
    assert table.groupby("prompt").size().tolist() == [1, 3]
    assert table.loc[table.groupby("prompt")["log_prob"].idxmax(), "label"].tolist() == ["1", "2"]
    assert probing.score(FakeModel(), "a", ["1", "2"])["statement"].tolist() == ["a 1", "a 2"]
    assert probing.score(FakeModel(), [], ["1", "2"]).dtypes.equals(table.dtypes)


def test_a_prompt_that_is_too_long_is_named_and_left_out() -> None:
    with pytest.warns(UserWarning, match="Prompt 0 is left out: A text takes 42 tokens, the model takes 27"):
        table = probing.score(ShortSighted(), ["a" * 40, "b"], ["1"])
    assert table["prompt"].tolist() == [1]


@pytest.mark.parametrize(
    ("prompts", "options", "message"),
    [
        (["a"], "b", "'b' is no list of options"),
        (["a"], 1, "1 is no list of options"),
        (["a", "b"], [["1", "2"]], "There are 2 prompts and 1 lists of options"),
        (["a", "b"], [["1"], "2"], "'2' is no list of options"),
        (["a"], [], "There is a prompt without options"),
        (["a"], ["1", " "], "an empty option"),
        (["a"], [[1]], "Option 0 is 1, which is not a text"),
        ([None], ["1"], "Prompt 0 is None, which is not a text"),
        (3, ["1"], "3 is no list of prompts"),
        (["[Y] and [Y]"], ["1"], "Prompt 0 has [Y] more than once"),
    ],
)
def test_what_is_no_prompt_or_option_is_refused(prompts: Any, options: Any, message: str) -> None:
    with pytest.raises(BadInput, match=re.escape(message)):
        probing.score(FakeModel(), prompts, options)


def test_a_setting_that_does_nothing_on_the_model_is_refused() -> None:
    with pytest.raises(BadInput, match="pll does nothing"):
        probing.score(FakeModel(), ["a"], ["1"], pll="original")


def test_scores_that_are_not_finite_are_refused() -> None:
    class Broken(FakeModel):
        def score(self, requests: Any, scoring: Any) -> Any:
            for scores in super().score(requests, scoring):
                yield OptionScores((np.array([np.nan]),), scores.answers, scores.exact)

    with pytest.raises(NonFiniteScores, match="log-probability that is not a number for prompt 0"):
        probing.score(Broken(), ["a"], ["1"])


def test_a_second_space_before_an_option_is_refused() -> None:
    with pytest.raises(BadInput, match=r"' green' begins with a space, and one is put between prompt and option\."):
        probing.score(FakeModel(), ["The sky is"], ["blue", " green"])
    table = probing.score(FakeModel(), ["The sky is ", "It is[Y]"], [["blue"], [" so"]])
    assert table["statement"].tolist() == ["The sky is blue", "It is so"]
