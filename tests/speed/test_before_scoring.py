"""The processor time of other processes, and of a run until its first progress."""

from time import process_time
from typing import cast

from probing.language_model import LanguageModel
from probing.runner import Preparation
from speed.before_scoring import Loaded, processor_seconds, seconds_to_first_progress
from tests.fakes import FakeModel

WORKING = "import time\nwhile time.process_time() < 0.3: pass"
WAITING = "import time\ntime.sleep(0.3)"


def test_a_process_that_works_counts_and_one_that_waits_does_not() -> None:
    assert processor_seconds(("-c", WORKING)) - processor_seconds(("-c", WAITING)) > 0.1


def test_the_time_of_a_run_begins_when_its_model_is_opened() -> None:
    before = process_time()
    opener = Loaded(cast(LanguageModel, object()))
    assert opener.open("float32", "none") is opener.model
    assert before <= opener.seconds <= process_time()


def test_a_run_is_stopped_at_its_first_progress() -> None:
    model = FakeModel()
    assert seconds_to_first_progress(cast(LanguageModel, model), Preparation.of("starter", False, {})) > 0
    assert 0 < model.usage.statements < 1000, "the starter benchmark has many more"
