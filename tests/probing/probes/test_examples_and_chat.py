"""Multiple choice behind examples and in a chat: exactly what is scored, on networks of every kind."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import probing
from leaderboard.changed_settings import differences, settings_group
from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadInput, UnsupportedModel
from probing.language_model import Scoring, fitting
from probing.plan import plan
from probing.results.token_scores import TOKENS_FILE
from probing.scoring.causal import CausalModel
from probing.scoring.encoder_decoder import EncoderDecoderModel
from probing.scoring.hf_model import HFModel
from probing.scoring.masked import MaskedModel
from probing.statements.prompting import Examples, as_context
from probing.template import prompt
from tests.probing.scoring.networks import HEAD_APART, SHARING
from tests.probing.scoring.obvious import predictions
from tests.probing.scoring.seq2seq import FAMILIES
from tests.tiny_models import byte_level_bpe, metaspace_unigram, word_piece

CHAT = (
    "{{ '<|endoftext|>' }}{% for m in messages %}[{{ m.role }}] {{ m.content | trim }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
PLACES = ["Chad", "Egypt", "Japan", "Norway", "Peru", "Kenya", "India", "Spain"]
ITEMS = tuple(Item(number, place, (number % 3,)) for number, place in enumerate(PLACES))
RELATION = Relation(
    "P30", ("[X] is in [Y].", "[Y] has [X]."), ("Africa", "South America", "Asia", "Europe", "東京"), ITEMS
)
ORIGINAL = Scoring(pll="original")
SMALL = Benchmark("small", "1", "0", (RELATION,))


def causal(sentence_piece: bool = False) -> CausalModel:
    tokenizer = metaspace_unigram() if sentence_piece else byte_level_bpe()
    tokenizer.chat_template = CHAT
    return CausalModel(SHARING["llama"](len(tokenizer)), tokenizer)


@pytest.fixture(scope="module")
def llama() -> CausalModel:
    return causal()


def scores(model: HFModel, **settings: Any) -> np.ndarray:
    result = probing.run(model, SMALL, progress=False, **settings)
    return np.array(result.items["scores"].tolist())


def after(model: HFModel, before: str, text: str, start: list[int]) -> float:
    """Return the log-probability of a text behind another, from one call of the network."""
    context = model.tokenizer(before, add_special_tokens=False).input_ids
    ids = [*start, *model.tokenizer(before + text, add_special_tokens=False).input_ids]
    assert ids[len(start) : len(start) + len(context)] == context
    log_probs = predictions(model.network, ids)
    return sum(float(log_probs[place - 1, ids[place]]) for place in range(len(start) + len(context), len(ids)))


@pytest.mark.parametrize("template", [0, 1])
def test_a_causal_model_scores_the_statement_given_the_examples(llama: CausalModel, template: int) -> None:
    examples = Examples(RELATION, 3, 7)
    expected = [
        [
            after(
                llama,
                as_context(RELATION, examples.before(item), template),
                prompt(RELATION.templates[template], item.subject).fill(option).text,
                list(llama.encoder.start),
            )
            for option in RELATION.answer_space
        ]
        for item in ITEMS
    ]
    measured = scores(llama, few_shot=3, seed=7, templates=(template,))
    np.testing.assert_allclose(measured, expected, atol=1e-3)


def test_an_early_decision_behind_examples_predicts_the_same(llama: CausalModel) -> None:
    whole = probing.run(llama, SMALL, few_shot=3, templates=(0, 1), progress=False).items
    decided = probing.run(llama, SMALL, few_shot=3, templates=(0, 1), decide=True, progress=False).items
    assert list(decided["prediction"]) == list(whole["prediction"])
    for scored, exact, expected in zip(decided["scores"], decided["exact"], whole["scores"], strict=True):
        np.testing.assert_allclose(np.array(scored)[exact], np.array(expected)[exact], atol=1e-3)
        assert (np.array(scored) >= np.array(expected) - 1e-3).all()


def test_the_examples_are_computed_once_for_all_items(llama: CausalModel) -> None:
    def positions(**settings: Any) -> int:
        before = llama.usage.positions
        probing.run(llama, SMALL, progress=False, **settings)
        return llama.usage.positions - before

    examples = Examples(RELATION, 3, 0)
    contexts = [llama.tokenizer(as_context(RELATION, examples.before(item), 0)).input_ids for item in ITEMS]
    distinct = {tuple(context[:end]) for context in contexts for end in range(1, len(context) + 1)}
    assert len(distinct) < sum(map(len, contexts)) / 2
    assert positions(few_shot=3) - positions() < 1.5 * len(distinct)


def test_a_masked_model_scores_the_tokens_of_the_statement_only() -> None:
    tokenizer = word_piece()
    model = MaskedModel(HEAD_APART["bert"](len(tokenizer)), tokenizer)
    context = "Chad is in Africa.\n"
    text = prompt(RELATION.templates[0], "Peru", verbatim=True)
    statement = text.fill("South America").text
    encoding = tokenizer(context + statement, return_offsets_mapping=True)
    expected = []
    for place, (_, end) in enumerate(encoding.offset_mapping):
        if end > len(context):
            ids = [*encoding.input_ids]
            ids[place] = tokenizer.mask_token_id
            expected.append(float(predictions(model.network, ids)[place, encoding.input_ids[place]]))
    (measured,) = map(fitting, model.score([(replace(text, context=context), ["South America"])], ORIGINAL))
    np.testing.assert_allclose(measured.log_probs[0], expected, atol=1e-4)
    assert [statement[begin:end] for begin, end in measured.spans[0]][:2] == ["Peru", "is"]


@pytest.mark.parametrize("family", ["t5", "bart"])
def test_an_encoder_decoder_reads_the_examples_and_is_scored_on_the_same_tokens(family: str) -> None:
    network, tokenizer = FAMILIES[family]()
    model = EncoderDecoderModel(network, tokenizer)
    text = prompt(RELATION.templates[0], "Peru", verbatim=True)
    shown_text = replace(text, context="Chad is in Africa.\n")
    plain, shown = map(fitting, model.score([(text, ["Asia"]), (shown_text, ["Asia"])], ORIGINAL))
    assert plain.spans == shown.spans
    assert len(plain.log_probs[0]) == len(shown.log_probs[0])
    assert not np.allclose(plain.log_probs[0], shown.log_probs[0])


@pytest.mark.parametrize("sentence_piece", [False, True])
@pytest.mark.parametrize("few_shot", [0, 1])
def test_a_chat_scores_the_tokens_of_the_option_in_the_assistants_turn(sentence_piece: bool, few_shot: int) -> None:
    model = causal(sentence_piece)
    examples = Examples(RELATION, few_shot, 0)
    measured = scores(model, chat=True, few_shot=few_shot)
    for row, item in zip(measured, ITEMS, strict=True):
        chat = "<|endoftext|>"
        for example in examples.before(item):
            answer = RELATION.answer_space[example.answers[0]]
            chat += f"[user] Fill in the blank: {example.subject} is in ____.\n[assistant] {answer}\n"
        chat += f"[user] Fill in the blank: {item.subject} is in ____.\n[assistant]"
        for score, option in zip(row, RELATION.answer_space, strict=True):
            assert score == pytest.approx(after(model, chat, f" {option}", []), abs=1e-3)


def test_the_scores_of_tokens_are_kept_with_their_roles(llama: CausalModel, tmp_path: Path) -> None:
    runs: dict[str, dict[str, Any]] = {"shown": {"few_shot": 2}, "chat": {"chat": True}}
    for name, values in runs.items():
        result = probing.run(llama, SMALL, out=tmp_path / name, keep_tokens=True, progress=False, **values)
        tokens = pd.read_parquet(tmp_path / name / TOKENS_FILE)
        first = tokens[(tokens["index"] == 0) & (tokens["option"] == 0)]
        assert first["log_prob"].sum() == pytest.approx(result.items["scores"][0][0], abs=1e-3)
        assert set(first["role"]) == ({"answer"} if name == "chat" else {"subject", "template", "answer"})


def test_the_rows_name_the_examples_and_show_them(llama: CausalModel) -> None:
    row = probing.run(llama, SMALL, few_shot=2, progress=False).items.iloc[0]
    shown = Examples(RELATION, 2, 0).before(ITEMS[0])
    assert list(row["demonstrations"]) == [item.index for item in shown]
    assert row["statement"] == f"{as_context(RELATION, shown, 0)}Chad is in {row['prediction_label']}."


@pytest.mark.parametrize("values", [{"few_shot": 3}, {"chat": True}])
def test_such_a_run_is_another_one_and_never_ranked_with_the_usual(values: dict[str, Any]) -> None:
    usual, other = plan(SMALL, {}).settings, plan(SMALL, values).settings
    assert usual.digest != other.digest
    assert settings_group(differences(other.to_json(), usual), other.to_json(), None, "float32")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"few_shot": -1}, "-1 examples cannot be shown"),
        ({"few_shot": "3"}, "few_shot cannot be '3'"),
        ({"few_shot": 8}, "too few items to show 8 others before each"),
        ({"few_shot": 2, "generic_subjects": "it"}, "Generic subjects are about the statement alone"),
        ({"chat": True, "generic_subjects": "it"}, "Generic subjects are about the statement alone"),
        ({"chat": True, "start": "eos"}, "The chat template decides how a text begins"),
        ({"few_shot": 2, "protocol": "lm-eval"}, "Leave out few_shot"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_a_model_is_loaded(values: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        plan(SMALL, values)


def test_a_model_without_a_chat_is_refused(llama: CausalModel) -> None:
    tokenizer = byte_level_bpe()
    without = CausalModel(llama.network, tokenizer)
    with pytest.raises(UnsupportedModel, match="has no chat template"):
        scores(without, chat=True)
    tokenizer.chat_template = "{{ raise_exception('no user') }}"
    with pytest.raises(UnsupportedModel, match=r"does not take this chat \(no user\)"):
        scores(without, chat=True)
    tokenizer.chat_template = "{{ messages[0].content }}"
    with pytest.raises(UnsupportedModel, match="does not write what the assistant says"):
        scores(without, chat=True)
    words = word_piece()
    with pytest.raises(UnsupportedModel, match="scored by causal models only, and this is a masked model"):
        scores(MaskedModel(HEAD_APART["bert"](len(words)), words), chat=True)
