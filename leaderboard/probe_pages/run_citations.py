"""How a run's figure is cited: one sentence and a BibTeX entry, each with everything that pins the number."""

from typing import NamedTuple

from leaderboard.display import cells
from leaderboard.display.labels import within
from leaderboard.display.visible import visible
from leaderboard.models import Run, Score
from leaderboard.probe_pages.culture.places import variant_in_words

# Characters that mean something to LaTeX, with what stands for each of them in a text.
LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "{}$&#%_"},
}


class Citation(NamedTuple):
    """A figure with its run, version, interval and date, as a sentence and as a BibTeX entry."""

    text: str
    bibtex: str


def citation(run: Run, metric: str, score: Score, address: str) -> Citation:
    """Return how a figure of a finished run is cited.

    `metric` is the title of the score's metric, `address` the absolute address of the run's page.
    """
    figure, title = _figure(metric, score), f"{run.model.title} on {run.benchmark.title}"
    facts = [_model(run), f"benchmark version {run.benchmark.version[:12]}", _origin(run)]
    details = "; ".join(filter(None, [figure, *facts]))
    return Citation(
        visible(f"{title}: {details}. Clozeboard, run {run.pk}, {address}"), _bibtex(run, title, details, address)
    )


def _figure(metric: str, score: Score) -> str:
    value, low, high = score.value or 0.0, score.low, score.high
    interval = "" if low is None or high is None else f" (95 % interval {low:.3f} to {high:.3f})"
    items = f" over {cells.items(score.n).text} questions" if score.n else ""
    return f"{within(metric)} {value:.3f}{interval}{items}"


def _model(run: Run) -> str:
    """Return what tells the weights and the settings apart from others of the model."""
    return ", ".join(filter(None, [run.model.version_in_words, variant_in_words(run)]))


def _origin(run: Run) -> str:
    """Return when the figure was measured, or who published it."""
    if run.reference:
        return f"{run.get_provenance_display().lower()}: {run.reference}"
    return f"{run.get_provenance_display().lower()} on {run.finished:%Y-%m-%d}" if run.finished else ""


def _bibtex(run: Run, title: str, details: str, address: str) -> str:
    fields = {
        "title": f"{{{_latex(title)}}}",
        "author": "{Clozeboard}",
        **({"year": f"{run.finished:%Y}"} if run.finished and not run.is_published else {}),
        "note": _latex(f"Run {run.pk}: {details}"),
        "url": address,
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@misc{{clozeboard-run-{run.pk},", *lines, "}"])


def _latex(text: str) -> str:
    """Return a text of a stranger as LaTeX prints it."""
    return "".join(LATEX.get(character, character) for character in visible(text))
