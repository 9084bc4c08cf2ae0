"""The command download: a benchmark from its official source."""

import pytest

from probing.__main__ import main
from tests.probing.command_line.helpers import complaint


def test_download_of_an_unknown_benchmark_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["download", "nothing"]) == 2
    assert "Choose from: starter, " in complaint(capsys)
