"""Settings and parts."""

import json

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


def test_the_digest_of_the_default_settings_is_known() -> None:
    assert Settings().digest == Settings.from_json({}).digest
