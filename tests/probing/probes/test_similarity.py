"""Similarity: multiple choice by the cosine of vectors."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import NonFiniteScores
from probing.probes.similarity import Similarity, cosines
from probing.settings import Settings
from tests.fakes import FakeModel

PROBE = Similarity()
RELATION = Relation("P1", ("[X] is [Y].",), ("north", "east"), (Item(0, "up", (0,)), Item(1, "right", (1,))))
VECTORS = {"up": [1, 9], "right": [9, 1], "north": [0, 2], "east": [5, 0], "nowhere": [0, 0]}


@dataclass
class Points(FakeModel):
    """Each text has a place."""

    texts_embedded: list[str] = field(default_factory=list)

    def embed(self, texts: Iterable[str]) -> Iterator[NDArray[np.float32]]:
        for text in texts:
            self.texts_embedded.append(text)
            yield np.array(VECTORS[text], np.float32)


def test_the_option_in_the_same_direction_is_chosen() -> None:
    first, second = PROBE.rows(Points(), RELATION, 0, Settings())
    assert (first["prediction_label"], second["prediction_label"]) == ("north", "east")
    assert first["scores"] == pytest.approx([9 / 82**0.5, 1 / 82**0.5])


def test_a_row_says_the_relation_s_label_and_the_item_s_own_wording() -> None:
    item = replace(RELATION.items[0], wording="[Y] is where up is.")
    versioned = replace(RELATION, id="P1.arab-west.en", tags={"predicate": "P1"}, items=(item,))
    (row,) = PROBE.rows(Points(), versioned, 0, Settings())
    assert (row["relation"], row["statement"]) == ("P1", "North is where up is.")


def test_each_text_is_embedded_once() -> None:
    model = Points()
    list(cosines(model, [("up", ("north", "east")), ("right", ("north", "east"))]))
    assert model.texts_embedded == ["up", "north", "east", "right"]


def test_its_scores_are_called_relatedness(benchmark: Benchmark) -> None:
    rows = PROBE.frame([row for r in benchmark.relations for row in PROBE.rows(FakeModel(), r, 0, Settings())])
    scores = PROBE.scores(rows)
    assert {"relatedness", "chance"} <= set(scores["metric"])
    assert "accuracy" not in set(scores["metric"])


def test_a_vector_without_length_is_an_error() -> None:
    lost = Relation("P1", ("[X] is [Y].",), ("nowhere",), (Item(0, "up", (0,)),))
    with pytest.raises(NonFiniteScores, match="P1, item 0"), np.errstate(invalid="ignore"):
        list(PROBE.rows(Points(), lost, 0, Settings()))
