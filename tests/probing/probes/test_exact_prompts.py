"""The column `prompt` of rows: all that the model read, with the place of the options."""

import pandas as pd
import pytest

import probing
from probing.benchmark import Benchmark, Item, Relation
from probing.probes.perplexity import Perplexity
from probing.probes.probe import make
from probing.probes.specificity import Specificity
from probing.scoring.causal import CausalModel
from probing.settings import Settings
from tests.fakes import FakeModel
from tests.probing.scoring.networks import HEAD_APART, SHARING, masked_model
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
    assert prompts(model) == ["<s>Peru lies in [Y].", "<s>Mali lies in [Y]."]
    assert prompts(model, start="none")[0] == "Peru lies in [Y]."


def test_it_has_the_examples_before_the_statement(model: CausalModel) -> None:
    assert prompts(model, few_shot=1)[0] == "<s>Mali lies in Africa.\nPeru lies in [Y]."


def test_it_has_the_chat_as_the_template_writes_it(model: CausalModel) -> None:
    chat = "[user] Fill in the blank: Peru lies in ____.\n[assistant] [Y]"
    assert prompts(model, chat=True)[0] == chat


def test_of_an_answer_by_generation_it_is_the_text_that_was_continued(model: CausalModel) -> None:
    chat = "[user] Fill in the blank: Peru lies in ____.\n[assistant]"
    assert prompts(model, probe="answering", tokens=1)[0].endswith(chat)


def test_of_a_blank_that_a_causal_model_fills_it_is_the_text_up_to_the_blank(model: CausalModel) -> None:
    assert prompts(model, probe="cloze", closed=True)[0] == "<s>Peru lies in [Y]"


def test_of_a_cloze_that_is_continued_it_is_the_instruction_with_the_sentence(model: CausalModel) -> None:
    assert prompts(model, probe="cloze", instruction=1)[0] == "<s>Complete the following sentence: Peru lies in"


def test_of_a_masked_model_it_is_the_whole_sentence() -> None:
    assert prompts(masked_model(HEAD_APART["bert"]), probe="cloze")[0] == "Peru lies in [Y]."


def test_of_a_pair_it_has_the_demonstrations(model: CausalModel) -> None:
    items = [Item(0, "Oslo", (1,), options=("Europe", "Norway")), Item(1, "Lima", (1,), options=("America", "Peru"))]
    pairs = Relation("lies", ("[X] is in [Y].",), (), tuple(items))
    few_shot = make(Specificity, {"prompting": "few-shot", "shots": 1})
    rows = list(few_shot.rows(model, pairs, 0, Settings()))
    assert [row["prompt"] for row in rows] == [
        "<s>Lima is in Peru, Oslo is in [Y]",
        "<s>Oslo is in Norway, Lima is in [Y]",
    ]


@pytest.mark.parametrize(("public_code", "start"), [(False, "<s>"), (True, "")])
def test_of_a_sentence_it_is_the_sentence_behind_its_start_token(
    model: CausalModel, public_code: bool, start: str
) -> None:
    (row,) = make(Perplexity, {"public_code": public_code}).measure(model, ["Mali lies in ____."])  # type: ignore[attr-defined]
    assert row["prompt"] == f"{start}Mali lies in ____."


def test_a_model_without_tokens_leaves_the_column_out() -> None:
    assert "prompt" not in probing.run(FakeModel(), BENCHMARK, progress=False).items
