"""What `python -m speed.pages` says about pages, a download and the memory of the server, and the limits of these."""

from dataclasses import dataclass

MB = 10**6  # bytes
# The limits: times the bare view's time, queries, bytes, bytes of memory.
ANEW, FIRST, AT_ONCE, UNCHANGED, MOST_QUERIES, RAW, ZIPPED = 15.0, 15.0, 50.0, 2.0, 12, 300_000, 60_000
MEMORY = 400 * MB  # of the web process
MORE_MEMORY = 50 * MB  # that a download may take
TITLES = (
    "page".ljust(50),
    "bare, ms",
    "anew, ms",
    "times",
    "first",
    "at once",
    "renewal, ms",
    "unchanged",
    "processor",
    "times",
    "queries",
    "KB",
    "gzip",
)
HEADER = f"| {' | '.join(TITLES)} |\n|{'|'.join('-' * (len(title) + 2) for title in TITLES)}|"
DOWNLOADS = ("format=csv", "/api/v1/")  # which are as long as what they hold


@dataclass(frozen=True)
class PageFigures:
    """What was measured about a page, computed anew and unchanged, and about the bare view of its size.

    Times are milliseconds until it is there: of a reader after a change that is no result (`anew`), of the first one
    after new results of all benchmarks (`first`), and of one who comes before the lists are renewed (`at_once`).
    `renewal` is how long that takes, for the lists of the pages that were measured before as well. `processor` and
    `bare_processor` are what the web process needed of its processors for a page computed anew and for the bare view.
    `queries` are those of the reader who comes at once.
    """

    page: str
    bare: float
    anew: float
    first: float
    at_once: float
    renewal: float
    unchanged: float
    processor: float
    bare_processor: float
    queries: int
    raw: int
    zipped: int

    @property
    def misses(self) -> list[str]:
        """Sentences on the limits that the page misses."""
        limits: dict[str, tuple[float, float]] = {
            "times the bare view, computed anew": (self.anew / self.bare, ANEW),
            "times the bare view, after new results": (self.first / self.bare, FIRST),
            "times the bare view, at once after new results": (self.at_once / self.bare, AT_ONCE),
            "times the bare view, unchanged": (self.unchanged / self.bare, UNCHANGED),
            "queries": (self.queries, MOST_QUERIES),
        }
        if not any(part in self.page for part in DOWNLOADS):
            limits |= {"bytes": (self.raw, RAW), "bytes compressed": (self.zipped, ZIPPED)}
        return [
            f"{self.page}: {value:,.1f} {name}, must be {limit:,.0f} at most."
            for name, (value, limit) in limits.items()
            if value > limit
        ]

    @property
    def line(self) -> str:
        """The line on the page in the table below `HEADER`."""
        times = (self.anew, self.first, self.at_once, self.unchanged)
        anew, first, at_once, unchanged = (time / self.bare for time in times)
        return (
            f"| {self.page:<50} | {self.bare:8.1f} | {self.anew:8.1f} | {anew:5.1f} | "
            f"{first:5.1f} | {at_once:7.1f} | {self.renewal:11.1f} | {unchanged:9.1f} | "
            f"{self.processor:9.1f} | {self.processor / self.bare_processor:5.1f} | "
            f"{self.queries:7} | {self.raw / 1000:6.0f} | {self.zipped / 1000:6.0f} |"
        )


@dataclass(frozen=True)
class DownloadFigures:
    """What was measured about a streamed download: times in milliseconds, and bytes.

    `bare` and `first_row` are times until the bare view and until the first row is there. `memory`: by how much the
    memory of the web process grew until the end.
    """

    page: str
    bare: float
    first_row: float
    whole: float
    rows: int
    memory: int

    @property
    def misses(self) -> list[str]:
        """Sentences on the limits that the download misses."""
        times = self.first_row / self.bare
        misses = [f"{self.page}: the first row after {times:.1f} times the bare view, must be {ANEW:.0f} at most."]
        memory = f"{self.page}: {self.memory / MB:.0f} MB more memory, must be {MORE_MEMORY / MB:.0f} at most."
        return [*(misses if times > ANEW else []), *([memory] if self.memory > MORE_MEMORY else [])]

    @property
    def line(self) -> str:
        """A sentence on the download."""
        return (
            f"{self.page}: the first of {self.rows:,} rows after {self.first_row:.1f} ms "
            f"({self.first_row / self.bare:.1f} times the bare view), the last after {self.whole / 1000:.1f} s, "
            f"{self.memory / MB:.0f} MB more memory."
        )


@dataclass(frozen=True)
class MemoryFigures:
    """The bytes of the web process in memory: before the first request, and the most until the last one."""

    before: int
    peak: int

    @property
    def misses(self) -> list[str]:
        """A sentence on the limit, if it is missed."""
        miss = f"Peak memory of the web process: {self.peak / MB:.0f} MB, must be {MEMORY / MB:.0f} at most."
        return [miss] if self.peak > MEMORY else []

    @property
    def line(self) -> str:
        """A sentence on the memory."""
        return (
            f"Peak memory of the web process: {self.peak / MB:.0f} MB; before the first page {self.before / MB:.0f} MB."
        )
