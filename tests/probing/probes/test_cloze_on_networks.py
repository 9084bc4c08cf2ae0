"""Cloze on small networks: equal to the obvious way, whatever the batches."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import TooLong
from probing.probes.cloze import INSTRUCTIONS, Cloze, beginning, ends_in_blank
from probing.runner import run
from probing.scoring.hf_model import HFModel
from probing.scoring.load import load
from probing.template import prompt
from tests.tiny_models import build_bert, build_gpt2

SENTENCES = {
    "located": [
        ("Chad is located in [Y].", "Africa"),
        ("[Y] is located in South America.", "Peru"),
        ("The river Danube flows through [Y].", "Austria"),
        ("The river Danube flows through [Y].", "Serbia"),
        ("Warsaw and [Y].", "Oslo"),
    ],
    "capital": [
        ("The capital of Norway is [Y].", "Oslo"),
        ("The capital of Kenya is [Y] Aires.", "Buenos"),
        ("Quito belongs to [Y].", "Ecuador"),
    ],
}


def benchmark() -> Benchmark:
    relations = []
    for name, pairs in SENTENCES.items():
        answers = tuple(dict.fromkeys(answer for _, answer in pairs))
        items = (
            Item(index, "it", (answers.index(answer),), wording=text) for index, (text, answer) in enumerate(pairs)
        )
        tags = {"fact_type": name, "head": "Natural"}
        relations.append(Relation(name, ("[X] [Y]",), answers, tuple(items), tags=tags))
    return Benchmark("small", "1", "0", tuple(relations))


ASKED = [(text, answer) for pairs in SENTENCES.values() for text, answer in pairs]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_gpt2(tmp_path_factory.mktemp("gpt2"))


def ask(folder: Path, batch_tokens: int | None = None, **options: Any) -> pd.DataFrame:
    model = load(str(folder), device="cpu", batch_tokens=batch_tokens)
    return run(model, benchmark(), probe="cloze", progress=False, **options).items


@torch.inference_mode()
def ranked_words(model: HFModel, text: str) -> list[str]:
    """The whole vocabulary as words, the best at the mask first: one call of the network, a sort in Python."""
    ids = model.tokenizer(text.replace("[Y]", model.tokenizer.mask_token), return_tensors="pt").input_ids
    place = ids[0].tolist().index(model.tokenizer.mask_token_id)
    logits = model.network(input_ids=ids).logits[0, place].tolist()
    order = sorted(range(len(logits)), key=lambda token: -logits[token])
    return [model.tokenizer.decode([token]).strip() for token in order]


def test_an_encoders_ranking_equals_the_obvious_way(bert: Path) -> None:
    model = load(str(bert), device="cpu")
    rows = ask(bert)
    for (text, answer), row in zip(ASKED, rows.itertuples(), strict=True):
        words = ranked_words(model, text)
        assert list(row.predictions) == words[:10]
        assert (None if pd.isna(row.rank) else row.rank) == (words.index(answer) + 1 if answer in words else None)
    assert rows["rank"].notna().any() and rows["rank"].isna().any()


def test_a_closed_answer_space_keeps_the_order_of_the_open_one(bert: Path) -> None:
    model = load(str(bert), device="cpu")
    for (text, answer), row in zip(ASKED, ask(bert, closed=True).itertuples(), strict=True):
        answers = benchmark()[row.relation].answer_space
        words = [word for word in ranked_words(model, text) if word in answers]
        assert list(row.predictions) == words
        assert (None if pd.isna(row.rank) else row.rank) == (words.index(answer) + 1 if answer in words else None)


@torch.inference_mode()
def tokens_written(model: HFModel, text: str, count: int) -> list[int]:
    """Greedy, a token at a time, from the start each time: no cache, no batch."""
    ids = [*model.encoder.start, *model.tokenizer(text, add_special_tokens=False).input_ids]
    values: list[int] = []
    while len(values) < count and (not values or values[-1] != model.tokenizer.eos_token_id):
        logits = model.network(input_ids=torch.tensor([ids + values])).logits[0, -1]
        values.append(int(logits.argmax()))
    return values


@pytest.mark.parametrize("instruction", [0, 1])
def test_a_generators_continuation_equals_the_obvious_way(gpt2: Path, instruction: int) -> None:
    model = load(str(gpt2), device="cpu")
    rows = ask(gpt2, instruction=instruction, tokens=8)
    for (text, answer), row in zip(ASKED, rows.itertuples(), strict=True):
        sentence = prompt(text, "it")
        if not ends_in_blank(sentence):
            assert (row.method, row.continuation) == ("", "")
            continue
        written = tokens_written(model, INSTRUCTIONS[instruction].format(beginning(sentence)), 9)
        whole = model.tokenizer.decode(written, skip_special_tokens=True)
        assert row.continuation.rstrip("\ufffd") == model.tokenizer.decode(
            written[:8], skip_special_tokens=True
        ).rstrip("\ufffd")
        assert pd.isna(row.rank) == (answer.lower() not in re.findall(r"\w+", whole.lower()))


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"closed": True}])
def test_batches_change_nothing(bert: Path, gpt2: Path, options: dict[str, Any]) -> None:
    for folder in (bert, gpt2):
        first, second = (ask(folder, size, tokens=6, instruction=0, **options) for size in (16, 4096))
        pd.testing.assert_frame_equal(first, second, rtol=1e-4)


def test_generators_can_choose_from_a_closed_answer_space(gpt2: Path) -> None:
    rows = ask(gpt2, closed=True)
    scored = rows[rows["correct"].notna()]
    assert set(scored["method"]) == {"top"}
    assert len(scored) == sum(ends_in_blank(prompt(text, "it")) for text, _ in ASKED)


def test_it_ends_in_scores(bert: Path, tmp_path: Path) -> None:
    result = run(str(bert), benchmark(), probe="cloze", progress=False, out=tmp_path / "out")
    overall = result.scores[result.scores["dimension"] == "overall"].set_index("metric")
    assert set(overall.index) == {
        *("accuracy", "in_top_1", "in_top_5", "in_top_10", "not_one_token", "majority_answer")
    }
    rows = pd.read_parquet(tmp_path / "out" / "items.parquet")
    assert Cloze().scores(rows).equals(result.scores)
    assert "chance" in set(Cloze(closed=True).scores(rows)["metric"])


def test_a_text_that_leaves_no_room_to_write_is_told_as_such(gpt2: Path) -> None:
    with pytest.raises(TooLong, match="longer than the 128 tokens"):
        ask(gpt2, instruction=2, tokens=120)


def test_a_closed_answer_space_can_be_compared_with_whole_statements(bert: Path) -> None:
    by_token = ask(bert, closed=True, k=1)
    by_statement = run(str(bert), benchmark(), probe="multiple_choice", progress=False).items
    assert list(by_statement["index"]) == list(by_token["index"])
    assert list(by_statement["answer_label"]) == list(by_token["answer_label"])
    assert by_statement["statement"].str.startswith("Chad is located in").sum() == 1
