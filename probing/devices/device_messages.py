"""Messages between a run and its processes on devices. Both sides are this library, so they are pickled objects.

Beside those that are defined here, a number reports which share of the part is done.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from probing.language_model import ModelCard
from probing.model_source import ModelSource
from probing.part_runner import Job
from probing.plan import Part
from probing.settings import Settings
from probing.time_left import WorkEstimate


class Load(NamedTuple):
    """The first order to a process: to load a model.

    `source` names one device. `settings` say in which number format. `sharers`: how many processes share the
    processor, so that each uses as many of its threads as falls to it. `devices`: those of the whole run, all of which
    have to be here before the model is loaded on one.
    """

    source: ModelSource
    settings: Settings
    sharers: int
    devices: Sequence[str]


class Begin(NamedTuple):
    """The order to take parts of a run from now on. `card`: what the run's record says of the model."""

    job: Job
    card: ModelCard


class Probe(NamedTuple):
    """The order to probe a part and store it. `work`: what the reports of its progress rest on."""

    part: Part
    work: WorkEstimate


class Loaded(NamedTuple):
    """The report that the model is ready. `tokenizer`: that of the library tokenizers; None where there is none."""

    card: ModelCard
    dtype: str
    tokenizer: Any


class Stored(NamedTuple):
    """The report that the part is stored, without so many items that are too long for the model."""

    too_long: int
