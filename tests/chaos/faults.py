"""The faults: each does its harm and returns when it has ended."""

import os
import random
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple

import psutil
from redis import Redis
from redis.exceptions import RedisError

from tests.chaos.full_disk import FLAG
from tests.chaos.site import Site
from tests.hub.local_hub import Handler, Hub


class UnreliableHandler(Handler):
    """A hub that takes its time before each answer."""

    def do_GET(self) -> None:  # noqa: N802
        time.sleep(getattr(self.server, "delay", 0))
        with suppress(ConnectionError):  # whoever asked was killed meanwhile
            super().do_GET()


class Chaos(NamedTuple):
    """What faults are applied to. `seconds`: how long those last that have a duration."""

    site: Site
    hub: Hub
    random: random.Random
    seconds: float


def kill_worker(chaos: Chaos) -> None:
    _kill(chaos.site.processes[chaos.random.choice(["worker 1", "worker 2"])].pid)


def kill_check_worker(chaos: Chaos) -> None:
    _kill(chaos.site.processes["checks"].pid)


def kill_rqcron(chaos: Chaos) -> None:
    _kill(chaos.site.processes["rqcron"].pid)


def kill_measuring_process(chaos: Chaos) -> None:
    end = time.monotonic() + 20
    while not (processes := chaos.site.measuring()) and time.monotonic() < end:
        time.sleep(0.1)
    if processes:
        _kill(chaos.random.choice(processes).pid)


def kill_web(chaos: Chaos) -> None:
    _kill(chaos.site.processes["web"].pid)


def kill_valkey(chaos: Chaos) -> None:
    with suppress(RedisError):
        _kill(Redis.from_url(chaos.site.redis).info("server")["process_id"])


def empty_valkey(chaos: Chaos) -> None:
    with suppress(RedisError):
        Redis.from_url(chaos.site.redis).flushall()


def restore_older_valkey(chaos: Chaos) -> None:
    """Replace what Redis knows by what it knew some seconds ago, as after a restart with an older dump."""
    with suppress(RedisError):
        server = Redis.from_url(chaos.site.redis)
        older = {key: (max(server.pttl(key), 0), server.dump(key)) for key in server.scan_iter()}
        time.sleep(chaos.seconds)
        server.flushall()
        for key, (milliseconds, value) in older.items():
            if value is not None:
                server.restore(key, milliseconds, value)


def submit_twenty_times(chaos: Chaos) -> None:
    """Submit one model twenty times at once, which must lead to one run."""
    if chaos.hub.repositories:
        newest = list(chaos.hub.repositories)[-1]
        with ThreadPoolExecutor(20) as threads:
            list(threads.map(chaos.site.submit, [newest] * 20))


def lock_database(chaos: Chaos) -> None:
    chaos.site.database.lock(chaos.seconds)


def restart_database(chaos: Chaos) -> None:
    chaos.site.database.restart()


def fill_disk(chaos: Chaos) -> None:
    flag = chaos.site.data / FLAG
    flag.touch()
    time.sleep(chaos.seconds)
    flag.unlink()


def hub_down(chaos: Chaos) -> None:
    chaos.hub.broken = chaos.random.choice([500, 502, 503])
    time.sleep(chaos.seconds)
    chaos.hub.broken = None


def hub_slow(chaos: Chaos) -> None:
    chaos.hub.delay = 3  # type: ignore[attr-defined]
    time.sleep(chaos.seconds)
    chaos.hub.delay = 0  # type: ignore[attr-defined]


def hub_lies(chaos: Chaos) -> None:
    """Say wrong sizes of all files: far too large, too small, or negative."""
    factor = chaos.random.choice([10.0**7, 0.5, -1.0])
    for repository in chaos.hub.repositories.values():
        files = repository.describe()["siblings"]
        lies: list[dict[str, Any]] = [{**file, "size": int(file["size"] * factor)} for file in files]
        repository.info["siblings"] = lies
    time.sleep(chaos.seconds)
    for repository in chaos.hub.repositories.values():
        repository.info.pop("siblings", None)


FAULTS: dict[str, Callable[[Chaos], None]] = {
    "worker killed": kill_worker,
    "measuring process killed": kill_measuring_process,
    "Valkey killed": kill_valkey,
    "Valkey emptied": empty_valkey,
    "Valkey of some time ago": restore_older_valkey,
    "twenty submissions at once": submit_twenty_times,
    "scheduler killed": kill_rqcron,
    "web killed": kill_web,
    "check worker killed": kill_check_worker,
    "database locked": lock_database,
    "database restarted": restart_database,
    "disk full": fill_disk,
    "hub down": hub_down,
    "hub slow": hub_slow,
    "hub lies": hub_lies,
}


def schedule(seed: int, count: int, server: bool = True) -> list[str]:
    """Return names of faults in random order; each comes again only after all others have come.

    `server`: whether the site's database is one that can be restarted.
    """
    chance = random.Random(seed)
    possible = sorted(name for name in FAULTS if server or name != "database restarted")
    names: list[str] = []
    while len(names) < count:
        names += chance.sample(possible, len(possible))
    return names[:count]


def _kill(number: int) -> None:
    with suppress(ProcessLookupError, psutil.Error):
        os.kill(number, signal.SIGKILL)
