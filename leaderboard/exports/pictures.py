"""Pictures of runs and benchmarks for links in chats and social networks (Open Graph)."""

from collections.abc import Sequence
from io import BytesIO
from typing import NamedTuple

from django.utils.text import Truncator
from PIL import Image, ImageDraw, ImageFont

from leaderboard.exports.references import SITE
from leaderboard.models import Benchmark, Run, Score
from leaderboard.probes.benchmark_words import description
from leaderboard.ui import cells
from leaderboard.ui.cells import figure_with_uncertainty
from leaderboard.ui.labels import number_of
from leaderboard.ui.visible import visible

SIZE = WIDTH, HEIGHT = 1200, 630  # as social networks show it without cutting
MARGIN = 80
LONGEST = 70  # letters of a line; more would be too small to read
PAPER, INK, SOFT, LINE, ACCENT = "#fcfbf8", "#1b1d20", "#565a61", "#e5e2d9", "#0b6470"
BAR = 470, 24  # its middle, and half its height


class Words(NamedTuple):
    """A line of text: its top, its size and its colour. A line that is too long for the picture is made smaller."""

    text: str
    top: int
    size: int
    colour: str = INK


def run_picture(run: Run, score: Score, metric: str) -> bytes:
    """Return the figure of a run with its interval as PNG; `metric`: the title of the score's metric."""
    items = f" over {cells.items(score.n).text} {run.benchmark.nouns}" if score.n else ""
    lines = [
        Words(run.model.title, MARGIN, 60),
        Words(f"on {run.benchmark.title}", 160, 40, SOFT),
        Words(figure_with_uncertainty(score.value or 0.0, score.low, score.high), 250, 110, ACCENT),
        Words(f"{metric}{items}", 388, 32, SOFT),
    ]
    picture = _picture(lines, f"{SITE} · run {run.pk} · {run.get_provenance_display().lower()}")
    if score.value is not None and 0 <= score.value <= 1:
        _draw_bar(ImageDraw.Draw(picture), score)
    return _png(picture)


def benchmark_picture(benchmark: Benchmark, runs: int) -> bytes:
    """Return the title of a benchmark, what it asks and how many runs there are as PNG."""
    sentence = _wrapped(description(benchmark), 40)[:3]
    lines = [
        Words(benchmark.title, MARGIN, 90, ACCENT),
        *(Words(line, 220 + 56 * number, 40) for number, line in enumerate(sentence)),
        Words(f"{number_of(benchmark.items, benchmark.noun)} · {number_of(runs, 'result')}", 430, 40, SOFT),
    ]
    return _png(_picture(lines, f"{SITE} · benchmark version {benchmark.version[:12]}"))


def _picture(lines: Sequence[Words], foot: str) -> Image.Image:
    picture = Image.new("RGB", SIZE, PAPER)
    draw = ImageDraw.Draw(picture)
    for line in [*lines, Words(foot, 550, 28, SOFT)]:
        text = Truncator(visible(line.text)).chars(LONGEST)
        draw.text((MARGIN, line.top), text, fill=line.colour, font=_fitting_font(draw, text, line.size))
    return picture


def _fitting_font(draw: ImageDraw.ImageDraw, text: str, size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return the font at this size, or as much smaller as the width of the picture demands."""
    width = draw.textlength(text, font=ImageFont.load_default(size))
    return ImageFont.load_default(min(size, size * (WIDTH - 2 * MARGIN) / max(width, 1)))


def _draw_bar(draw: ImageDraw.ImageDraw, score: Score) -> None:
    """Draw the figure on a line from 0 to 1, with its interval."""
    middle, half = BAR
    draw.line([(_x(0), middle), (_x(1), middle)], fill=LINE, width=6)
    if score.low is not None and score.high is not None:
        draw.line([(_x(score.low), middle), (_x(score.high), middle)], fill=ACCENT, width=12)
    centre = _x(score.value or 0.0)
    draw.ellipse([(centre - half / 2, middle - half / 2), (centre + half / 2, middle + half / 2)], fill=ACCENT)


def _x(share: float) -> float:
    return MARGIN + min(max(share, 0.0), 1.0) * (WIDTH - 2 * MARGIN)


def _wrapped(text: str, size: int) -> list[str]:
    """Return a text in lines that fit the picture at this size."""
    font, lines = ImageFont.load_default(size), [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if font.getlength(longer) <= WIDTH - 2 * MARGIN:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _png(picture: Image.Image) -> bytes:
    file = BytesIO()
    picture.save(file, "PNG", optimize=True)
    return file.getvalue()
