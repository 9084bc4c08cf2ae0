"""Generic subjects: which ones a relation has, and the shares of options with them."""

import numpy as np
import pytest

from probing.analysis.option_scores import softmax
from probing.benchmark import Benchmark, Item, Relation
from probing.errors import NonFiniteScores
from probing.language_model import Scoring
from probing.probes.multiple_choice import MultipleChoice, subjects_of
from probing.probes.probe import make
from probing.probes.ranking import Ranking
from probing.settings import Settings
from probing.template import prompt
from tests.fakes import FakeModel

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
