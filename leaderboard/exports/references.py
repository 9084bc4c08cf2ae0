"""References to runs, models, benchmarks and other pages, as BibTeX."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from leaderboard.models import Entry, Run, Score
from leaderboard.probes import pages_of
from leaderboard.probes.culture.pairs import variant_in_words, with_part
from leaderboard.probes.probe_pages import ProbePages
from leaderboard.ui import spelled
from leaderboard.ui.labels import within
from leaderboard.ui.spelled import figure, interval_note
from leaderboard.ui.visible import visible

SITE = "Clozeboard"
MOST_FIGURES = 12  # that the reference of a model lists
# Characters that mean something to LaTeX, and signs of the pages that its text fonts lack, with what prints them.
LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{character: f"\\{character}" for character in "{}$&#%_"},
    "±": r"$\pm$",
    "−": "$-$",
    "×": r"$\times$",
    "≈": r"$\approx$",
    "→": r"$\rightarrow$",
    "○": r"$\circ$",
    "●": r"$\bullet$",
    **{sign: f"$^{digit}$" for sign, digit in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True)},
}


@dataclass(frozen=True)
class Reference:
    """What is cited: its title, everything that pins its figures, and its absolute address.

    `part`: the part of the site, such as "run 4". `issued`: when its figures were measured. `accessed`: the day of the
    look-up, for pages whose figures may change later.
    """

    key: str
    title: str
    details: str
    address: str
    part: str = ""
    issued: date | None = None
    accessed: date | None = None

    @property
    def bibtex(self) -> str:
        """The reference as an entry of a BibTeX file; the fields `url` and `urldate` need a style that prints them."""
        day = self.issued or self.accessed
        fields = {
            "title": f"{{{_latex(self.title)}}}",
            "author": f"{{{SITE}}}",
            "year": f"{day:%Y}" if day else "",
            "note": _latex(": ".join(filter(None, [self.part.capitalize(), self.details]))),
            "url": self.address,
            "urldate": f"{self.accessed:%Y-%m-%d}" if self.accessed else "",
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        return "\n".join([f"@misc{{{self.key},", *lines, "}"])

    @property
    def markdown(self) -> str:
        """The reference as a line of Markdown, for the card of a model."""
        return f"[{visible(self.title)}]({self.address}): {visible(self.details)}. Measured by {SITE}."


def run_reference(run: Run, pages: ProbePages, score: Score, address: str) -> Reference:
    """Return how a finished run is cited, with all that pins its figure; `address`: of its page, absolute."""
    facts = [
        figure_in_words(run, with_part(pages.metric_label(score.metric), score), score),
        ", ".join(filter(None, [run.model.version_in_words, variant_in_words(run)])),
        f"benchmark version {run.benchmark.version[:12]}",
        _origin(run),
    ]
    return Reference(
        key=f"clozeboard-run-{run.pk}",
        title=f"{run.model.title} on {run.benchmark.title}",
        details="; ".join(filter(None, facts)),
        address=address,
        part=f"run {run.pk}",
        issued=run.finished.date() if run.finished else None,
    )


def listed(figures: Sequence[tuple[Entry, Score]]) -> str:
    """Return the figures of a model with their runs, as long as these are few."""
    more = [f"and {len(figures) - MOST_FIGURES} more"] if len(figures) > MOST_FIGURES else []
    return "; ".join([*(_figure_of_run(run, score) for run, score in figures[:MOST_FIGURES]), *more])


def _latex(text: str) -> str:
    """Return a text, escaped for LaTeX; scripts other than the Latin one need XeLaTeX or LuaLaTeX."""
    return "".join(LATEX.get(character, character) for character in visible(text))


def figure_in_words(run: Entry, metric: str, score: Score) -> str:
    """Return a figure with its interval and the number of its items; `metric`: the title of its metric."""
    note = interval_note(score.low, score.high)
    interval = f" ({note})" if note else ""
    items = f" over {spelled.items(score.n)} {run.benchmark.nouns}" if score.n else ""
    return f"{within(metric)} {figure(score.value or 0.0)}{interval}{items}"


def _figure_of_run(run: Entry, score: Score) -> str:
    metric = with_part(pages_of(run.benchmark).metric_label(score.metric), score)
    version, origin = run.benchmark.version[:12], run.citation if run.is_published else f"run {run.pk}"
    return f"{run.benchmark.title} (version {version}, {origin}): {figure_in_words(run, metric, score)}"


def _origin(run: Run) -> str:
    """Return when the figure was measured, or who measured it elsewhere."""
    if run.reference:
        return f"{run.get_provenance_display().lower()}: {run.reference}"
    return f"{run.get_provenance_display().lower()} on {run.finished:%Y-%m-%d}" if run.finished else ""
