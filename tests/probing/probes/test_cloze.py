"""Cloze: what counts as found, of encoders and of generators."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
import torch

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadInput, Incomplete, NonFiniteScores, TooLong
from probing.language_model import BlankDistribution, Continuation, Request
from probing.part_runner import probe_part
from probing.plan import Part, plan_of
from probing.probes.cloze import INSTRUCTIONS, Cloze, Instruction, beginning, ends_in_blank, tokens_to_answer
from probing.probes.probe import Row, tag_columns
from probing.runner import run
from probing.scoring.hf_model import HFModel
from probing.scoring.load import load
from probing.settings import Settings
from probing.template import prompt
from tests.fakes import FAKE_CARD, FakeModel

RELATION = Relation(
    "sea_countries",
    ("[X] borders [Y].",),
    ("Turkey", "Sudan"),
    (
        Item(0, "Black Sea", (0,), tags={"leak": "leaky"}, wording="The Black Sea is bound by [Y].", id="a"),
        Item(1, "Red Sea", (1,), tags={"leak": "not leaky"}, wording="[Y] lies by the Red Sea.", id="b"),
    ),
    tags={"fact_type": "sea_countries", "head": "Natural"},
)


@dataclass
class Encoder(FakeModel):
    """Ranks `tokens` at every blank; `ranks` says where the tokenizer's own token for each answer stands."""

    tokens: tuple[str, ...] = ("Turkey", "Greece", "Sudan")
    ranks: dict[str, int] = field(default_factory=dict)
    log_probs: tuple[float, ...] = (-1.0, -2.0, -3.0)
    words: Sequence[str] = ()

    def __post_init__(self) -> None:
        self.card = replace(FAKE_CARD, kind="masked")

    def fill(self, requests: Iterable[Request], k: int, words: Sequence[str] = ()) -> Iterator[BlankDistribution]:
        self.words = words
        for _, options in requests:
            ranks = np.array([self.ranks.get(option, 0) for option in options])
            yield BlankDistribution(self.tokens, np.array(self.log_probs), np.full(len(options), np.nan), ranks)


@dataclass
class Generator(FakeModel):
    """Goes on with these tokens, whatever it is asked; remembers what that was."""

    writes: tuple[str, ...] = ()
    requests: list[Any] = field(default_factory=list)

    def generate(
        self, texts: Iterable[str], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation]:
        for text in texts:
            self.requests.append((text, tokens, chat))
            yield written(*self.writes[:tokens])


def written(*tokens: str) -> Continuation:
    return Continuation("".join(tokens), [len("".join(tokens[: n + 1])) for n in range(len(tokens))])


def rows(model: FakeModel, **options: Any) -> list[Row]:
    return list(Cloze(**options).rows(model, RELATION, 0, Settings()))


@pytest.mark.parametrize("model", [Encoder(), Generator(writes=(" Sudan",))], ids=["encoder", "generator"])
def test_the_answer_is_among_an_item_s_own_options(model: FakeModel) -> None:
    item = Item(0, "Red Sea", (1,), options=("Africa", "Sudan"))
    relation = replace(RELATION, answer_space=("Turkey", "Africa"), items=(item,))
    (row,) = Cloze().rows(model, relation, 0, Settings())
    assert (row["answer_label"], row["correct"]) == ("Sudan", True)


def test_an_encoder_is_asked_every_sentence_and_k_decides_what_counts_as_right() -> None:
    first, second = rows(Encoder())
    assert [first["statement"], second["statement"]] == ["The Black Sea is bound by ____.", "____ lies by the Red Sea."]
    assert [first["rank"], second["rank"]] == [1, 3]
    assert (first["predictions"], first["prediction_label"]) == (["Turkey", "Greece", "Sudan"], "Turkey")
    assert (first["id"], first["leak"], first["head"], first["method"]) == ("a", "leaky", "Natural", "top")
    assert [row["correct"] for row in rows(Encoder())] == [True, True]
    assert [row["correct"] for row in rows(Encoder(), k=1)] == [True, False]


def test_the_tokenizers_own_token_counts_and_a_cased_model_must_spell_the_answer_as_it_is() -> None:
    uncased = Encoder(tokens=("turkey", "greece"), log_probs=(-1.0, -2.0), ranks={"Turkey": 1, " Sudan": 12})
    assert [row["rank"] for row in rows(uncased)] == [1, 12]
    cased = Encoder(tokens=("turkey", "TURKEY"), log_probs=(-1.0, -2.0))
    assert rows(cased)[0]["rank"] is None


def test_an_answer_of_several_tokens_is_not_found() -> None:
    first, second = rows(Encoder(tokens=("Greece",), log_probs=(-1.0,), ranks={" Sudan": 40}))
    assert (first["rank"], first["one_token"], first["correct"]) == (None, False, False)
    assert (second["rank"], second["one_token"], second["correct"]) == (40, True, False)


def test_other_names_count_beside_the_exact_answer() -> None:
    items = (replace(RELATION.items[0], answers=(0, 1)), replace(RELATION.items[1], answers=(2, 3)))
    relation = replace(RELATION, answer_space=("Turkey", "Türkiye", "Sudan", "Soudan"), items=items)
    model = Encoder(tokens=("Greece",), log_probs=(-1.0,), ranks={"Türkiye": 2, "Turkey": 7, " Soudan": 4})
    first, second = Cloze().rows(model, relation, 0, Settings())
    assert (first["rank"], first["alias_rank"], first["correct"]) == (7, 2, False)
    assert (second["rank"], second["alias_rank"]) == (None, 4)
    scores = Cloze().scores(Cloze().frame([first, second])).set_index(["metric", "dimension"])["value"]
    assert scores["accuracy", "overall"] == 0
    assert scores["accuracy_with_aliases", "overall"] == 1
    first, _ = Cloze().rows(Generator(writes=(" Tür", "kiye")), relation, 0, Settings())
    assert (first["rank"], first["alias_rank"]) == (None, 2)


def test_a_closed_answer_space_is_ranked_alone() -> None:
    model = Encoder()
    rows(model, closed=True)
    assert model.words == ("Turkey", "Sudan")
    rows(model)
    assert model.words == ()


def test_a_generator_is_asked_what_ends_in_its_blank() -> None:
    model = Generator(writes=(" Tur", "key", " and", " Greece"))
    first, second = rows(model)
    assert [text for text, _, _ in model.requests] == [f"{INSTRUCTIONS[2][:-3]} The Black Sea is bound by"]
    assert (first["rank"], first["correct"], first["method"]) == (2, True, "near")
    assert (first["continuation"], first["one_token"]) == (" Turkey and Greece", None)
    assert (second["correct"], second["rank"], second["method"], second["continuation"]) == (None, None, "", "")


@pytest.mark.parametrize(
    ("instruction", "text"),
    [
        (0, "The Black Sea is bound by"),
        (1, "Complete the following sentence: The Black Sea is bound by"),
        (5, "Answer the question The Black Sea is bound by?"),
    ],
)
def test_an_instruction_stands_before_the_sentence(instruction: int, text: str) -> None:
    model = Generator()
    rows(model, instruction=instruction)
    assert model.requests[0][0] == text


def test_every_instruction_can_be_chosen() -> None:
    assert get_args(Instruction) == tuple(range(len(INSTRUCTIONS)))


def test_it_writes_one_token_more_than_counts_and_hides_it() -> None:
    model = Generator(writes=(" I", " see", " Turkey", "s"))
    row = rows(model, tokens=3, k=3)[0]
    assert model.requests[0][1:] == (4, False)
    assert (row["rank"], row["continuation"]) == (None, " I see Turkey")
    assert rows(Generator(writes=(" I", " see", " Turkey", ",")), tokens=3, k=3)[0]["rank"] == 3
    assert rows(Generator(writes=(" I", " see", " all", " Turkey")), tokens=3, k=3)[0]["rank"] is None


def test_a_chat_model_is_asked_through_its_template() -> None:
    model = Generator()
    rows(model, chat=True)
    assert model.requests[0][2]


@pytest.mark.parametrize(
    ("tokens", "answer", "place"),
    [
        ((" Niger", "ia"), "Niger", None),
        ((" Niger", "ia", " or", " Niger"), "Niger", 4),
        ((" TURKEY", "!"), "Turkey", 1),
        (("(", "São", ")"), "são", 2),
        ((" Guinea", "-", "Bissau"), "Guinea", 1),
        ((" South", " Sudan"), "Sudan", 2),
        ((), "Sudan", None),
    ],
)
def test_an_answer_is_near_once_its_last_token_stands_as_a_whole_word(
    tokens: tuple[str, ...], answer: str, place: int | None
) -> None:
    assert tokens_to_answer(written(*tokens), answer) == place


def test_a_score_that_is_no_number_names_the_item() -> None:
    with pytest.raises(NonFiniteScores, match="sea_countries, item 0"):
        rows(Encoder(log_probs=(float("nan"), -1.0, -2.0)))


@pytest.mark.parametrize("options", [{"instruction": 6}, {"instruction": -1}, {"k": 0}, {"k": 11}, {"tokens": 4}])
def test_options_that_cannot_be_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(BadInput):
        Cloze(**options)


def test_a_model_that_answers_too_little_gives_no_result() -> None:
    class Silent(Encoder):
        def fill(self, requests: Iterable[Request], k: int, words: Sequence[str] = ()) -> Iterator[BlankDistribution]:
            return iter(list(super().fill(requests, k, words))[:1])

    benchmark = Benchmark("small", "1", "0", (RELATION,))
    with pytest.raises(Incomplete, match="1 of 2"):
        probe_part(Silent(), plan_of(benchmark, Settings(probe="cloze")), Part("sea_countries", 0, 2))


def test_a_frame_has_the_same_types_whatever_is_empty_and_tags_as_dimensions() -> None:
    probe = Cloze()
    assert (probe.frame(rows(Encoder())).dtypes == probe.frame(rows(Generator())).dtypes).all()
    assert set(tag_columns(probe, probe.frame(rows(Encoder())).columns)) == {"leak", "fact_type", "head"}


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
