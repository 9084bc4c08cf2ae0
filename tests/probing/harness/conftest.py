"""Fixtures: one thread for torch, and a harness that asks no hub."""

import datasets  # type: ignore[import-untyped]
import pytest

from tests.probing.scoring.conftest import one_thread

__all__ = ["one_thread"]


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_OFFLINE", True)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
