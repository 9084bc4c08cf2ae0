"""The memory of whole runs and of a site: when the command fails, and its tables."""

import os

import pytest

from speed.memory import exit_code, in_new_process, memory_table, site_memory_table

LIMITS = {"runs": 200, "site": 100}


@pytest.mark.parametrize(
    ("run", "finish", "imported", "code"), [(200, 100, 100, 0), (201, 1, 1, 1), (1, 101, 1, 1), (1, 1, 101, 1)]
)
def test_the_exit_code_tells_whether_a_limit_is_missed(run: int, finish: int, imported: int, code: int) -> None:
    runs = {"ranking": [{"bytes": 1}, {"bytes": run}]}
    assert exit_code({"limits": LIMITS, "runs": runs, "site": [{"finish": finish, "import": imported}]}) == code


def test_a_new_process_returns_what_the_function_does() -> None:
    assert in_new_process(os.getpid) != os.getpid()


def test_memory_is_given_for_each_size_with_what_further_items_take() -> None:
    small = {"items": 1000, "scores": 50_000, "bytes": 3 * 2**20}
    large = {"items": 2000, "scores": 100_000, "bytes": 3 * 2**20 + 2_000_000}
    lines = memory_table({"runs": {"ranking": [small, large]}}).splitlines()
    assert lines[2:] == ["| ranking | 1,000 | 50,000 | 3 |  |", "| ranking | 2,000 | 100,000 | 5 | 2.0 kB |"]


def test_a_site_s_memory_is_given_for_each_size() -> None:
    run = {"items": 1000, "statements": 50_000, "finish": 3 * 2**20, "import": 2**21}
    assert site_memory_table({"site": [run]}).splitlines()[-1] == "| 1,000 | 50,000 | 3 | 2 |"
