"""Settings and parts."""

import hashlib
import json
from dataclasses import dataclass

import pytest

from probing.errors import BadInput
from probing.settings import Settings


def test_settings_survive_json() -> None:
    settings = Settings(relations=("P30",), templates=(0, 2), limit=5, options={"k": 3})
    assert Settings.from_json(json.loads(json.dumps(settings.to_json()))) == settings


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(BadInput, match="Unknown setting colour"):
        Settings.from_json({"colour": "red"})


@pytest.mark.parametrize(
    "change", [{"pll": "original"}, {"seed": 1}, {"options": {"k": 1}}, {"templates": (1,)}, {"start": "eos"}]
)
def test_whatever_can_change_a_number_changes_the_digest(change: dict[str, object]) -> None:
    assert Settings(**change).digest != Settings().digest  # type: ignore[arg-type]


def test_the_digest_covers_nothing_but_what_differs_from_the_defaults() -> None:
    assert Settings().digest == Settings.from_json({}).digest == hashlib.sha256(b"{}").hexdigest()
    changed = Settings(limit=5, templates=(0, 2), options={"k": 3})
    text = b'{"limit": 5, "options": {"k": 3}, "templates": [0, 2]}'
    assert changed.digest == hashlib.sha256(text).hexdigest()


def test_a_setting_that_is_added_later_changes_no_digest() -> None:
    @dataclass(frozen=True)
    class Later(Settings):
        shade: int = 0

    assert Later(limit=5).digest == Settings(limit=5).digest
