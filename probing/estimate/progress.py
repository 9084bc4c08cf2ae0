"""Progress of a run: a bar in a terminal or a notebook, and plain lines where stderr is a file."""

import sys
from importlib import import_module
from importlib.util import find_spec
from threading import Timer
from time import perf_counter
from typing import Any

from tqdm import tqdm

from probing.estimate.costs import Measured
from probing.estimate.load import Load
from probing.estimate.pace import Pace
from probing.estimate.work import BAR

FIRST = 3.0  # seconds until the first line, even if nothing is done yet
INTERVAL = 10.0  # seconds between two lines
LINE = "{desc}{percentage:.0f} % done, {elapsed} passed, {remaining} left{postfix}"


class _Paced(tqdm):  # type: ignore[misc]  # tqdm has no annotations
    """A bar whose time left follows from what was done, with more weight on what was done lately.

    `left`: the work that is left at the beginning.
    """

    def __init__(self, left: Load, **options: Any) -> None:
        self._left, self._pace, self._updated = left, Pace(), perf_counter()
        super().__init__(**options)

    def advance(self, expected: Load, actual: Load) -> None:
        """Note how long the work took that was done, and move the bar by what was expected of it."""
        now = perf_counter()
        self._pace.add(Measured(expected, actual, now - self._updated))
        self._updated, self._left = now, self._left.minus(expected)
        self.update(expected.work)

    @property
    def format_dict(self) -> dict[str, Any]:
        """What is shown; tqdm computes the time left from `rate`, the work per second."""
        facts = super().format_dict
        seconds = self._pace.seconds_for(self._left)
        rate = None if seconds is None else (self.total - self.n) / seconds if seconds > 0 else 1.0
        return {**facts, "rate": rate}


class Lines(_Paced):
    """A bar that is printed as one plain line after the other, and not at its end.

    The first line does not wait for work: a first batch may take long, and until then nobody knows that all is well.
    """

    def __init__(self, left: Load, **options: Any) -> None:
        super().__init__(left, **options)
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


def progress_bar(total: Load, done: Load, *, shown: bool = True, title: str = "") -> _Paced:
    """Return a bar that goes by estimated work, of which some was `done` before.

    Nothing is printed of what takes less than three seconds in a file.

    `title`: what stands in front of the bar or of each line.
    """
    left = total.minus(done)
    common: dict[str, Any] = {"total": total.work, "initial": done.work, "desc": f"{title}: " if title else None}
    if not shown or sys.stderr.isatty():
        return _Paced(left, **common, bar_format=BAR, disable=not shown)
    if _in_notebook():
        bar: _Paced = _notebook_bar()(left, **common, bar_format=BAR)
        return bar
    return Lines(left, **common, bar_format=LINE, mininterval=INTERVAL, delay=INTERVAL, miniters=0, leave=False)


def _in_notebook() -> bool:
    """Tell whether this process is the kernel of a notebook."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell is not None and "IPKernelApp" in shell.config


def _notebook_bar() -> Any:
    """Return the bar with colours if ipywidgets, which draws it, is installed, else the bar of a terminal.

    Notebooks show the latter on one line as well.
    """
    if find_spec("ipywidgets") is None:
        return _Paced
    return type("NotebookBar", (_Paced, import_module("tqdm.notebook").tqdm), {})
