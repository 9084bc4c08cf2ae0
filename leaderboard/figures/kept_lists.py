"""Lists that are kept in memory until the figures that they are made of change, and the thread that renews them.

`renew_lists` renews them after such a change, outside of any request. A reader who comes earlier makes the list: a list
of an older version is never shown.
"""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Event, Lock, Thread
from typing import Any, Generic, NamedTuple, TypeVar
from weakref import WeakSet

from django.db import Error, close_old_connections, connection

from leaderboard.data_version import FiguresVersion, figures_version

ListT = TypeVar("ListT")
Make = Callable[[FiguresVersion], ListT]


class _Kept(NamedTuple):
    """A list with the version of the figures that it is made of, and how it is made."""

    version: FiguresVersion
    content: Any
    make: Make[Any]


class KeptLists(Generic[ListT]):
    """The last lists that readers needed, each with the version of the figures that it is made of.

    At most `most` lists are kept, those that were used last. Readers share them and must change nothing in them. A list
    of an older version is dropped before the next one is made, so that not both take memory.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lists: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._making: dict[Hashable, Lock] = {}
        self._lock = Lock()
        _ALL.add(self)

    def get(self, key: Hashable, version: FiguresVersion, make: Make[ListT]) -> ListT:
        """Return the list of this key, renewed unless it is of this version; nothing is kept without a version.

        The version has to be read before the rows. A list is then never older than its version, and one that is newer
        is made again for the next reader. `make` may be called again for a later version, as long as no row of a
        benchmark has changed. Of several readers at the same time, one makes the list and the others wait for it.
        """
        if not version:
            return make(version)
        with self._lock:
            if self._is_current(key, version):
                return self._used(key)
            making = self._making.setdefault(key, Lock())
        with making:
            with self._lock:
                if self._is_current(key, version):
                    return self._used(key)
                self._lists.pop(key, None)
            try:
                new_list = make(version)
                self._keep(key, _Kept(version, new_list, make))
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return new_list

    def renew(self) -> int:
        """Renew the lists whose figures have changed, and return their number.

        Where the rows of benchmarks have changed, lists are dropped: they are made with such rows.
        """
        with self._lock:
            lists = [(key, kept.version, kept.make) for key, kept in self._lists.items()]
        renewed = 0
        for key, before, make in lists:
            version = figures_version(*before.benchmarks)
            if version == before:
                continue
            if version.of_benchmarks == before.of_benchmarks:
                self.get(key, version, make)
                renewed += 1
            else:
                with self._lock:
                    self._lists.pop(key, None)
        return renewed

    def _is_current(self, key: Hashable, version: FiguresVersion) -> bool:
        return key in self._lists and self._lists[key].version == version

    def _keep(self, key: Hashable, kept: _Kept) -> None:
        with self._lock:
            self._lists[key] = kept
            self._lists.move_to_end(key)
            while len(self._lists) > self._most:
                self._lists.popitem(last=False)

    def _used(self, key: Hashable) -> ListT:
        self._lists.move_to_end(key)
        content: ListT = self._lists[key].content
        return content


_ALL = WeakSet[KeptLists[Any]]()  # of this process


def renew_lists() -> int:
    """Renew all lists of this process whose figures have changed, and return their number."""
    return sum(lists.renew() for lists in list(_ALL))


# A thread of the web process that renews lists of results when a result is stored, before the next reader needs them.
#
# The thread looks at the version of the figures. Nothing depends on it: if a reader comes first, the request renews the
# list.


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
