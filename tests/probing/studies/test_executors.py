"""Executors of studies: equal rows wherever models are measured, and no study that ends with one of its workers."""

import os
import stat
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from typing import Any

import pandas as pd
import psutil
import pytest

import probing
from probing.errors import BadInput, Incomplete, MissingPackage, SourceUnavailable
from probing.studies import executors, study_runs
from probing.studies.executors import Processes, opened
from probing.studies.study_results import Pair, Study
from tests.few_relations import few_relations
from tests.probing.studies.functions import end, end_once, environment
from tests.tiny_models import build_bert, build_gpt2

# So few questions that a run is short, and so many parts that it can be interrupted between two of them.
FEW = {"relations": [relation.id for relation in few_relations("starter").relations], "sample": 2}
QUIET: dict[str, Any] = {"progress": False, "device": "cpu", "batch_tokens": 512, **FEW}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("models")
    return [str(build_gpt2(folder / "a")), str(build_bert(folder / "b"))]


@pytest.fixture(scope="module")
def alone(models: list[str], tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The study of these models by one process, one model after the other."""
    return probing.study(models, ["starter"], out=tmp_path_factory.mktemp("alone"), **QUIET)


def assert_equal(study: Study, other: Study) -> None:
    assert not study.failures and list(study.folders) == list(other.folders)
    for pair in study.folders:
        pd.testing.assert_frame_equal(study.result(*pair).items, other.result(*pair).items)
    pd.testing.assert_frame_equal(study.scores, other.scores)


def test_any_executor_measures_the_models_of_a_study(loaded: list[str], folders: list[str], tmp_path: Path) -> None:
    named = ["org/plain", "no/such", "org/clever"]
    with ThreadPoolExecutor(3) as pool:
        study = probing.study(named, folders, out=tmp_path / "out", executor=pool, progress=False)
    assert sorted(loaded) == sorted(named), "each model is loaded once for all its benchmarks"
    reason = "There is no public model no/such. Check the name."
    assert study.failures == {Pair("no/such", "small"): reason, Pair("no/such", "other"): reason}
    alone = probing.study(named[::2], folders, out=tmp_path / "alone", progress=False)
    assert_equal(probing.study(named[::2], folders, out=tmp_path / "out", progress=False), alone)


def test_a_worker_that_is_lost_or_writes_elsewhere_is_told_and_its_model_is_measured_by_the_same_call(
    loaded: list[str], folders: list[str], tmp_path: Path
) -> None:
    class Lost(ThreadPoolExecutor):
        def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
            return super().submit(lose) if "plain" in next(iter(arguments[0])).model else super().submit(lambda: [""])

    def lose() -> None:
        raise RuntimeError("worker was\nkilled")

    named, out = ["org/plain", "org/clever"], tmp_path / "out"
    with Lost(1) as pool:
        study = probing.study(named, folders[:1], out=out, executor=pool, progress=False)
    lost, elsewhere = study.failures.values()
    assert lost == "Its worker was lost (RuntimeError: worker was killed). The same call goes on where it was."
    assert elsewhere == f"{out / 'org--clever' / 'small'} has no result. Name a folder that all workers share."
    assert not probing.study(named, folders[:1], out=out, progress=False).failures


def test_a_worker_of_another_version_measures_nothing() -> None:
    with pytest.raises(BadInput, match=r"A worker has version .*, and the study 0\.0\. Install the same"):
        study_runs._measure({}, "0.0")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "no executor"),
        ("threads", "no executor 'threads'"),
        ("processes", "no number of processes"),
        ("processes:0", "no number of processes"),
        ("dask:nonsense", "No Dask scheduler answers at 'nonsense'"),
        ("slurm", "sbatch is missing"),
    ],
)
def test_an_executor_that_is_not_there_is_refused_in_one_sentence(
    name: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "CONNECT_SECONDS", 0.1)
    with pytest.raises((BadInput, SourceUnavailable), match=reason), opened(name, tmp_path):
        pass


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("probing.extras.find_spec", lambda package: None)
    for name in ("dask", "slurm"):
        with pytest.raises(MissingPackage, match=rf"\[{name}\]"), opened(f"{name}:x", tmp_path):
            pass


def test_a_process_that_is_killed_is_replaced_and_one_that_always_ends_is_an_error(tmp_path: Path) -> None:
    with opened("processes:1", tmp_path) as pool:
        assert pool.submit(end_once, tmp_path / "flag").result() != os.getpid()
        with pytest.raises(Incomplete, match="3 processes ended by themselves, the last one with exit code 3"):
            pool.submit(end).result()
        with pytest.raises(ZeroDivisionError):
            pool.submit(divmod, 1, 0).result()
    assert not [child for child in psutil.Process().children() if "spawn_main" in " ".join(child.cmdline())]


def test_each_process_has_a_gpu_of_its_own_or_its_share_of_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3, GPU-5,-1")
    pool = Processes(2)
    assert {process.call((environment, (), {}))[0] for process in pool._processes} == {"3", "GPU-5"}
    pool.shutdown()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    pool = Processes(2)
    assert pool.submit(environment).result() == ("", "3")
    pool.shutdown()


def kill_in_the_middle(out: Path, worker: Callable[[], psutil.Process]) -> Thread:
    """Kill a worker once the first part of a run is stored."""

    def kill() -> None:
        while not list(out.rglob("*.partial/*.parquet")):
            time.sleep(0.005)
        worker().kill()

    thread = Thread(target=kill, daemon=True)
    thread.start()
    return thread


@pytest.mark.slow
def test_processes_give_equal_rows_though_one_is_killed(models: list[str], alone: Study, tmp_path: Path) -> None:
    pool, out = Processes(2), tmp_path / "out"
    thread = kill_in_the_middle(out, lambda: psutil.Process(pool._processes[0]._process.pid))
    study = probing.study(models, ["starter"], out=out, executor=pool, **QUIET)
    pool.shutdown()
    thread.join(1)
    assert not thread.is_alive(), "nothing was killed"
    assert_equal(study, alone)


@pytest.mark.slow
def test_dask_gives_equal_rows_though_one_worker_is_killed(models: list[str], alone: Study, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            (first, *_) = client.run(os.getpid).values()
        out = tmp_path / "out"
        thread = kill_in_the_middle(out, lambda: psutil.Process(first))
        where = f"dask:{cluster.scheduler_address}"
        study = probing.study(models, ["starter"], out=out, executor=where, **QUIET)
        thread.join(1)
        assert not thread.is_alive(), "nothing was killed"
    assert_equal(study, alone)


COMMANDS = {
    # Runs the script at once, in the background, as a cluster of one machine would.
    "sbatch": "export SLURM_JOB_ID=$$ SLURM_NTASKS=1 SLURM_LOCALID=0 SLURM_NODEID=0 SLURM_PROCID=0\n"
    'SLURM_JOB_NUM_NODES=1 SLURM_JOB_NODELIST=here nohup bash "${@: -1}" >"$LOG" 2>&1 &\n'
    'echo "Submitted batch job $$"',
    "srun": 'while [ "${1#--}" != "$1" ]; do case "$1" in --output|--error) shift;; esac; shift; done\nexec "$@"',
    "sacct": 'echo "JobID|State"',
    "scontrol": "echo here",
}


@pytest.mark.slow
def test_jobs_of_slurm_give_equal_rows(
    models: list[str], alone: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands of the names of Slurm's stand in for a cluster."""
    pytest.importorskip("submitit")
    commands = tmp_path / "commands"
    commands.mkdir()
    for name, text in COMMANDS.items():
        (commands / name).write_text(f"#!/bin/bash\n{text}\n")
        (commands / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{commands}:{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    monkeypatch.setattr(executors, "POLL_SECONDS", 0.1)
    study = probing.study(models, ["starter"], out=tmp_path / "out", executor="slurm", **QUIET)
    assert_equal(study, alone)
