"""A worker elsewhere: it claims parts from a site over HTTP, has them measured, and delivers their rows.

The model stays loaded from part to part of a run. A part that is measured lies in the outbox until the site has
acknowledged it, so that neither a site that is down nor a worker that is killed loses work.
"""

import os
import random
import shutil
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from uuid import uuid4

import psutil

from probing.errors import BadInput, MissingPackage, NoSpace, ProbingError
from probing.files.adapters import download_adapter
from probing.files.description import loaded_files
from probing.files.hub import HubClient
from probing.files.listing import hub_listing
from probing.files.model_files import download
from probing.measuring.limits import Limits
from probing.measuring.messages import BenchmarkFiles, Task
from probing.measuring.process import MeasuringProcess
from probing.remote.client import Site, cached_benchmark
from probing.remote.connection import NotWelcome, SiteRefused, SiteUnavailable
from probing.remote.outbox import Delivery, Outbox
from probing.remote.protocol import Handout

POLL = 10.0  # seconds between two questions for work
SPARE_DISK = 10**9  # bytes that a download leaves free
RENEWALS = 3  # per length of a lease
# Faults of this machine and not of the model: a device or a package that it lacks.
OWN_FAULTS = frozenset({BadInput.code, MissingPackage.code})
PACKAGES = ("peft", "bitsandbytes", "gptqmodel")  # without which some models cannot be measured


class LeaseEnded(Exception):
    """The run was cancelled, or the part belongs to another worker now."""


@dataclass(frozen=True)
class Plan:
    """How a worker works.

    `lanes`: the queues from which it takes runs. `device`: as of `scoring.load`. `memory`: bytes that a model may take,
    0 for nine tenths of the machine's. `once`: end when nothing is left to do. `max_runs`: end after so many runs.
    `idle_exit`: end after so many seconds without work. `cache`: folder of models, benchmarks and the outbox.
    """

    cache: Path
    lanes: tuple[str, ...] = ("default",)
    device: str = "auto"
    memory: int = 0
    once: bool = False
    max_runs: int | None = None
    idle_exit: float | None = None
    hub: str = "https://huggingface.co"
    hub_token: str = ""
    poll: float = POLL


class RemoteWorker:
    """A worker for one site. `say` is called with a sentence about everything that it does."""

    def __init__(self, site: Site, plan: Plan, say: Callable[[str], None] = print) -> None:
        self.site, self.plan, self.say = site, plan, say
        self.hub = HubClient(plan.hub, plan.hub_token, plan.cache / "hub")
        self.machine = {
            "worker": f"{socket.gethostname()[:40]}-{os.getpid()}-{uuid4().hex[:4]}",
            "lanes": list(plan.lanes),
            "device": plan.device,
            "memory_gb": memory_of(plan) / 1e9,
            "packages": [name for name in PACKAGES if find_spec(name)],
        }

    def work(self) -> None:
        """Work until the plan ends, Ctrl-C or SIGTERM; raise `NotWelcome` or `SiteUnavailable` if it cannot go on."""
        name = self.site.hello()
        self.say(f"Working for {self.site.address} as {name}.")
        self.outbox = Outbox(self.plan.cache / "outbox", self.site.address)
        try:
            self._work()
        finally:
            self.outbox.close()

    def _work(self) -> None:
        runs = 0
        self._last_work = time.monotonic()
        while self.plan.max_runs is None or runs < self.plan.max_runs:
            if self._work_on_next():
                runs += 1
            elif self.plan.once or time.monotonic() - self._last_work > (self.plan.idle_exit or float("inf")):
                break
            else:
                time.sleep(self.plan.poll * random.uniform(0.5, 1.5))
        self._deliver_all()

    def _work_on_next(self) -> bool:
        """Deliver what waits and work on a run; return False if there is nothing to do now, or no way to do it."""
        try:
            self._deliver_all()
            handout = self._claim()
            if handout:
                self._work_on(handout)
            return handout is not None
        except ProbingError as error:
            if self.plan.once or error.permanent:
                raise
            self.say(str(error))
            return False

    def _claim(self, run: int | None = None) -> Handout | None:
        """Claim a part; when interrupted before the answer is here, tell the site that this worker holds none."""
        try:
            return self.site.claim(self.machine, run)
        except KeyboardInterrupt:
            with suppress(ProbingError):
                self.site.impatient().claim({**self.machine, "lanes": []})
            raise

    def _work_on(self, handout: Handout) -> None:
        """Measure the part and all further parts of its run that are free; report a failure to the site."""
        lease = Lease(self.site.impatient(), handout)
        try:
            with lease:
                self._measure_run(handout, lease)
        except LeaseEnded:
            self.say(f"Run {handout.run} has ended, or its part belongs to another worker now.")
        except ProbingError as error:
            self._report(lease, error)
        except BaseException:  # Ctrl-C and SIGTERM, and errors of this machine's system, such as unreadable folders
            lease.give_back()
            raise

    def _measure_run(self, handout: Handout, lease: "Lease") -> None:
        self.say(f"Run {handout.run}: {handout.hub_id} on {handout.benchmark.slug}.")
        benchmark = cached_benchmark(self.site, handout.benchmark, self.plan.cache / "benchmarks")
        lease.check()
        task = self._task(handout, benchmark)
        with MeasuringProcess(task, Limits(memory=self.plan.memory)) as process:
            process.load(lease.check)
            following: Handout | None = handout
            while following:
                part = following.part
                result = process.measure(part, lease.progress, positions=following.positions)
                delivery = self.outbox.put(following.lease, result)
                lease.measured, self._last_work = True, time.monotonic()
                self._deliver(delivery)
                lease.take(None)
                self.say(f"Run {handout.run}: {part.relation}, template {part.template}: {part.items} items.")
                following = self._claim(handout.run)
                lease.take(following)

    def _task(self, handout: Handout, benchmark: Path) -> Task:
        """Check and download the model's files, and return what the measuring process has to do."""
        base, _, adapter_id = handout.hub_id.partition("+")
        if adapter_id and find_spec("peft") is None:
            raise MissingPackage("This worker cannot measure adapters: peft is missing.", "Install clozeboard[peft].")
        listing = hub_listing(self.hub, base, handout.commit)
        adapter = hub_listing(self.hub, adapter_id, handout.adapter_commit) if adapter_id else None
        self.plan.cache.mkdir(parents=True, exist_ok=True)
        needed = sum(listing.files[name] for name in loaded_files(listing))
        if shutil.disk_usage(self.plan.cache).free < needed + SPARE_DISK:
            raise NoSpace(f"The disk of the worker has no room for the {needed / 1e9:.1f} GB of {handout.hub_id}.")
        offer = handout.benchmark
        return Task(
            download(listing),
            handout.hub_id,
            handout.commit,
            BenchmarkFiles(offer.format, benchmark, offer.slug, offer.digest),
            handout.settings,
            device=self.plan.device,
            adapter=download_adapter(adapter) if adapter else None,
            adapter_commit=handout.adapter_commit,
        )

    def _report(self, lease: "Lease", error: ProbingError) -> None:
        """Tell the site why a part failed; raise the error again if it is one of this worker and not of the model."""
        if isinstance(error, SiteUnavailable | NotWelcome) or error.code in OWN_FAULTS:
            lease.give_back()
            raise error
        lease.fail(error)
        if not error.permanent:
            raise error
        self.say(f"Run {lease.run}: {error}")

    def _deliver_all(self) -> None:
        for delivery in self.outbox.waiting():
            self._deliver(delivery)

    def _deliver(self, delivery: Delivery) -> None:
        """Send rows until the site has them; raise `SiteUnavailable` after some minutes, with the rows still kept."""
        try:
            self.site.deliver(delivery.lease, delivery.rows, delivery.record)
        except SiteRefused as refusal:
            self.say(f"The site did not take a part: {refusal}")
        delivery.forget()


def memory_of(plan: Plan) -> int:
    """Return how many bytes of memory a model may take on this machine."""
    return plan.memory or psutil.virtual_memory().total * 9 // 10


class Lease:
    """The part that this worker holds at the site. A thread renews it for as long as the block lasts.

    `check` and `progress` raise `LeaseEnded` once the site has said that the worker should stop. `measured`: the part's
    rows lie in the outbox; its lease is kept while they are delivered, and not given up any more.
    """

    def __init__(self, site: Site, handout: Handout) -> None:
        self.site, self.run, self.interval = site, handout.run, handout.lease_seconds / RENEWALS
        self.lease: str | None = None
        self.take(handout)
        self._stop, self._ended = Event(), Event()
        self._thread = Thread(target=self._keep, daemon=True)

    def __enter__(self) -> "Lease":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()

    def take(self, handout: Handout | None) -> None:
        """Make this the part that is kept, or none."""
        self.share, self.measured, self.lease = 0.0, False, handout.lease if handout else None

    def progress(self, share: float) -> None:
        self.share = share
        self.check()

    def check(self) -> None:
        """Raise `LeaseEnded` if the site has said that the worker should stop."""
        if self._ended.is_set():
            raise LeaseEnded

    def give_back(self) -> None:
        """Release a part that is not measured yet, so that another worker can have it at once."""
        if self.lease and not self.measured:
            with suppress(ProbingError):
                self.site.release(self.lease)

    def fail(self, error: ProbingError) -> None:
        """Tell the site why the part could not be measured; without an answer, the lease runs out."""
        if self.lease and not self.measured:
            with suppress(ProbingError):
                self.site.fail(self.lease, error)

    def _keep(self) -> None:
        """Renew the lease again and again; a site that does not answer is asked again at the next time."""
        while not self._stop.wait(self.interval):
            lease = self.lease
            with suppress(ProbingError):
                if lease and not self.site.renew(lease, self.share) and lease == self.lease and not self.measured:
                    self._ended.set()
