"""Progress of a run: a bar in a terminal or a notebook, and plain lines where stderr is a file."""

import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from threading import Timer
from time import perf_counter
from typing import Any, TypeVar

from tqdm import tqdm

from probing.time_left import Pace

# The format of a bar, without the unit, which means nothing to users.
BAR = "{l_bar}{bar}| {elapsed}<{remaining}{postfix}"
LINE = "{desc}{percentage:.0f} % done, {elapsed} passed, {remaining} left{postfix}"
FIRST = 3.0  # seconds until the first line, even if nothing is done yet
INTERVAL = 10.0  # seconds between two lines
PartT = TypeVar("PartT")


class _Paced(tqdm):  # type: ignore[misc]  # tqdm has no annotations
    """A bar whose time left follows from the pace of what was done since it was made."""

    def __init__(self, **options: Any) -> None:
        self._pace, self._updated = Pace(), perf_counter()
        super().__init__(**options)

    def advance(self, work: float) -> None:
        """Note that so much work is done, and how long it took."""
        now = perf_counter()
        self._pace.add(work, now - self._updated)
        self._updated = now
        self.update(work)

    @property
    def format_dict(self) -> dict[str, Any]:
        """What is shown; tqdm computes the time left from `rate`, the work per second."""
        return {**super().format_dict, "rate": self._pace.rate}


class Lines(_Paced):
    """A bar that is printed as one plain line after the other, and not at its end.

    The first line does not wait for work: a first batch may take long, and until then nobody knows that all is well.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._first = Timer(FIRST, self.refresh)
        self._first.daemon = True
        self._first.start()

    def close(self) -> None:
        self._first.cancel()
        super().close()

    def display(self, msg: str | None = None, pos: int | None = None) -> bool:
        """Print the present state, and say that no bar is left to be cleared; an empty `msg` asks to clear it."""
        if msg is None:
            print(self, file=self.fp, flush=True)
        return False


def with_progress(parts: Sequence[PartT], title: str) -> Iterator[PartT]:
    """Yield parts of a long step, with a bar that counts them and goes away at its end."""
    with progress_bar(len(parts), 0, title=title, stays=False) as bar:
        for part in parts:
            yield part
            bar.advance(1)


def progress_bar(total: float, done: float, *, shown: bool = True, title: str = "", stays: bool = True) -> _Paced:
    """Return a bar that goes by estimated work, of which some was `done` before.

    Nothing is printed of what takes less than three seconds in a file.

    `title`: what stands in front of the bar or of each line. `stays`: keep the bar where its work is done.
    """
    common: dict[str, Any] = {"total": total, "initial": done, "desc": f"{title}: " if title else None}
    if not shown or sys.stderr.isatty():
        return _Paced(**common, bar_format=BAR, leave=stays, disable=not shown)
    if _in_notebook():
        bar: _Paced = _notebook_bar()(**common, bar_format=BAR, leave=stays)
        return bar
    return Lines(**common, bar_format=LINE, mininterval=INTERVAL, delay=INTERVAL, miniters=0, leave=False)


def _in_notebook() -> bool:
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell is not None and "IPKernelApp" in shell.config


def _notebook_bar() -> Any:
    """Return the bar with colours if ipywidgets, which draws it, is installed, else the bar of a terminal.

    Notebooks show the latter on one line as well.
    """
    if find_spec("ipywidgets") is None:
        return _Paced
    return type("NotebookBar", (_Paced, import_module("tqdm.notebook").tqdm), {})
