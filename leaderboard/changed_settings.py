"""Settings in words: a benchmark's usual ones, and those of a run that differ from them."""

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any, get_args
from zlib import crc32

from django.conf import settings as site
from django.utils.text import get_text_list

from probing.language_model import DType
from probing.probes import probe_named
from probing.probes.probe import declared_options, offered_options
from probing.results.compared import different_values, with_options
from probing.settings import SETTINGS, Settings

# What stands before the values of settings whose own name is not a good label.
LABELS = {"dtype": "", "pll": "PLL", "start": "start token", "reported": "reported in the"}
# Settings that a plan names only where they differ from what every benchmark has.
RARELY_CHOSEN = ("start", "protocol", "sample", "language")
MOST_NAMED = 4  # values of a list, such as relations; of a longer one, their number and its ends are said
LEFT_OUT = "items_left_out"  # among the differences of a run


def differences(settings: Mapping[str, Any], usual: Settings) -> dict[str, str]:
    """Map the name of each changed setting or option to the choice in words, such as "PLL original".

    They come in the order of the fields of `Settings`, because PostgreSQL keeps the keys of a JSON object in its own.
    """
    defaults = {name: option.default for name, option in declared_options(probe_named(usual.probe)).items()}
    usual_values = with_options(usual.to_json())
    stated = with_options(settings)
    expected = {**usual_values, **{name: value for name, value in defaults.items() if name not in usual_values}}
    changed = different_values(expected, stated)
    return {name: in_words(name, stated[name]) for name in changed if name in stated}


def with_left_out(changed: Mapping[str, str], items: int) -> dict[str, str]:
    """Return the differences of a run in which this many items were too long for its model.

    Such a run has answered fewer questions, so that it is not ranked with those that answered all.
    """
    left_out = {LEFT_OUT: f"{items:,} {'item' if items == 1 else 'items'} too long for the model"} if items else {}
    return {**changed, **left_out}


def settings_group(
    changed: Mapping[str, str], settings: Mapping[str, Any], parameters: int | None, stored_dtype: str
) -> list[list[str]]:
    """Return what sets a run apart from those with the usual settings: pairs of a setting and its choice in words.

    `changed`: its `differences`. No group is made by a number format that the site chose by the model's size, nor by an
    option that only adds figures.
    """
    if not changed:
        return []
    options = declared_options(probe_named(settings["probe"])) if "probe" in settings else {}
    ignored = {name for name, option in options.items() if option.adds_figures}
    if settings.get("dtype") == dtype_by_size(parameters, stored_dtype):
        ignored.add("dtype")
    return [[name, words] for name, words in changed.items() if name not in ignored]


def dtype_by_size(parameters: int | None, stored: str) -> DType:
    """Return the number format that the site chooses for a model with this number format in its files."""
    if parameters is None or parameters <= site.FLOAT32_PARAMETERS:
        return "float32"
    return next((dtype for dtype in get_args(DType) if dtype == stored), "float32")


def asks_other_items(changed: Collection[str], probe: str) -> bool:
    """Tell whether one of the changed settings and options, which are named here, chooses the items that are asked."""
    return not _choosing_items(probe).isdisjoint(changed)


@cache
def _choosing_items(probe: str) -> frozenset[str]:
    """Return the names of what decides which items are asked: a probe's settings and options, and their length."""
    options = {**declared_options(probe_named(probe)), **SETTINGS}
    return frozenset({LEFT_OUT, *(name for name, option in options.items() if option.chooses_items)})


def plan(usual: Settings) -> str:
    """Return a benchmark's usual settings in words, such as "wordings 1 and 2, PLL original, reduction sum".

    The number format is left out, as it depends on the model's size.
    """
    values = with_options(usual.to_json())
    left_out = {"dtype", *(name for name in RARELY_CHOSEN if values[name] == SETTINGS[name].default)}
    names = [name for name in offered_options(probe_named(usual.probe)) if name in values and name not in left_out]
    return ", ".join(in_words(name, values[name]) for name in names)


def in_words(name: str, value: Any) -> str:
    """Return the choice of a value for a setting or option in words; `value` as JSON has it, or a tuple."""
    if name == "templates" and isinstance(value, list | tuple):
        return _wordings(value)
    label = LABELS.get(name, name.replace("_", " "))
    text = " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    if isinstance(value, list | tuple) and len(value) > MOST_NAMED:
        # Lists with the same number and ends can be different settings.
        return f"{len(value)} {label} ({value[0]} to {value[-1]}, checksum {crc32(text.encode()):08x})"
    return f"{label} {text}".strip()


def _wordings(templates: list[int] | tuple[int, ...]) -> str:
    """Name templates as pages do: they are wordings, and count from 1."""
    numbers = [str(number + 1) for number in templates]
    if len(numbers) > 1:
        return f"wordings {get_text_list(numbers, 'and')}"
    return {"": "all wordings", "1": "first wording only"}.get("".join(numbers), f"wording {''.join(numbers)} only")
