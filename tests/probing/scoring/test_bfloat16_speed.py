"""The trial of bfloat16 tells fast processors from slow ones, and ends in time on both."""

import itertools

import pytest
import torch

from probing.scoring import products
from probing.scoring.products import GROWTH, SIZES, TRIAL_PRODUCTS, speed_up

FLOAT32_SECONDS = 1e-5  # of the smallest product


class Clock:
    """A clock that only products move, each by the time that a processor takes for it."""

    def __init__(self, slow_down: float) -> None:
        self.now = 0.0
        self.slow_down = slow_down
        self.products: list[tuple[int, torch.dtype]] = []

    def perf_counter(self) -> float:
        return self.now

    def fastest(self, size: int, dtype: torch.dtype) -> float:
        self.products.append((size, dtype))
        seconds = FLOAT32_SECONDS * (size / SIZES[0]) ** 3 * (1 if dtype == torch.float32 else self.slow_down)
        self.now += TRIAL_PRODUCTS * seconds
        return seconds


@pytest.fixture
def clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock(request.param)
    monkeypatch.setattr(products, "time", clock)
    monkeypatch.setattr(products, "_fastest", clock.fastest)
    return clock


@pytest.mark.parametrize("clock", [0.2, 0.5, 1.0], indirect=True)
def test_the_largest_product_tells_how_much_faster_bfloat16_is(clock: Clock) -> None:
    assert speed_up() == pytest.approx(1 / clock.slow_down)
    assert clock.products == list(itertools.product(SIZES, (torch.float32, torch.bfloat16)))


@pytest.mark.parametrize("clock", [44.0, 500.0], indirect=True)
def test_a_slow_processor_is_found_out_before_the_time_is_up(clock: Clock) -> None:
    assert speed_up(0.2) == 0
    assert clock.now <= 0.2
    assert clock.products[-1][0] < SIZES[-1]


def test_the_number_of_threads_is_put_back() -> None:
    threads = torch.get_num_threads()
    assert speed_up() >= 0
    assert torch.get_num_threads() == threads


def test_each_size_takes_as_many_times_longer_as_the_trial_expects() -> None:
    assert all((larger / smaller) ** 3 == GROWTH for smaller, larger in itertools.pairwise(SIZES))
