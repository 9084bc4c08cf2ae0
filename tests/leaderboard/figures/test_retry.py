"""Steps that wait for a database that is locked."""

import pytest
from django.db import OperationalError, transaction

from leaderboard.figures import artefacts
from leaderboard.figures.artefacts import DatabaseUnavailable, patiently

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artefacts, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(artefacts, "LONGEST_PAUSE", 0.02)


class Locked:
    """A function that works only after some attempts."""

    def __init__(self, failures: int) -> None:
        self.failures, self.calls = failures, 0

    def __call__(self) -> int:
        self.calls += 1
        if self.calls <= self.failures:
            raise OperationalError("database is locked")
        return self.calls


def test_a_step_is_tried_again_until_the_database_answers() -> None:
    assert patiently(Locked(5)) == 6


def test_a_database_that_stays_away_is_a_temporary_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artefacts, "PATIENCE", 0.1)
    with pytest.raises(DatabaseUnavailable) as caught:
        patiently(Locked(1000))
    assert not caught.value.permanent


def test_inside_a_transaction_nothing_is_repeated() -> None:
    step = Locked(1)
    with pytest.raises(OperationalError), transaction.atomic():
        patiently(step)
    assert step.calls == 1
