"""Multiple choice: one row per item, and what its scores say."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import softmax

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import NonFiniteScores
from probing.language_model import OptionScores, Request, Scoring
from probing.probes.multiple_choice import MultipleChoice, subjects_of
from probing.probes.probe import Row, make
from probing.probes.ranking import Ranking
from probing.settings import Settings
from probing.template import prompt
from tests.fakes import FakeModel

PROBE = MultipleChoice()


@dataclass
class Says(FakeModel):
    """Gives the options of each prompt these scores."""

    scores: tuple[float, ...] = ()
    exact: tuple[bool, ...] = ()

    def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores]:
        exact = np.array(self.exact or [True] * len(self.scores))
        for _ in requests:
            yield OptionScores(tuple(np.array([score]) for score in self.scores), (slice(0, 1),) * 3, exact)


def ask(*scores: float, answers: tuple[int, ...] = (1,), exact: tuple[bool, ...] = ()) -> Row:
    options = tuple("abcde"[: len(scores)])
    relation = Relation("P1", ("[X] is [Y].",), options, (Item(4, "it", answers),), tags={"domain": ("A", "B")})
    return next(PROBE.rows(Says(scores=scores, exact=exact), relation, 0, Settings()))


def test_it_yields_one_row_per_item(benchmark: Benchmark, model: FakeModel) -> None:
    rows = list(PROBE.rows(model, benchmark["P30"], 1, Settings()))
    assert [row["index"] for row in rows] == [0, 1, 2, 3]
    assert {(row["relation"], row["template"]) for row in rows} == {("P30", 1)}
    only_with_options = {"generic", "demonstrations", "prompt"}
    columns = MultipleChoice.columns - only_with_options
    assert rows[0].keys() == columns | {"domain", "cardinality"}


def test_the_prediction_is_the_best_option_and_of_equal_ones_the_first() -> None:
    row = ask(-3, -1, -2)
    assert (row["prediction"], row["correct"], row["rank"], row["margin"]) == (1, True, 1, 1)
    assert (row["answer_label"], row["prediction_label"], row["statement"]) == ("b", "b", "It is b.")
    row = ask(-1, -3, -2)
    assert (row["prediction"], row["correct"], row["rank"], row["margin"]) == (0, False, 3, -2)
    row = ask(-1, -1, -1)
    assert (row["prediction"], row["correct"], row["rank"], row["margin"]) == (0, False, 2, 0)


def test_any_of_several_answers_counts_and_there_is_no_margin_where_no_option_is_wrong() -> None:
    row = ask(-4, -2, -1, -3, answers=(0, 1))
    assert (row["correct"], row["rank"], row["margin"]) == (False, 2, -1)
    assert ask(-4, -1, -2, -3, answers=(0, 1))["correct"]
    assert ask(-1, -2, answers=(0, 1))["margin"] is None


def test_open_scores_leave_rank_and_margin_empty_where_they_matter() -> None:
    wrong = ask(-1, -3, -2, exact=(True, False, False))
    assert (wrong["rank"], wrong["margin"]) == (None, None)
    right = ask(-3, -1, -2, exact=(False, True, False))
    assert (right["rank"], right["margin"]) == (1, None)
    assert right["exact"] == [False, True, False]


def test_a_tag_of_several_values_stays_a_list() -> None:
    assert ask(-1, -2)["domain"] == ["A", "B"]


@pytest.mark.parametrize("bad", [float("nan"), float("-inf"), float("inf")])
def test_a_score_that_is_no_number_names_the_item(bad: float) -> None:
    with pytest.raises(NonFiniteScores, match="P1, item 4, template 0"):
        ask(-1, bad)


def test_the_reduction_is_that_of_the_settings(benchmark: Benchmark, model: FakeModel) -> None:
    def scores(settings: Settings) -> list[float]:
        return next(PROBE.rows(model, benchmark["P36"], 0, settings))["scores"]

    # "The capital of Norway is Oslo." has six words, each a token of the fake model.
    assert np.allclose(np.array(scores(Settings())) / 6, scores(Settings(reduction="mean")))


def test_prompts_are_generated_as_the_model_asks_for_them(benchmark: Benchmark) -> None:
    model = FakeModel()
    rows = PROBE.rows(model, benchmark["P30"], 0, Settings())
    next(rows)
    assert model.usage.statements == 3


def test_a_row_has_the_number_of_tokens_of_each_option(benchmark: Benchmark, model: FakeModel) -> None:
    row = next(PROBE.rows(model, benchmark["P36"], 0, Settings()))
    assert row["tokens"] == [6, 6]


def test_the_frame_has_the_same_types_whatever_is_empty() -> None:
    complete, partial = PROBE.frame([ask(-1, -2)]), PROBE.frame([ask(-1, -2, exact=(True, False))])
    assert (complete.dtypes == partial.dtypes).all()


RELATION = Relation("P30", ("[X] is in [Y].",), ("Africa", "Asia"), (Item(0, "Chad", (0,)), Item(1, "Japan", (1,))))


def test_subjects_are_separated_by_commas_and_those_of_a_relation_take_the_place_of_general_ones() -> None:
    assert subjects_of("it,  the region ,", RELATION) == ["it", "the region"]
    assert subjects_of("", RELATION) == []
    text = "it, this, P30: the region, P36: the town"
    assert subjects_of(text, RELATION) == ["the region"]
    assert subjects_of("it, P36: the town", RELATION) == ["it"]


def test_every_row_has_the_mean_softmax_over_the_generic_subjects(model: FakeModel) -> None:
    probe = make(MultipleChoice, {"generic_subjects": "it, the region"})
    rows = list(probe.rows(model, RELATION, 0, Settings()))
    texts = [(prompt("[X] is in [Y].", subject), RELATION.answer_space) for subject in ("it", "the region")]
    scores = [answer.reduce("sum") for answer in model.score(texts, Scoring())]
    expected = np.mean([softmax(each) for each in scores], axis=0)
    assert [row["generic"] for row in rows] == [pytest.approx(expected.tolist())] * 2


def test_nothing_else_changes(benchmark: Benchmark, model: FakeModel) -> None:
    plain = list(MultipleChoice().rows(model, benchmark["P30"], 0, Settings()))
    probe = MultipleChoice(generic_subjects="it")
    rows = list(probe.rows(model, benchmark["P30"], 0, Settings()))
    assert [{name: value for name, value in row.items() if name != "generic"} for row in rows] == plain
    assert "generic" not in plain[0]


def test_a_relation_without_generic_subjects_has_no_shares_and_ranking_has_them_too(model: FakeModel) -> None:
    rows = list(MultipleChoice(generic_subjects="P36: the town").rows(model, RELATION, 0, Settings()))
    assert all(np.isnan(share) for row in rows for share in row["generic"])
    rows = list(Ranking(generic_subjects="it").rows(model, RELATION, 0, Settings()))
    assert sum(rows[0]["generic"]) == pytest.approx(1)


def test_sentences_of_their_own_cannot_be_asked_with_generic_subjects() -> None:
    worded = Relation("P1", ("[X] is in [Y].",), ("a", "b"), (Item(0, "x", (0,), wording="Here x is in [Y]."),))
    assert "sentences of their own" in MultipleChoice(generic_subjects="it").why_not(worded)
    assert not MultipleChoice().why_not(worded)


def test_scores_that_are_no_numbers_are_named(model: FakeModel) -> None:
    class Broken(FakeModel):
        def _tokens(self, statement):
            return np.array([np.nan])

    with pytest.raises(NonFiniteScores, match="a generic subject, template 0"):
        list(MultipleChoice(generic_subjects="it").rows(Broken(), RELATION, 0, Settings()))
