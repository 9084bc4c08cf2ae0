"""The Python environments of peers: made once, in a cache folder outside the checkout."""

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from probing.files.gguf_cache import cache_folder

PEERS = Path(__file__).parent / "peers"
REASON_LINES = 3  # of what pip wrote last


class NotMeasured(Exception):
    """A system cannot be measured here; the message is the reason."""


def python_for(module: str) -> str:
    """Return the interpreter for a module of `speed.peers`.

    It is this one, unless MODULE.txt lists requirements; these are then installed into an environment of their own,
    whose name contains the digest of the file.
    """
    requirements = PEERS / f"{module}.txt"
    if not requirements.exists():
        return sys.executable
    digest = sha256(sys.version.encode() + requirements.read_bytes()).hexdigest()[:12]
    folder = cache_folder() / "peers" / f"{module}-{digest}"
    python, complete = folder / "bin" / "python", folder / "complete"
    if not complete.exists():
        _run(sys.executable, "-m", "venv", "--clear", str(folder))
        _run(str(python), "-m", "pip", "install", "--quiet", "--requirement", str(requirements))
        complete.touch()
    return str(python)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotMeasured(last_lines(done.stderr) or f"The exit code of {' '.join(command)} was {done.returncode}.")


def last_lines(text: str) -> str:
    return " ".join(line.strip() for line in text.strip().splitlines()[-REASON_LINES:])
