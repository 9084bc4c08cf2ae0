"""The processor time of other processes."""

from speed.before_scoring import processor_seconds

WORKING = "import time\nwhile time.process_time() < 0.3: pass"
WAITING = "import time\ntime.sleep(0.3)"


def test_a_process_that_works_counts_and_one_that_waits_does_not() -> None:
    assert processor_seconds(("-c", WORKING)) - processor_seconds(("-c", WAITING)) > 0.1
