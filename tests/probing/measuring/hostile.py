"""Code that tries to get out of a measuring process or to take more than it may, and what must come of it.

`python -m tests.probing.measuring.hostile FOLDER` runs each attempt in the command line that a worker uses, and prints
what came of all of them as JSON. The user who runs it is the worker.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryFile

from probing.measuring import limits
from probing.measuring.confinement import FORBIDDEN, MISSING
from probing.measuring.failures import MeasuringFailure
from probing.measuring.limits import Limits, ProcessWatch

LIMITS = Limits(memory=300_000_000, disk=1_000_000)
SECONDS = 60  # after which an attempt counts as one that nothing has ended
REFUSED = "Operation not permitted"
HELD = "Permission denied|Read-only|No such file"
MEMORY, DISK = "MemoryLimit", "DiskLimit"
CALL = "import ctypes, os; c = ctypes.CDLL(None, use_errno=True); print(c.{}, os.strerror(ctypes.get_errno()))"
NUMBER = "ctypes.CDLL('libseccomp.so.2').seccomp_syscall_resolve_name(b'clone')"
EACH_CALL = """
import ctypes, errno
libc, library = ctypes.CDLL(None, use_errno=True), ctypes.CDLL('libseccomp.so.2')
for name in {}:
    ended = libc.syscall(library.seccomp_syscall_resolve_name(name.encode()), -1, -1, -1, -1, -1)
    if (ended, ctypes.get_errno()) != (-1, errno.{}): print(name)
print('all tried')
"""
FILL = "\nwith open({}, 'wb') as file:\n    for _ in range(1000): file.write(bytes(10**6))"
EMPTY_FILES = "\nfor number in range(3_000_000): open({} + '/' + str(number), 'x').close()"
HOLD = "held = b'x' * 200_000_000"  # below the limit, so that fewer files are needed to exceed it
WAIT = "\nimport time; time.sleep(100)"
FORKS = "import os, time\nwhile True:\n    if not os.fork(): time.sleep(100)"

# For each attempt: code, and a pattern of what it prints, or the failure with which the worker ends it. Names in
# capital letters stand for facts of the machine (`code_with_facts`).
ATTEMPTS = {
    "look at the worker's files": ("open(FOLDER + '/secret').read()", HELD),
    "look at the system's files": ("open('/etc/passwd').read()", HELD),
    "list the folder around the interpreter": ("import os; print(os.listdir(PROGRAMS))", HELD),
    "list the project's folder": ("import os; print(os.listdir(PROJECT))", HELD),
    "look at processes": ("import os; print(len([n for n in os.listdir('/proc') if n.isdigit()]))", "^2$"),
    "look at the environment": ("print('do not tell' in open('/proc/self/environ').read())", "^False$"),
    "write to the model": ("open(FOLDER + '/model', 'w')", HELD),
    "write to a program": ("open('/usr/new', 'w')", HELD),
    "replace the rows": ("import os; os.unlink(ROWS)", f"{HELD}|busy"),
    "make a device": ("import os; os.mknod('/tmp/device', 0o20600, 1281)", REFUSED),
    "write to /proc/sys": ("open('/proc/sys/kernel/core_pattern', 'r+')", HELD),
    "write to /proc": ("open('/proc/self/oom_score_adj', 'r+')", HELD),
    "press a magic key": ("open('/proc/sysrq-trigger', 'w')", HELD),
    "write to /sys": ("open('/sys/kernel/mm/transparent_hugepage/enabled', 'r+')", HELD),
    "be root": ("import os; assert os.getuid(); os.setuid(0)", f"{REFUSED}|Invalid argument"),
    "have rights": ("print(open('/proc/self/status').read())", r"(?s)CapEff:\s*0+\n.*NoNewPrivs:\s*1\nSeccomp:\s*2"),
    "connect to this machine": ("import socket; socket.create_connection(('127.0.0.1', 80), 2)", REFUSED),
    "connect to a network": ("import socket; socket.create_connection(('8.8.8.8', 53), 2)", REFUSED),
    "connect to the host of a virtual machine": ("import socket; socket.socket(40, socket.SOCK_STREAM)", REFUSED),
    "connect to the kernel": ("import socket; socket.socket(16, socket.SOCK_RAW)", REFUSED),
    "end the worker": ("import os; os.kill(WORKER, 9)", "No such process"),
    "make a namespace": (CALL.format("unshare(0x10000000)"), REFUSED),
    "clone into a namespace": (CALL.format(f"syscall({NUMBER}, 0x10000011, 0, 0, 0, 0)"), REFUSED),
    "mount": (CALL.format("mount(b'none', b'/tmp', b'tmpfs', 0, 0)"), REFUSED),
    "trace": (CALL.format("ptrace(0, 0, 0, 0)"), REFUSED),
    "call what is forbidden": (EACH_CALL.format(FORBIDDEN, "EPERM"), "^all tried$"),
    "call what is missing": (EACH_CALL.format(MISSING, "ENOSYS"), "^all tried$"),
    "fill /dev/shm": (FILL.format("'/dev/shm/file'"), "No space left"),
    "fill /tmp": (FILL.format("'/tmp/file'"), "No space left"),
    "fill /dev": (FILL.format("'/dev/file'"), HELD),
    "fill /tmp with empty files": (HOLD + EMPTY_FILES.format("'/tmp'") + WAIT, MEMORY),
    "fill /dev/shm with empty files": (HOLD + EMPTY_FILES.format("'/dev/shm'") + WAIT, MEMORY),
    "fill a memfd": ("import os; os.memfd_create('x')", "not implemented"),
    "keep memory in the kernel": (CALL.format("shmget(0, 1000000, 0o1600)"), REFUSED),
    "fill memory": ("block = bytearray(400_000_000); block[::4096] = b'x' * len(block[::4096])" + WAIT, MEMORY),
    "fill the disk": ("open(ROWS, 'wb').write(bytes(3_000_000))" + WAIT, DISK),
    "fill the disk with empty files": (EMPTY_FILES.format("FOLDER") + WAIT, f"{HELD}|{MEMORY}"),
    "fork": (FORKS, f"{MEMORY}|temporarily unavailable"),
    "open files": ("files = [open('/dev/null') for _ in range(5000)]", "Too many open files"),
}
if not limits.has_accelerator():
    ATTEMPTS |= {
        "look at devices": (
            "import os; print(sorted(os.listdir('/dev')))",
            r"^\['null', 'random', 'shm', 'urandom'\]$",
        ),
        "share memory": ("import mmap; mmap.mmap(-1, 10**6)", REFUSED),
        "share memory by /dev/zero": ("open('/dev/zero', 'r+b')", HELD),
    }


def code_with_facts(code: str, folder: Path) -> str:
    """Return code with paths and numbers in place of their names."""
    paths = {
        "FOLDER": folder,
        "ROWS": folder / "rows",
        "PROGRAMS": Path(sys.base_prefix).parent,
        "PROJECT": limits.ROOT,
    }
    for name, path in paths.items():
        code = code.replace(name, repr(str(path)))
    return code.replace("WORKER", str(os.getpid()))


def outcome(code: str, folder: Path) -> str:
    """Run code in isolation, watched as a worker watches, and return what it printed or the failure that ended it."""
    (folder / "rows").unlink(missing_ok=True)
    program = [sys.executable, "-c", code_with_facts(code, folder)]
    command = limits.isolated_command(program, [folder / "model"], folder / "rows")
    with TemporaryFile("w+") as output:
        process = subprocess.Popen(command, env=limits.isolated_environment(), stdout=output, stderr=subprocess.STDOUT)
        watch, begun = ProcessWatch(process.pid, folder, LIMITS), time.monotonic()
        try:
            while process.poll() is None and time.monotonic() - begun < SECONDS:
                watch.check()
                time.sleep(0.1)
        except MeasuringFailure as failure:
            return type(failure).__name__
        finally:
            process.kill()
            process.wait()
        output.seek(0)
        return output.read()


def main() -> None:
    os.environ["SECRET_KEY"] = "do not tell"
    folder = Path(sys.argv[1])
    (folder / "secret").write_text("do not tell")
    (folder / "model").write_text("weights")
    problem = limits.isolation_problem()
    outcomes = {} if problem else {name: outcome(code, folder) for name, (code, _) in ATTEMPTS.items()}
    names = sorted(path.name for path in folder.iterdir())
    print(json.dumps({"user": os.getuid(), "problem": problem, "outcomes": outcomes, "files": names}))


if __name__ == "__main__":
    main()
