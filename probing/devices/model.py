"""A model on several devices, which share the parts of a run: each takes the next one as soon as it is free."""

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

from probing.devices.device_messages import Begin, Load, Loaded, Probe, Stored
from probing.devices.device_process import DeviceProcess, reporting
from probing.errors import Incomplete
from probing.language_model import DType, LanguageModel, ModelCard
from probing.model_source import CPU, ModelSource
from probing.part_runner import Job, Opener
from probing.plan import Part
from probing.settings import AUTO_DTYPE, Settings
from probing.time_left import PartsProgress, WorkEstimate


class ModelOnDevices:
    """A model that a process on each device loads. The first one loads it at once, the others when they are needed.

    `card`, `dtype` and `tokenizer` are those of the first. Loading the others afterwards lets them find the files of a
    hub on this disk, take the same commit and number format, and not be started for a run that is finished already.
    """

    card: ModelCard
    dtype: str
    tokenizer: Any = None

    def __init__(self, source: ModelSource, settings: Settings) -> None:
        self._devices, self._source, self._settings = source.devices, replace(source, shared=None), settings
        self._processes: list[DeviceProcess] = []
        with self._ended_by_errors():
            self._start(1)
            self._take_over(self._processes[0].receive())

    def probe(self, job: Job, work: Mapping[Part, WorkEstimate], progress: PartsProgress) -> None:
        """Probe and store these parts. An error on one device ends the work on all of them; what is stored stays."""
        turns = _Turns(Begin(job, self.card), work, progress)
        with self._ended_by_errors():
            self._start(len(work))
            for process in self._processes:
                if process.is_loaded:
                    turns.admit(process)
            while turns.missing:
                for process in reporting(self._processes):
                    turns.hear(process)

    def close(self) -> None:
        """End all processes. They start again if there is more to do."""
        for process in self._processes:
            process.close()
        self._processes = []

    def _start(self, parts: int) -> None:
        """Start the processes that so many parts keep busy, and are not there yet."""
        for device in self._devices[len(self._processes) : parts]:
            process = DeviceProcess(device)
            self._processes.append(process)
            sharers = self._devices.count(CPU) if device == CPU else 1
            process.send(Load(replace(self._source, device=device), self._settings, sharers, self._devices))

    def _take_over(self, loaded: Loaded) -> None:
        """Note what the first process says of the model, so that the others load the same."""
        self._processes[0].is_loaded = True
        self.card, self.dtype = loaded.card, loaded.dtype
        self.tokenizer = SimpleNamespace(backend_tokenizer=loaded.tokenizer)
        if self._settings.dtype == AUTO_DTYPE:
            self._settings = replace(self._settings, dtype=cast(DType, loaded.dtype))
        if loaded.card.source == "hub":
            self._source = replace(self._source, commit=loaded.card.commit)

    @contextmanager
    def _ended_by_errors(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.close()
            raise


class _Turns:
    """The parts of a run, which processes take in turn: the longest first, so that all end at about the same time.

    `missing`: how many are not stored yet.
    """

    def __init__(self, begin: Begin, work: Mapping[Part, WorkEstimate], progress: PartsProgress) -> None:
        self._begin, self._work, self._progress = begin, work, progress
        self._waiting = deque(sorted(work, key=lambda part: work[part].work, reverse=True))
        self.missing = len(work)

    def admit(self, process: DeviceProcess) -> None:
        """Let a process whose model is loaded take part in the run."""
        process.is_loaded = True
        process.send(self._begin)
        self._give(process)

    def hear(self, process: DeviceProcess) -> None:
        """Take the next report of a process, and give it the next part if it is free now."""
        match process.receive():
            case Loaded() as loaded:
                self._refuse_other_weights(loaded.card)
                self.admit(process)
            case float() as share:
                self._progress.move(process.part, share)
            case Stored(too_long):
                self._progress.end(process.part, too_long)
                self.missing -= 1
                self._give(process)

    def _give(self, process: DeviceProcess) -> None:
        if self._waiting:
            process.part = self._waiting.popleft()
            self._progress.begin(process.part)
            process.send(Probe(process.part, self._work[process.part]))

    def _refuse_other_weights(self, card: ModelCard) -> None:
        first = self._begin.card
        if (card.commit, card.files) != (first.commit, first.files):
            raise Incomplete(f"The files of {first.id} were changed while it was loaded.", "Run it again.")


class DevicesOpener:
    """Opens a model on several devices, one number format at a time."""

    def __init__(self, source: ModelSource) -> None:
        self._source = source
        self._opened: ModelOnDevices | None = None

    def open(self, dtype: str, quantization: str) -> ModelOnDevices:
        self.close()
        self._opened = ModelOnDevices(self._source, Settings.from_json({"dtype": dtype, "quantization": quantization}))
        return self._opened

    def close(self) -> None:
        if self._opened:
            self._opened.close()


@contextmanager
def opened_source(source: ModelSource) -> Iterator[Opener[LanguageModel | ModelOnDevices]]:
    """Yield what the model of runs is opened from; its processes on several devices, if there are, end with the block.

    A model on one device is loaded in this process.
    """
    if len(source.devices) == 1:
        yield source
        return
    with closing(DevicesOpener(source)) as opener:
        yield opener
