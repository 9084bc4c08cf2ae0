"""Specificity: one row per pair, with both answers at the blank."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadInput, NonFiniteScores
from probing.language_model import BlankDistribution, OptionScores, Request, Scoring
from probing.probes.probe import Row, make
from probing.probes.specificity import Specificity
from probing.settings import Settings
from tests.fakes import FAKE_CARD, FakeModel

ITEMS = (
    Item(0, "Lyon", (1,), options=("Europe", "France")),
    Item(1, "Cusco", (1,), options=("South America", "Peru")),
    Item(2, "Lyon", (1,), options=("Europe", "Gaul")),
)
RELATION = Relation("lies", ("[X] lies in [Y].",), (), ITEMS, cascades=("[X] lies in [Y], which lies in [Y].",))


@dataclass
class Recorded(FakeModel):
    """Remembers what it was asked."""

    filled: list[Request] = field(default_factory=list)
    scored: list[Request] = field(default_factory=list)

    def fill(self, requests: Iterable[Request], k: int, words: Sequence[str] = ()) -> Iterator[BlankDistribution]:
        for request in requests:
            self.filled.append(request)
            yield from super().fill([request], k, words)

    def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores]:
        for request in requests:
            self.scored.append(request)
            yield from super().score([request], scoring)


def rows(model: FakeModel, relation: Relation = RELATION, **options: object) -> list[Row]:
    return list(make(Specificity, options).rows(model, relation, 0, Settings()))


def test_it_yields_one_row_per_pair_with_the_columns_it_promises() -> None:
    all_rows = rows(FakeModel())
    assert [row["index"] for row in all_rows] == [0, 1, 2]
    promised = Specificity.columns - {"prompt"}  # a model without tokens does not say it
    assert all(row.keys() == promised for row in all_rows)
    assert (all_rows[0]["answer_label"], all_rows[0]["coarse_label"], all_rows[0]["prompting"]) == (
        "France",
        "Europe",
        "vanilla",
    )


def test_a_pair_is_specific_where_the_fine_answer_is_more_probable() -> None:
    row = rows(FakeModel())[0]
    assert row["specific"] == (row["fine_log_prob"] > row["coarse_log_prob"])
    assert row["specific"] == row["correct"] == (row["fine_rank"] < row["coarse_rank"])
    assert row["scores"] == [row["coarse_log_prob"], row["fine_log_prob"]]


def test_an_answer_of_several_tokens_leaves_the_pair_undecided_but_scored() -> None:
    model = Recorded()
    row = rows(model)[1]
    assert row["specific"] is None
    assert np.isnan(row["coarse_log_prob"])
    assert (row["fine_rank"], row["coarse_rank"]) == (1, 0)
    assert np.isfinite(row["scores"]).all()
    assert [options for _, options in model.scored] == [("South America", "Peru")], "single tokens are known already"


def test_equal_probabilities_are_no_preference() -> None:
    @dataclass
    class Even(FakeModel):
        def fill(self, requests: Iterable[Request], k: int, words: Sequence[str] = ()) -> Iterator[BlankDistribution]:
            for _, options in requests:
                yield BlankDistribution((), np.zeros(0), np.full(len(options), -1.0), np.ones(len(options), int))

    row = rows(Even())[0]
    assert (row["specific"], row["correct"]) == (False, False)


def test_a_prompt_and_the_same_without_its_subject_are_asked_side_by_side() -> None:
    """So that a model can share the demonstrations before them."""
    model = Recorded()
    rows(model, prompting="few-shot", shots=2)
    texts = [prompt.fill("_", "?").text for prompt, _ in model.filled]
    assert len(texts) == 2 * len(ITEMS)
    for item, whole, bare in zip(ITEMS, texts[::2], texts[1::2], strict=True):
        demonstrations = whole.removesuffix(f"{item.subject} lies in _.")
        assert bare == f"{demonstrations}? lies in _."


def test_few_shot_stores_its_demonstrations() -> None:
    all_rows = rows(FakeModel(), prompting="few-shot", shots=2)
    assert sorted([*all_rows[1]["demonstrations"], 1]) == [0, 1, 2]
    assert "Lyon lies in France, " in all_rows[1]["statement"] or "Lyon lies in Gaul, " in all_rows[1]["statement"]


def test_a_causal_models_cascade_is_scored_over_the_clause_too() -> None:
    model = Recorded()
    row = rows(model, prompting="cascade")[0]
    assert model.scored[-1][0].fill("Peru").text.endswith("lies in Peru, which lies in")
    assert row["fine_clause_score"] < 0
    assert row["statement"].endswith(", which lies in ….")


def test_a_masked_models_cascade_is_not() -> None:
    model = FakeModel(card=replace(FAKE_CARD, kind="masked"))
    assert np.isnan(rows(model, prompting="cascade")[0]["fine_clause_score"])


def test_items_without_two_options_are_refused(benchmark: Benchmark) -> None:
    with pytest.raises(BadInput, match=r"Item 0 of P30 has 3 options; specificity compares two.*stest"):
        rows(FakeModel(), benchmark["P30"])


@pytest.mark.parametrize(
    ("options", "fault"), [({"prompting": "zero"}, "vanilla, few-shot"), ({"shots": 0}, "1 or more")]
)
def test_unknown_options_are_refused(options: dict[str, object], fault: str) -> None:
    with pytest.raises(BadInput, match=fault):
        make(Specificity, options)


def test_a_broken_network_is_not_taken_for_a_small_vocabulary() -> None:
    @dataclass
    class Broken(FakeModel):
        def fill(self, requests: Iterable[Request], k: int, words: Sequence[str] = ()) -> Iterator[BlankDistribution]:
            for _, options in requests:
                yield BlankDistribution((), np.zeros(0), np.full(len(options), np.nan), np.ones(len(options), int))

        def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores]:
            for _, options in requests:
                nan = np.array([np.nan])
                yield OptionScores((nan,) * len(options), (slice(0, 1),) * len(options), np.ones(len(options), bool))

    with pytest.raises(NonFiniteScores, match="lies, item 0"):
        rows(Broken())


@dataclass
class Damaged(FakeModel):
    """Gives no number in one place."""

    place: str = ""

    def fill(self, requests: Iterable[Request], k: int, words: Sequence[str] = ()) -> Iterator[BlankDistribution]:
        for number, filling in enumerate(super().fill(requests, k, words)):
            damaged = self.place == ("hidden" if number % 2 else "blank")
            lost = self.place == "hidden distribution" and number % 2
            yield replace(
                filling,
                options=filling.options * (np.nan if damaged or lost else 1),
                ranks=filling.ranks * (not lost),
                log_probs=filling.log_probs * (np.nan if lost else 1),
            )

    def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores]:
        for scores in super().score(requests, scoring):
            damaged = self.place == "clause" and scoring.span == "statement"
            factor = np.inf if damaged else 1
            yield replace(scores, log_probs=tuple(tokens * factor for tokens in scores.log_probs))

    def embed(self, texts: Iterable[str]) -> Iterator[NDArray[np.float32]]:
        return (vector * (np.nan if self.place == "vector" else 1) for vector in super().embed(texts))


@pytest.mark.parametrize("place", ["blank", "hidden", "hidden distribution", "clause", "vector"])
def test_no_number_that_was_asked_for_may_be_missing(place: str) -> None:
    assert len(rows(Damaged(), prompting="cascade")) == 3
    with pytest.raises(NonFiniteScores, match="lies, item 0"):
        rows(Damaged(place=place), prompting="cascade")


def test_the_frame_has_the_same_types_whatever_is_missing() -> None:
    probe = Specificity()
    whole, part = (probe.frame(part_rows) for part_rows in (rows(FakeModel()), rows(FakeModel())[1:2]))
    assert whole.dtypes.to_dict() == part.dtypes.to_dict()
