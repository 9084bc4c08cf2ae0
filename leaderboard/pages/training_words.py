"""What a page says of a training in sentences: where a score begins and ends, which groups change, what is learned."""

from collections.abc import Mapping, Sequence
from typing import Any

from leaderboard.figures.training import StepScore
from leaderboard.ui import labels
from leaderboard.ui.spelled import figure
from probing.analysis.intervals import recovered

NAMED_GROUPS = 3  # in a sentence


def headline(metric: str, points: Sequence[StepScore]) -> str:
    """Return one or two sentences on a series of scores in a metric of this title; empty without two points."""
    if len(points) < 2:
        return ""
    first, last = points[0], points[-1]
    title = labels.sentence(metric)
    ends = f"from {at(first)} to {at(last)}"
    change = interval_of_difference(last, first)
    if change is None or change[0] <= 0 <= change[1]:
        sentence = f"{title} does not change clearly {ends}."
    else:
        verb, noun = ("rises", "rise") if last.value > first.value else ("falls", "fall")
        sentence = f"{title} {verb} {ends}{_half_way(points, noun)}."
    return " ".join(filter(None, [sentence, _peak(points)]))


def at(point: StepScore) -> str:
    """Return a score with its step, such as "0.440 at step 143,000"."""
    return f"{figure(point.value)} at {point.run.model.step_in_words}"


def interval_of_difference(first: StepScore, second: StepScore) -> tuple[float, float] | None:
    """Return the 95 % interval of `first` - `second` from their own intervals, None where one has none.

    Where both were asked the same questions it is wider than necessary, as their correlation is not used.
    """
    one, other = first.score, second.score
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return None
    return recovered(first.value, (one.low, one.high), second.value, (other.low, other.high))


def _half_way(points: Sequence[StepScore], noun: str) -> str:
    """Say by which step half of the change is reached; nothing for a series of only two points."""
    if len(points) == 2:
        return ""
    first, last = points[0].value, points[-1].value
    share = [(point.value - first) / (last - first) for point in points]
    half = next(number for number, part in enumerate(share) if part >= 0.5)
    if half == len(points) - 1:
        return f"; more than half of the {noun} comes after {points[-2].run.model.step_in_words}"
    return f"; half of the {noun} is there by {points[half].run.model.step_in_words}"


def _peak(points: Sequence[StepScore]) -> str:
    """Name the highest score where it is clearly above those of both ends."""
    best = max(points, key=lambda point: point.value)
    changes = [interval_of_difference(best, end) for end in (points[0], points[-1])]
    is_clear = all(change is not None and change[0] > 0 for change in changes)
    return f"It is highest with {at(best)}." if is_clear else ""


def groups_in_words(rows: Sequence[Mapping[str, Any]], dimension: str, nouns: str) -> str:
    """Say how many groups change clearly, and how many are above what guessing reaches in the end."""
    clear = [row for row in rows if row["is_clear"]]
    groups = f"of {len(rows)} groups by {dimension}"
    if not clear:
        sentences = [f"No change is certain {groups}: each interval includes zero or rests on few {nouns}."]
    else:
        ends = [f"{row['title']} (from {row['first']:.3f} to {row['last']:.3f})" for row in clear[:NAMED_GROUPS]]
        more = f" and {len(clear) - len(ends)} more" if len(clear) > len(ends) else ""
        sentences = [f"{len(clear)} {groups} change clearly: {', '.join(ends)}{more}."]
    if any(row["chance"] is not None for row in rows):
        above = sum(row["is_above_chance"] for row in rows)
        sentences.append(f"At the last step {above} of {len(rows)} are clearly above chance.")
    return " ".join(sentences)
