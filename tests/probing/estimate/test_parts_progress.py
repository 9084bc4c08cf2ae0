"""One bar for several parts that are probed at the same time."""

import pytest
from tqdm import tqdm

from probing.estimate.counting_model import VerbLoad
from probing.estimate.parts_progress import PartsProgress
from probing.estimate.work import WorkEstimate
from probing.probes.parts import Part

LONG, SHORT = Part("P30", 0, 4), Part("P36", 0, 2)
WORK = {LONG: WorkEstimate({"score": VerbLoad(4, 30.0)}), SHORT: WorkEstimate({"score": VerbLoad(2, 10.0)})}


@pytest.fixture
def bar(tmp_path_factory: pytest.TempPathFactory) -> tqdm:
    """A bar of a run, of which a part with 60 positions was stored before; it prints to a file."""
    file = (tmp_path_factory.mktemp("bar") / "output").open("w")
    return tqdm(total=100, initial=60, file=file)


def test_shares_of_several_parts_add_up(bar: tqdm) -> None:
    progress = PartsProgress(bar, WORK)
    progress.begin(LONG)
    progress.begin(SHORT)
    progress.share(LONG, 0.5)
    progress.share(SHORT, 0.25)
    assert bar.n == pytest.approx(60 + 15 + 2.5)
    progress.end(SHORT, 0)
    assert bar.n == pytest.approx(60 + 15 + 10)
    progress.end(LONG, 0)
    assert bar.n == pytest.approx(100)


def test_it_names_the_relations_that_are_being_asked(bar: tqdm) -> None:
    progress = PartsProgress(bar, WORK)
    progress.begin(LONG)
    progress.begin(SHORT)
    assert bar.postfix == "P30, P36"
    progress.end(LONG, 3)
    progress.begin(LONG._replace(relation="P19"))
    assert bar.postfix == "P36, P19, 3 too long"
