"""The column `prompt` of rows: all that the model read, with the place of the options."""

import pandas as pd
import pytest

import probing
from probing.benchmark import Benchmark
from probing.scoring.causal import CausalModel
from tests.fakes import FakeModel
from tests.probing.scoring.networks import SHARING
from tests.tiny_models import byte_level_bpe

TEMPLATE = (
    "{% for message in messages %}[{{ message.role }}] {{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
BENCHMARK = Benchmark.from_frame(
    pd.DataFrame(
        [
            {"subject": "Peru", "template": "[X] lies in [Y].", "answer": "America"},
            {"subject": "Mali", "template": "[X] lies in [Y].", "answer": "Africa"},
        ]
    )
)


@pytest.fixture(scope="module")
def model() -> CausalModel:
    tokenizer = byte_level_bpe(start="<s>")
    tokenizer.chat_template = TEMPLATE
    return CausalModel(SHARING["llama"](len(tokenizer)), tokenizer)


def prompts(model: object, **settings: object) -> list[str]:
    return list(probing.run(model, BENCHMARK, progress=False, **settings).items["prompt"])  # type: ignore[arg-type]


def test_it_has_the_start_token_and_a_blank_where_the_options_stand(model: CausalModel) -> None:
    assert prompts(model) == ["<s>Peru lies in ____.", "<s>Mali lies in ____."]
    assert prompts(model, start="none")[0] == "Peru lies in ____."


def test_it_has_the_examples_before_the_statement(model: CausalModel) -> None:
    assert prompts(model, few_shot=1)[0] == "<s>Mali lies in Africa.\nPeru lies in ____."


def test_it_has_the_chat_as_the_template_writes_it(model: CausalModel) -> None:
    chat = "[user] Fill in the blank: Peru lies in ____.\n[assistant] ____"
    assert prompts(model, chat=True)[0] == chat


def test_of_an_answer_by_generation_it_is_the_text_that_was_continued(model: CausalModel) -> None:
    chat = "[user] Fill in the blank: Peru lies in ____.\n[assistant]"
    assert prompts(model, probe="answering", tokens=1)[0].endswith(chat)


def test_a_model_without_tokens_leaves_the_column_out() -> None:
    assert "prompt" not in probing.run(FakeModel(), BENCHMARK, progress=False).items
