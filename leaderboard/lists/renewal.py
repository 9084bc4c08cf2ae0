"""A thread of the web process that renews lists of results when a result is stored, before the next reader needs them.

The thread looks at the version of the figures. Nothing depends on it: if a reader comes first, the request renews the
list.
"""

import logging
import time
from threading import Event, Thread

from django.db import Error, close_old_connections, connection

from leaderboard.lists.kept_lists import renew_lists

PAUSE = 0.5  # seconds between two looks
SHARE = 10  # how many times as long as a renewal the pause after it is, so that many results take no processor

logger = logging.getLogger(__name__)


def start() -> Event:
    """Renew the lists of this process from now on, in a thread that ends with it, or when the event is set."""
    stopped = Event()
    Thread(target=_renew_until, args=(stopped,), name="renewal", daemon=True).start()
    return stopped


def _renew_until(stopped: Event) -> None:
    pause = PAUSE
    while not stopped.wait(pause):
        began = time.monotonic()
        renew_once()
        pause = max(PAUSE, SHARE * (time.monotonic() - began))


def renew_once() -> int:
    """Renew the lists whose figures have changed and return their number; 0 while the database does not answer."""
    try:
        close_old_connections()
        return renew_lists()
    except Error as error:
        logger.warning("The lists of results could not be renewed: %s", error)
        connection.close()
        return 0
