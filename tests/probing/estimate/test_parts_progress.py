"""One bar for several parts that are probed at the same time."""

from probing.estimate.load import Done, Load
from probing.estimate.parts_progress import PartsProgress
from probing.estimate.work import WorkEstimate
from probing.plan import Part

LONG, SHORT = Part("P30", 0, 4), Part("P36", 0, 2)
WORK = {LONG: WorkEstimate({"score": Load(4, 30.0)}), SHORT: WorkEstimate({"score": Load(2, 10.0)})}


class Bar:
    """Stands for a progress bar, and keeps what it was told."""

    def __init__(self) -> None:
        self.expected = self.actual = Load()
        self.text = ""

    def show(self, text: str) -> None:
        self.text = text

    def advance(self, expected: Load, actual: Load) -> None:
        self.expected, self.actual = self.expected.plus(expected), self.actual.plus(actual)


def half(positions: float, actual: float) -> Done:
    return Done(Load(2, positions), Load(2, actual, 1), 0.5)


def test_what_is_done_of_several_parts_adds_up() -> None:
    bar = Bar()
    progress = PartsProgress(WORK, bar.advance, bar.show)
    progress.begin(LONG)
    progress.begin(SHORT)
    progress.move(LONG, half(15, 12))
    progress.move(SHORT, half(2.5, 4))
    assert (bar.expected, bar.actual) == (Load(4, 17.5), Load(4, 16, 2))
    progress.move(LONG, Done(Load(3, 20), Load(3, 18, 2), 0.75))
    assert (bar.expected, bar.actual) == (Load(5, 22.5), Load(5, 22, 3))


def test_a_part_that_has_ended_is_done_as_it_was_expected() -> None:
    bar = Bar()
    progress = PartsProgress(WORK, bar.advance, bar.show)
    progress.begin(LONG)
    progress.move(LONG, half(15, 12))
    progress.end(LONG, 0)
    assert (bar.expected, bar.actual) == (Load(4, 30), Load(2, 12, 1))


def test_it_names_the_relations_that_are_being_asked() -> None:
    bar = Bar()
    progress = PartsProgress(WORK, bar.advance, bar.show)
    progress.begin(LONG)
    progress.begin(SHORT)
    assert bar.text == "P30, P36"
    progress.end(LONG, 3)
    progress.begin(LONG._replace(relation="P19"))
    assert bar.text == "P36, P19, 3 too long"
