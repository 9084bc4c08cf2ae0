"""Fixtures of tests of studies: two small benchmarks, and models without networks under any name."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import probing
from probing.errors import ModelNotFound
from tests.conftest import BearFolder
from tests.fakes import FAKE_CARD, FakeModel


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    """The folders of two benchmarks, `small` and `other`."""
    return [str(BearFolder(tmp_path / name).write()) for name in ("small", "other")]


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Load a fake model whatever is named, except no/such; the list has the names of those that were loaded."""
    names: list[str] = []

    def load(model: str, **options: Any) -> FakeModel:
        names.append(model)
        if model == "no/such":
            raise ModelNotFound("There is no public model no/such.", "Check the name.")
        knows = ["Chad is located in Africa."] if model == "org/clever" else []
        return FakeModel(replace(FAKE_CARD, id=model), knows=knows, dtype=options["dtype"])

    monkeypatch.setitem(vars(probing), "load", load)  # to read the former value would import torch
    monkeypatch.setattr("probing.studies.studying.locate", lambda model, commit: None)
    return names
