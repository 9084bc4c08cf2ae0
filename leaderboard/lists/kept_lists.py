"""Lists that are kept in memory until the figures that they are made of change."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

ListT = TypeVar("ListT")


class KeptLists(Generic[ListT]):
    """The last lists that readers asked for, each with the version of the figures that it is made of.

    At most `most` lists are kept, those that were used last. Readers share them and must change nothing in them.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lists: OrderedDict[Hashable, tuple[str, ListT]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, version: str, make: Callable[[], ListT]) -> ListT:
        """Return the list of this key, made anew unless it is of this version; nothing is kept without a version.

        The version has to be read before the rows. A list is then never older than its version, and one that is newer
        is made again for the next reader.
        """
        with self._lock:
            kept = self._lists.get(key)
            if kept and kept[0] == version:
                self._lists.move_to_end(key)
                return kept[1]
        made = make()
        if version:
            with self._lock:
                self._lists[key] = version, made
                self._lists.move_to_end(key)
                while len(self._lists) > self._most:
                    self._lists.popitem(last=False)
        return made
