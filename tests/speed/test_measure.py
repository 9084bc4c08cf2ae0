import numpy as np

from speed.measure import accuracy
from speed.systems import OptionScores
from speed.work import ChoiceItem, Workload

WORK = Workload("starter", (), (ChoiceItem("[X] is in [Y].", "Chad", ("Asia", "Africa"), 1),) * 2)


def test_accuracy_is_the_share_of_items_whose_right_option_is_best() -> None:
    exact = np.array([True, True])
    scores = [OptionScores(np.array([-2.0, -1.0]), exact), OptionScores(np.array([-1.0, -2.0]), exact)]
    assert accuracy(scores, WORK) == 0.5
