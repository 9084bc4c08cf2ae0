"""A model's figures beside those of models of similar size."""

from leaderboard.lists.model_profile import profile
from tests.leaderboard import factories as make

SAME_SETTINGS = "5" * 64  # a digest


def test_a_training_stands_beside_a_model_with_its_last_step(db: None) -> None:
    tiny = make.benchmark()
    own = make.finished(tiny, 0.5, make.model("org/own", parameters=100))
    for step, value in ((20, 0.7), (10, 0.3)):  # the earlier step was measured last
        trained = make.model("org/trained", step=step, parameters=100)
        make.finished(tiny, value, trained, settings_digest=SAME_SETTINGS)
    (row,) = profile("org/own", [own], 100)
    assert [figure.value for figure in row.similar] == [0.7]
