"""The badge of a run: its figure as a small picture for the card of a model."""

from django.template.loader import render_to_string

from leaderboard.display.figures import figure_with_half_width
from leaderboard.display.visible import visible
from leaderboard.models import Run, Score

LETTER = 6.6  # pixels, of 11 px Verdana on average; `textLength` makes the text exactly as wide as its box
PADDING = 12
LONGEST = 40  # letters of a benchmark's title


def badge(run: Run, score: Score) -> str:
    """Return the badge as SVG: the title of the benchmark, and the figure with half its interval."""
    value = figure_with_half_width(score.value or 0.0, score.low, score.high)
    title = visible(run.benchmark.title)[:LONGEST]
    left, right = (round(len(text) * LETTER) + PADDING for text in (title, value))
    places = {"left": left, "right": right, "width": left + right, "title_at": left / 2, "value_at": left + right / 2}
    lengths = {"title_length": left - PADDING, "value_length": right - PADDING}
    return render_to_string("badge.svg", {"title": title, "value": value, **places, **lengths})
