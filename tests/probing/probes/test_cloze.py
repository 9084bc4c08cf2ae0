"""Cloze: what counts as found, of encoders and of generators."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
import pytest

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadInput, Incomplete, NonFiniteScores
from probing.language_model import BlankDistribution, Continuation, Request
from probing.part_runner import probe_part
from probing.plan import Part, plan_of
from probing.probes.cloze import INSTRUCTIONS, Cloze, Instruction, tokens_to_answer
from probing.probes.probe import Row, tag_columns
from probing.settings import Settings
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
