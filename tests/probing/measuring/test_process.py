"""The measuring process: equal results, isolation, limits, and a clear end in every case."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pandas as pd
import psutil
import pytest

from probing.catalog import EMBEDDED
from probing.errors import ProbingError
from probing.formats import FORMATS
from probing.measuring import limits as limits_module
from probing.measuring import process as process_module
from probing.measuring.failures import (
    BrokenProtocol,
    Crashed,
    DiskLimit,
    MemoryLimit,
    NotIsolated,
    Reported,
    Silent,
    TooSlow,
)
from probing.measuring.limits import Limits, ProcessWatch
from probing.measuring.messages import BenchmarkFiles, Task
from probing.measuring.process import MeasuringProcess
from probing.plan import plan_of
from probing.results.joining import joined
from probing.runner import run
from probing.settings import Settings
from tests.tiny_models import build_gpt2

SETTINGS = Settings(relations=("animal_class", "country_capital"), limit=4)
isolated = pytest.mark.skipif(
    bool(limits_module.isolation_problem()), reason=f"no isolation: {limits_module.isolation_problem()}"
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_gpt2(tmp_path_factory.mktemp("models") / "causal")


def task(model: Path, settings: Settings = SETTINGS, digest: str = "") -> Task:
    folder = EMBEDDED / "starter"
    files = BenchmarkFiles("bear", folder, "starter", digest or FORMATS["bear"](folder).digest)
    return Task(model, "org/model", "c0ffee", files, settings, device="cpu")


@pytest.mark.slow
def test_it_gives_what_a_run_in_the_same_process_gives_and_nothing_is_left_of_it(model: Path) -> None:
    content, threads = FORMATS["bear"](EMBEDDED / "starter"), set(threading.enumerate())
    shares: list[float] = []
    with MeasuringProcess(task(model)) as process:
        card, _ = process.load()
        covered = plan_of(content, SETTINGS).parts
        results = {part: process.measure(part, shares.append, positions=100) for part in covered}
        pid, scratch = process._process.pid, process._rows
        assert psutil.pid_exists(pid) and scratch.exists()
    assert not psutil.pid_exists(pid) and not scratch.exists()
    assert set(threading.enumerate()) <= threads
    assert (card.id, card.commit, card.kind) == ("org/model", "c0ffee", "causal")
    assert shares[-1] == 1
    direct = run(model, content, relations=SETTINGS.relations, limit=4, device="cpu", progress=False)
    apart = joined(results, plan_of(content, SETTINGS))
    pd.testing.assert_frame_equal(apart.items, direct.items, check_exact=False, atol=1e-6)
    assert len({record["start"] for _, record in results.values()}) == 1, "the model is loaded once"


@pytest.mark.slow
def test_rows_have_the_labels_of_relations_which_several_may_share(model: Path) -> None:
    """Relations of culture pairs are labelled by their predicate, and their ids name pair and language too."""
    folder = EMBEDDED / "culture"
    content = FORMATS["dlama"](folder)
    settings = Settings(probe="ranking", relations=("P30.arab-west.en",), limit=2, pll="whole_answer", reduction="mean")
    files = BenchmarkFiles("dlama", folder, "culture", content.digest)
    with MeasuringProcess(Task(model, "org/model", "c0ffee", files, settings, device="cpu")) as process:
        process.load()
        rows = process.measure(plan_of(content, settings).parts[0]).rows
    assert set(rows["relation"]) == {"P30"}


@pytest.mark.slow
def test_errors_of_the_library_keep_their_code(tmp_path: Path) -> None:
    with MeasuringProcess(task(tmp_path)) as process, pytest.raises(Reported) as error:
        process.load()
    assert (error.value.code, error.value.permanent) == ("bad-config", True)
    assert str(tmp_path) not in str(error.value), "paths of the worker are nobody's business"


@pytest.mark.slow
def test_another_benchmark_than_the_task_means_is_refused(model: Path) -> None:
    with MeasuringProcess(task(model, digest="0" * 64)) as process, pytest.raises(Reported, match="were changed"):
        process.load()


def test_a_caller_may_give_up_at_any_moment(model: Path) -> None:
    class Enough(Exception):
        pass

    def give_up() -> None:
        raise Enough

    with MeasuringProcess(task(model)) as process, pytest.raises(Enough):
        process.load(give_up)
    assert not psutil.pid_exists(process._process.pid)


@pytest.mark.slow
def test_it_dies_with_its_worker(model: Path, tmp_path: Path) -> None:
    code = (
        "import sys, time; from tests.probing.measuring.test_process import *\n"
        "with MeasuringProcess(task(Path(sys.argv[1]))) as process:\n"
        "    process.load(); print(process._process.pid, flush=True); time.sleep(100)"
    )
    environment = os.environ | {"PYTHONPATH": str(limits_module.ROOT)}
    worker = subprocess.Popen(
        [sys.executable, "-c", code, str(model)], stdout=subprocess.PIPE, env=environment, text=True
    )
    assert worker.stdout
    child = psutil.Process(int(worker.stdout.readline()))
    family = [child, *child.children(recursive=True)]
    worker.kill()
    worker.communicate()
    _, alive = psutil.wait_procs(family, timeout=10)
    assert not alive


# Isolation


@isolated
@pytest.mark.parametrize(
    ("attempt", "complaint"),
    [
        ("import socket; socket.create_connection(('127.0.0.1', PORT), 2)", "Operation not permitted"),
        ("import socket; socket.create_connection(('8.8.8.8', 53), 2)", "Operation not permitted"),
        ("open('/etc/passwd').read()", "No such file"),
        ("open(FOLDER + '/secret').read()", "No such file"),
        ("open(FOLDER + '/model/config.json', 'w')", "Read-only file system"),
        ("open('/usr/new', 'w')", "Read-only file system"),
        ("open('/new', 'w')", "Read-only file system"),
        ("import os; os.kill(PARENT, 9)", "No such process"),
        ("open('/tmp/large', 'wb').write(bytes(300_000_000))", "No space left"),
    ],
)
def test_it_reaches_nothing_outside(attempt: str, complaint: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        output = inside(attempt.replace("PORT", str(server.getsockname()[1])), tmp_path)
    assert complaint in output


@isolated
def test_it_sees_only_its_environment_and_its_own_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "do not tell")
    monkeypatch.setenv("DATABASE_URL", "postgres://user:password@host/name")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    assert inside("import os; print(sorted(os.environ))", tmp_path).strip() == str(
        sorted({*limits_module.isolated_environment(), "PWD"})
    )
    assert int(inside("import os; print(len([p for p in os.listdir('/proc') if p.isdigit()]))", tmp_path)) <= 2
    with NamedTemporaryFile(dir="/tmp"):
        visible = inside("import os; print(*os.listdir('/tmp'))", tmp_path).split()
    shown = [tmp_path, Path(sys.prefix), Path(__file__)]  # folders of which some part is shown to the process
    assert set(visible) <= {path.parts[2] for path in shown if path.parts[1] == "tmp"}


def inside(code: str, folder: Path) -> str:
    """Run Python code in isolation, with a model's folder to read and a folder to write."""
    (folder / "secret").write_text("do not tell")
    (folder / "model").mkdir(exist_ok=True)
    (folder / "model" / "config.json").write_text("{}")
    (folder / "rows").mkdir(exist_ok=True)
    code = code.replace("FOLDER", repr(str(folder))).replace("PARENT", str(os.getpid()))
    command = limits_module.isolated_command(
        [sys.executable, "-c", code], [folder / "model" / "config.json"], folder / "rows"
    )
    return subprocess.run(
        command, env=limits_module.isolated_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ).stdout


@isolated
def test_it_may_write_rows_and_read_the_file_that_a_link_leads_to(tmp_path: Path) -> None:
    blob, rows = tmp_path / "blob", tmp_path / "rows"
    blob.write_text("weights")
    rows.mkdir()
    (tmp_path / "config.json").symlink_to(blob)
    copy = f"import shutil; shutil.copy('{tmp_path}/config.json', '{rows}/copy')"
    command = limits_module.isolated_command([sys.executable, "-c", copy], [tmp_path / "config.json"], rows)
    subprocess.run(command, env=limits_module.isolated_environment(), check=True)
    assert (rows / "copy").read_text() == "weights"


@isolated
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_it_reads_what_only_its_worker_may_read(kind: str, tmp_path: Path) -> None:
    """safetensors writes files that nobody but their owner may read."""
    shown, rows = tmp_path / "weights", tmp_path / "rows" / "rows.parquet"
    file = shown if kind == "file" else shown / "inner" / "facts"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("of a model")
    for path in {shown, file.parent, file} - {tmp_path}:
        path.chmod(0o700 if path.is_dir() else 0o600)
    rows.parent.mkdir()
    command = limits_module.isolated_command(["cat", str(file)], [shown], rows)
    output = subprocess.run(command, env=limits_module.isolated_environment(), check=True, capture_output=True)
    assert output.stdout == b"of a model"
    assert file.stat().st_mode & 0o077 == 0, "nobody else may read the original"


def test_it_sees_the_devices_of_accelerators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_module, "isolation_problem", lambda: "")
    monkeypatch.setattr(limits_module, "_devices", lambda patterns: [Path("/dev/dri/renderD128")])
    command = " ".join(limits_module.isolated_command(["program"], [], tmp_path / "rows"))
    assert "--dir /dev/dri" in command and "--dev-bind /dev/dri/renderD128 /dev/dri/renderD128" in command
    assert command.endswith("inside shared program"), "drivers of accelerators share memory with their processes"


@pytest.mark.slow
def test_without_bubblewrap_limits_and_empty_environment_remain(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_module, "isolation_problem", lambda: "bubblewrap is not installed")
    with MeasuringProcess(task(model)) as process:
        assert process.load()[0].kind == "causal"
        assert "SECRET_KEY" not in psutil.Process(process._process.pid).environ()


def test_where_isolation_is_required_nothing_starts_without_it(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_module, "isolation_problem", lambda: "bubblewrap is not installed")
    with pytest.raises(NotIsolated, match=r"bubblewrap is not installed\. Install bubblewrap"):
        MeasuringProcess(task(model), Limits(isolated=True)).__enter__()


def test_a_machine_where_bubblewrap_does_not_work_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'No permissions to create a new namespace' >&2; exit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    limits_module.isolation_problem.cache_clear()
    try:
        assert "No permissions" in limits_module.isolation_problem()
        monkeypatch.setattr(limits_module, "_bubblewrap", lambda: "")
        limits_module.isolation_problem.cache_clear()
        assert limits_module.isolation_problem() == "bubblewrap is not installed"
    finally:
        limits_module.isolation_problem.cache_clear()


# Misbehaviour


@pytest.fixture
def misbehave(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., ProbingError]:
    """Return a function that lets a process misbehave, and returns the error that comes of it."""

    def provoke(way: str, **limits: Any) -> ProbingError:
        environment = limits_module.isolated_environment() | {"MISBEHAVIOUR": way}
        monkeypatch.setattr(process_module, "CHILD", "tests.probing.measuring.misbehaving")
        monkeypatch.setattr(limits_module, "isolated_command", lambda program, readable, writable: list(program))
        monkeypatch.setattr(limits_module, "isolated_environment", lambda: environment)
        begin = time.monotonic()
        with MeasuringProcess(task(tmp_path), Limits(**limits)) as process, pytest.raises(ProbingError) as error:
            process.load()
            content = FORMATS["bear"](EMBEDDED / "starter")
            process.measure(plan_of(content, SETTINGS).parts[0], positions=1)
        assert time.monotonic() - begin < 30
        assert not psutil.pid_exists(process._process.pid)
        return error.value

    return provoke


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "failure", "words"),
    [
        ("killed", Crashed, "by signal SIGKILL"),
        ("exit", Crashed, "with exit code 3"),
        ("garbage", BrokenProtocol, "no message, but"),
        ("endless line", BrokenProtocol, "no message, but"),
        ("nested", BrokenProtocol, ""),
        ("wrong form", BrokenProtocol, "wrong form"),
        ("unknown event", BrokenProtocol, "wrong form"),
        ("no rows", BrokenProtocol, "wrong form"),
        ("linked rows", BrokenProtocol, "wrong form"),
        ("long error", Reported, "Do."),
        ("phases", BrokenProtocol, "wrong form"),
        ("phase of a part", BrokenProtocol, "wrong form"),
        ("card of another kind", BrokenProtocol, "wrong form"),
        ("card without a number", BrokenProtocol, "wrong form"),
        ("rows of another part", BrokenProtocol, "another part"),
        ("too few rows", BrokenProtocol, "3 rows for 4 items"),
        ("rows twice", BrokenProtocol, "twice"),
        ("infinite rows", BrokenProtocol, "not all numbers are finite"),
        ("rows without keys", BrokenProtocol, "index are missing"),
        ("pipe of rows", BrokenProtocol, "not in a file"),
    ],
)
def test_every_end_is_known(
    misbehave: Callable[..., ProbingError], way: str, failure: type[ProbingError], words: str
) -> None:
    error = misbehave(way)
    assert type(error) is failure and words in str(error)


def test_a_reported_error_keeps_its_code_and_loses_its_paths(misbehave: Callable[..., ProbingError]) -> None:
    error = misbehave("error")
    assert (error.code, str(error)) == ("non-finite-scores", "Not a number in …/b. Do.")
    assert misbehave("error with a strange code").code == "internal"


def test_only_a_full_disk_lets_a_run_wait(misbehave: Callable[..., ProbingError]) -> None:
    """A process without network could otherwise let its run be tried again for days."""
    assert misbehave("temporary error").permanent and not misbehave("full disk").permanent


def test_a_process_that_closes_its_output_does_not_hold_its_worker_up(
    misbehave: Callable[..., ProbingError], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_module, "TIME_TO_END", 0.5)
    assert "closed its output" in str(misbehave("closed output"))


def test_the_log_shows_neither_paths_nor_secrets(misbehave: Callable[..., ProbingError]) -> None:
    log = misbehave("killed").log
    assert "Loading …/file.bin" in log
    assert "hf_" not in log and "somebody" not in log


@pytest.mark.parametrize(
    ("way", "limits", "failure"),
    [
        ("slow tokenizer", {"phases": {"start": 60, "tokenizer": 1}}, TooSlow),
        pytest.param("asleep", {"phases": {"start": 0.1}}, TooSlow, marks=pytest.mark.slow),
        ("no progress", {"silence": 1}, Silent),
        pytest.param("flood", {"silence": 1}, Silent, marks=pytest.mark.slow),
        pytest.param("busy", {"part_seconds": 1}, TooSlow, marks=pytest.mark.slow),
        ("memory", {"memory": 300_000_000}, MemoryLimit),
        ("disk", {"disk": 1_000_000}, DiskLimit),
        pytest.param("many files", {"disk": 1_000_000}, DiskLimit, marks=pytest.mark.slow),
        pytest.param("many folders", {"disk": 1_000_000}, DiskLimit, marks=pytest.mark.slow),
        ("escape", {"phases": {"start": 0.3}}, TooSlow),
    ],
)
def test_every_limit_ends_it(
    misbehave: Callable[..., ProbingError], way: str, limits: dict[str, Any], failure: type[ProbingError]
) -> None:
    assert type(misbehave(way, **limits)) is failure


def test_the_machines_own_folders_take_no_memory_of_a_process_that_is_not_isolated() -> None:
    forks = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    with subprocess.Popen([sys.executable, "-c", forks], stdin=subprocess.PIPE) as process:
        while not (children := psutil.Process(process.pid).children()):
            time.sleep(0.01)
        watch = ProcessWatch(process.pid, Path("/nowhere"), Limits())
        assert watch._members()[1:] == children and watch._scratch_bytes() == 0
        process.communicate(b"\n")


def test_the_processes_of_the_machine_are_not_listed_at_every_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look is taken five times a second, and a list reads a file of every process there is."""
    listed: list[bool] = []

    def children(process: psutil.Process, recursive: bool) -> list[psutil.Process]:
        listed.append(recursive)
        return []

    monkeypatch.setattr(psutil.Process, "children", children)
    monkeypatch.setattr(limits_module, "FAMILY_KEPT", 1000.0)
    watch = ProcessWatch(os.getpid(), Path("/nowhere"), Limits())
    for _ in range(5):
        watch.check()
    assert listed == [True]
    monkeypatch.setattr(limits_module, "FAMILY_KEPT", 0.0)
    watch.check()
    assert len(listed) > 1, "processes that are started later are found"


def test_files_that_lay_there_before_are_not_written_by_the_process(tmp_path: Path) -> None:
    (tmp_path / "weights").write_bytes(bytes(200_000))
    with subprocess.Popen(["sleep", "60"]) as small:  # this process may hold more memory than the limit allows
        try:
            watch = ProcessWatch(small.pid, tmp_path, Limits(disk=100_000))
            watch.check()
            (tmp_path / "rows").write_bytes(bytes(100_000))
            with pytest.raises(DiskLimit):
                watch.check()
        finally:
            small.kill()


@pytest.mark.slow
def test_a_process_that_is_killed_from_outside_is_told_from_one_that_failed(model: Path) -> None:
    with MeasuringProcess(task(model)) as process:
        process.load()
        outer = psutil.Process(process._process.pid)
        [outer, *outer.children(recursive=True)][-1].send_signal(signal.SIGKILL)
        with pytest.raises(Crashed, match="SIGKILL"):
            process.measure(plan_of(FORMATS["bear"](EMBEDDED / "starter"), SETTINGS).parts[0])


def test_the_time_of_a_part_grows_with_its_work() -> None:
    limits = Limits()
    assert limits.part(1000, 10**9) - limits.part(0, 10**9) == pytest.approx(2000)
    assert limits.seconds_to_load(10**9) == pytest.approx(160)
