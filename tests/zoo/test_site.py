"""The zoo through the site: each hostile repository ends with its code, and the worker goes on."""

import resource
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from leaderboard.intake import queue
from leaderboard.models import Benchmark, Claim, Run
from probing.files import hub as hub_client
from tests.hub.local_hub import Hub
from tests.leaderboard.conftest import *  # noqa: F403 - its fixtures: a site with a data folder of its own
from tests.leaderboard.in_process import submit, work_off
from tests.zoo.repositories import MARKER, ZOO, build, serve

SECONDS, BYTES, ATTEMPTS = 60, 2 * 10**9, 3
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def marker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where code of a hostile repository would write if it were run. There is no Redis: the test performs the jobs."""
    monkeypatch.setenv(MARKER, str(tmp_path / "marker"))
    return tmp_path / "marker"


def offered(name: str, place: Path, hub: Hub, models: Path) -> str:
    """Offer a repository of the zoo at the hub, or among the local models if it is one of those; return its id."""
    folder = build(name, place / name)
    if not ZOO[name].local:
        return serve(name, hub, folder)
    hub_id = f"org/{name.replace(' ', '-')}"
    (models / "org").mkdir(parents=True, exist_ok=True)
    (models / hub_id).symlink_to(folder)
    return hub_id


def outcome(hub_id: str, benchmark: Benchmark) -> str:
    """Submit a model, and measure it if it passes the checks; return the code with which that ends."""
    submission = submit(hub_id, benchmark)
    if submission.run is None:
        return next(check.code for check in submission.checks if check.code)
    for _ in range(ATTEMPTS):
        queue.enqueue(submission.run.pk)  # a run that waits is tried again
        work_off(submission.run)
        run = Run.objects.get(pk=submission.run.pk)
        if run.state in Run.FINAL:
            break
    assert run.state in Run.FINAL, f"{run.state}: {run.events.last().message}"
    assert not Claim.objects.fresh().exists()
    assert run.state == Run.State.FINISHED or (run.message and run.next_step), run.code
    return run.code


# Those that reach a worker, which starts a process for each, or wait for a hub: one that ends in each step of a run,
# since `test_library` asks all of the library; a slow expression ends in the step of one that panics. Templates are
# harmless until somebody asks for chats, which tests/probing/scoring/test_chats.py does.
SLOW = ("slow hub", "panicking regular expression", "some layers too many", "weights that are not numbers")
LIKE_THOSE = ("slow regular expression", "dimensions of other weights")
QUICK = [name for name in ZOO if name not in (*SLOW, *LIKE_THOSE) and ZOO[name].code]


def faults(name: str, place: Path, hub: Hub, benchmark: Benchmark, settings: Settings, marker: Path) -> list[str]:
    """Submit a repository of the zoo, and return what is wrong with how that ends."""
    hub_id = offered(name, place, hub, settings.MODELS)
    begin = time.monotonic()
    code = outcome(hub_id, benchmark)
    seconds = time.monotonic() - begin
    leftovers = {path.name for path in settings.DATA.rglob("*") if path.suffix in (".py", ".bin", ".incomplete")}
    expected = {
        f"it ended with {code!r} instead of {ZOO[name].code!r}": code == ZOO[name].code,
        f"it took {seconds:.0f} s": seconds < SECONDS,
        "it took too much memory": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 < BYTES,
        "code of the repository was run": not marker.exists(),
        f"it left {leftovers}": not leftovers,
    }
    return [f"{name}: {fault}" for fault, holds in expected.items() if not holds]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("names", [QUICK, SLOW], ids=["quick", "slow"])
def test_hostile_repositories_end_with_their_codes_and_the_worker_is_healthy_afterwards(
    names: Sequence[str],
    tmp_path: Path,
    local_hub: Hub,
    small: Benchmark,
    settings: Settings,
    marker: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hub_client, "WINDOW", 2)  # seconds, of which a slow hub is given three
    wrong = [fault for name in names for fault in faults(name, tmp_path, local_hub, small, settings, marker)]
    assert not wrong, "\n".join(wrong)
    assert outcome("org/causal", small) == ""
