"""The pace of a run and the time left, replayed on traces of runs whose end is known, and the pace of finished runs."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from leaderboard.figures.queued_runs import (
    PLAIN_SPEED,
    PartDone,
    RecentRates,
    ends_in_line,
    own_rate,
    rates_by_queue,
)
from leaderboard.models import Benchmark, RunPart
from tests.leaderboard import factories as make

START = datetime(2026, 11, 1, tzinfo=UTC)
Speed = Callable[[float], float]  # work per second of one worker at a time


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def measured_seconds(work: float, begin: float, speed: Speed) -> float:
    """How long a part takes, in steps of a tenth of a second."""
    done, time = 0.0, begin
    while done < work:
        done += speed(time) / 10
        time += 0.1
    return time - begin


def trace(works: list[float], speed: Speed, begin: float = 0.0) -> list[tuple[float, float]]:
    """The begin and end of each part."""
    rows = []
    for work in works:
        rows.append((begin, begin + measured_seconds(work, begin, speed)))
        begin = rows[-1][1]
    return rows


def known_at(now: float, works: list[float], rows: list[tuple[float, float]]) -> list[PartDone]:
    """What the database knows at a time: ends are stored in whole seconds, progress was written two seconds ago."""
    parts = []
    for work, (begin, end) in zip(works, rows, strict=True):
        share = 0.0 if now <= begin else min(1.0, max(0.0, now - 2 - begin) / (end - begin))
        done = now >= end
        parts.append(
            PartDone(
                items=1000,
                items_done=1000 if done else int(1000 * share),
                work=work,
                done=done,
                end=at(end).isoformat(timespec="seconds") if done else None,
                seconds=end - begin if done else None,
            )
        )
    return parts


def estimate(parts: list[PartDone], now: float) -> float:
    rate = own_rate(parts, START, at(now))
    assert rate is not None
    return sum(part.work - part.work_done for part in parts) / rate


def errors(works: list[float], rows: list[tuple[float, float]]) -> Iterator[float]:
    """The relative error of the time left, 200 times a run: from a quarter of the work to half a minute before the end.

    Then the page says "under a minute", whatever the estimate.
    """
    finish = max(end for _, end in rows)
    for step in range(1, 200):
        now = finish * step / 200
        parts = known_at(now, works, rows)
        share = sum(part.work_done for part in parts) / sum(works)
        if share >= 0.25 and finish - now > 30:
            yield abs(estimate(parts, now) / (finish - now) - 1)


PACE = 610.0  # work per second
CHANCE = Random(3)
# The logarithms of the works differ as much as those of the starter benchmark do.
LONG = [CHANCE.lognormvariate(6.8, 0.55) for _ in range(372)]  # about eleven minutes at this pace


def test_at_a_constant_pace_the_error_is_small_from_the_first_quarter_on() -> None:
    rows = trace(LONG, lambda time: PACE)
    assert max(errors(LONG, rows)) < 0.1


def test_the_error_stays_small_on_a_machine_that_is_shared_with_others_in_turns() -> None:
    rows = trace(LONG, lambda time: PACE * (0.8 if int(time / 20) % 2 else 1.0))
    assert max(errors(LONG, rows)) < 0.3


def test_the_error_stays_small_where_parts_take_longer_and_shorter_than_their_work_says() -> None:
    """By as much as the parts of a run of SmolLM2 did on two cores that other programs used as well."""
    rows: list[tuple[float, float]] = []
    works, chance = LONG[:93], Random(3)
    for work in works:
        begin = rows[-1][1] if rows else 0.0
        rows.append((begin, begin + work / PACE * chance.lognormvariate(0, 0.27)))
    wrong = list(errors(works, rows))
    assert max(wrong) < 0.3
    assert sum(wrong) / len(wrong) < 0.12


def test_a_run_that_was_interrupted_for_a_day_goes_on_at_its_own_pace() -> None:
    first, rest = LONG[:100], LONG[100:]
    before = trace(first, lambda time: PACE)
    after = trace(rest, lambda time: PACE, before[-1][1] + 86_400)
    finish = after[-1][1]
    for now in (after[0][0] + 1, after[0][0] + 10, after[50][1] + 1):
        left = estimate(known_at(now, LONG, before + after), now)
        assert left == pytest.approx(finish - now, rel=0.1)


def part(**fields: object) -> PartDone:
    usual = {"items": 10, "items_done": 5, "work": 100.0, "done": False, "end": None, "seconds": None}
    return PartDone(**{**usual, **fields})  # type: ignore[arg-type]


def test_the_first_part_was_begun_when_the_model_was_loaded() -> None:
    assert own_rate([part()], at(50), at(75)) == 2
    assert own_rate([part()], at(95), at(100)) is None, "so little time says nothing"


def test_a_part_whose_begin_is_not_known_says_nothing_about_the_pace() -> None:
    assert own_rate([part()], None, at(100)) is None
    assert own_rate([part(items_done=0)], at(50), at(100)) is None


def test_waiting_runs_are_taken_by_the_worker_that_is_free_first() -> None:
    assert ends_in_line([10, 30], [10, 10, 5]) == [20, 30, 35]
    assert ends_in_line([], [10, 5]) == [10, 15]


def test_the_rate_is_the_median_of_the_runs_of_the_probe_and_kind() -> None:
    rates = RecentRates({("cloze", "masked"): [(rate, 100) for rate in (1, 2, 30)]})
    assert rates.of("cloze", "masked", 100) == rates.of("cloze", "masked") == 2
    assert rates.of("cloze", "causal") is rates.of("ranking", "masked") is rates.seconds(8, "ranking", "masked") is None
    assert rates.seconds(8, "cloze", "masked") == 4


def test_the_rate_falls_with_the_size_of_the_model() -> None:
    assert RecentRates({("cloze", "causal"): [(8, 100)]}).of("cloze", "causal", 400) == 2
    assert RecentRates({("cloze", "causal"): [(8, None)]}).of("cloze", "causal", 400) == 8
    assert RecentRates({}).of("cloze", "causal", 400) == PLAIN_SPEED / 400


def test_only_runs_of_the_queue_with_known_work_count(small: Benchmark) -> None:
    for queue, work in (("measure", 600), ("measure-large", 60)):
        run = make.finished(small, queue=queue)  # in ten minutes
        RunPart.objects.create(run=run, relation="P30", template=0, items=10, work=work, done=True)
    make.finished(small)
    assert rates_by_queue(["measure"])["measure"].runs == {(small.probe, "causal"): [(1.0, 135_000_000)]}
