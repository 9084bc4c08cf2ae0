"""Settings and parts."""

import json

import pytest

from probing.benchmark import Benchmark
from probing.errors import BadInput
from probing.probes.parts import Part, parts
from probing.settings import Settings


def test_settings_survive_json() -> None:
    settings = Settings(relations=("P30",), templates=(0, 2), limit=5, options={"k": 3})
    assert Settings.from_json(json.loads(json.dumps(settings.to_json()))) == settings


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(BadInput, match="Unknown setting colour"):
        Settings.from_json({"colour": "red"})


@pytest.mark.parametrize("change", [{"pll": "original"}, {"seed": 1}, {"options": {"k": 1}}, {"templates": (1,)}])
def test_whatever_can_change_a_number_changes_the_digest(change: dict[str, object]) -> None:
    assert Settings(**change).digest != Settings().digest  # type: ignore[arg-type]


def test_the_digest_of_the_default_settings_is_known() -> None:
    assert Settings().digest == Settings.from_json({}).digest


def test_parts_cover_each_relation_with_each_template(benchmark: Benchmark) -> None:
    found = parts(benchmark, Settings(templates=(), limit=3))
    assert found == [Part("P30", t, 3) for t in range(3)] + [Part("P36", t, 2) for t in range(3)]


def test_a_template_that_a_relation_lacks_is_refused(benchmark: Benchmark) -> None:
    with pytest.raises(BadInput, match=r"P30 has no template 3.*0 to 2"):
        parts(benchmark, Settings(templates=(3,)))
