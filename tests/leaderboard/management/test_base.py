"""Commands end with a message and an exit code instead of a stack trace."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from leaderboard.management.base import PlainCommand
from probing.errors import BadInput, NoSpace, ProbingError


class Failing(PlainCommand):
    def __init__(self, error: ProbingError) -> None:
        super().__init__(stdout=StringIO())
        self.error = error

    def run(self, *args: object, **options: object) -> None:
        self.say("working")
        raise self.error


@pytest.mark.parametrize(
    ("error", "code"), [(BadInput("No such id.", "Correct it."), 2), (NoSpace("The disk is full.", "Free some."), 1)]
)
def test_an_error_that_the_user_can_correct_has_another_exit_code(error: ProbingError, code: int) -> None:
    with pytest.raises(CommandError, match=error.message) as raised:
        call_command(Failing(error))
    assert raised.value.returncode == code
    assert error.next_step in str(raised.value)
