"""Waiting for a database that is locked, restarting or unreachable, where that is better than failing."""

import logging
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, connection

from probing.errors import ProbingError

log = logging.getLogger(__name__)
PATIENCE = 150.0  # seconds
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0  # seconds between two attempts
UNAVAILABLE = (OperationalError, InterfaceError)  # locked, connection lost, server restarting
P = ParamSpec("P")
T = TypeVar("T")


class DatabaseUnavailable(ProbingError):
    """The database could not be read or written for minutes; nothing that was stored is lost."""

    code = "database-unavailable"
    permanent = False


def patiently(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call `function` again and again until the database lets it finish.

    The function must do no harm when it is called again after a commit whose confirmation was lost. Inside a
    transaction it is called once, as only the whole transaction can be repeated. Raises `DatabaseUnavailable` when the
    database has not answered for `PATIENCE` seconds.
    """
    end, pause = time.monotonic() + PATIENCE, FIRST_PAUSE
    while True:
        try:
            return function(*args, **kwargs)
        except UNAVAILABLE as error:
            if connection.in_atomic_block:
                raise
            connection.close()
            if time.monotonic() > end:
                raise DatabaseUnavailable(
                    f"The database did not answer for {PATIENCE:.0f} seconds.", "The run goes on when it is back."
                ) from error
            if pause == FIRST_PAUSE:
                log.warning("The database does not answer (%s). Trying again for %.0f seconds.", error, PATIENCE)
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
