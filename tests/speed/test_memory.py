"""The memory of whole runs and of a site: when the command fails."""

import os

import pytest

from speed.memory import exit_code, in_new_process

LIMITS = {"runs": 200, "site": 100}


@pytest.mark.parametrize(
    ("run", "finish", "imported", "code"), [(200, 100, 100, 0), (201, 1, 1, 1), (1, 101, 1, 1), (1, 1, 101, 1)]
)
def test_the_exit_code_tells_whether_a_limit_is_missed(run: int, finish: int, imported: int, code: int) -> None:
    runs = {"ranking": [{"bytes": 1}, {"bytes": run}]}
    assert exit_code({"limits": LIMITS, "runs": runs, "site": [{"finish": finish, "import": imported}]}) == code


def test_a_new_process_returns_what_the_function_does() -> None:
    assert in_new_process(os.getpid) != os.getpid()
