"""The steps by which a program loses its rights, before and after bubblewrap arranges the files that it sees.

`limits` runs this file as a script, with nothing but Python's standard library: `outside FILE COMMAND ...` before
bubblewrap, where FILE is what the program may write, and `inside MEMORY COMMAND ...` after it. Root becomes `NOBODY`,
so that no file of root, such as those in /proc/sys, is the program's own. libseccomp makes the filter of system calls:
it knows their numbers on each processor, and ends a process that calls them by the numbers of another one.
"""

import ctypes
import errno
import os
import resource
import sys

NOBODY = 65534  # number of the user and the group that own nothing
PROCESSES = 2048  # with threads, of which there are several for each core
OPEN_FILES = 1024
NEW_USER_NAMESPACE = 0x1000_0000
NEW_NAMESPACES = (0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, NEW_USER_NAMESPACE, 0x2000_0000, 0x4000_0000)
SHARED_ANONYMOUS = 0x21  # of mmap: MAP_SHARED and MAP_ANONYMOUS
LOCAL_SOCKETS = 1  # AF_UNIX
LIBRARY = "libseccomp.so.2"
ALLOW, REFUSE = 0x7FFF_0000, 0x0005_0000  # actions of libseccomp; an error number is added to the second
GREATER, MASKED_EQUAL = 6, 7  # its comparisons of an argument

# Calls that no program needs to compute with files that it can read.
FORBIDDEN = (
    # They look into other processes or at the kernel, or have often had errors.
    *("bpf", "kcmp", "lookup_dcookie", "perf_event_open", "pidfd_getfd", "process_madvise", "process_vm_readv"),
    *("process_vm_writev", "ptrace", "syslog", "userfaultfd"),
    # They change mounts and namespaces, or open files by other means than their names.
    *("chroot", "fanotify_init", "fsconfig", "fsmount", "fsopen", "fspick", "mount", "mount_setattr", "move_mount"),
    *("name_to_handle_at", "open_by_handle_at", "open_tree", "pivot_root", "setns", "umount2", "unshare"),
    # They change the machine.
    *("acct", "clock_adjtime", "clock_settime", "delete_module", "finit_module", "init_module", "ioperm", "iopl"),
    *("kexec_file_load", "kexec_load", "modify_ldt", "quotactl", "quotactl_fd", "reboot", "setdomainname"),
    *("sethostname", "settimeofday", "swapoff", "swapon", "vhangup"),
    # They keep memory that belongs to no process.
    *("add_key", "keyctl", "mq_open", "msgget", "request_key", "semget", "shmget"),
)
# Calls without which programs do as they do on an older kernel. `clone3` has its flags where no filter can read them.
MISSING = ("clone3", "io_uring_enter", "io_uring_register", "io_uring_setup", "memfd_create", "memfd_secret")
UNNAMED = range(457, 512)  # numbers, alike on all processors, of calls that the library may be too old to know


class ArgumentCheck(ctypes.Structure):
    """A comparison of one argument of a system call, `struct scmp_arg_cmp` of libseccomp."""

    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operation", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


def outside(writable: str) -> None:
    """Make the file to write, be the first process that ends when memory runs out, and leave root's namespace."""
    if not os.path.exists(writable):
        write(writable, "")
    write("/proc/self/oom_score_adj", "1000")
    if os.getuid() == 0:
        os.chown(writable, NOBODY, NOBODY)
        enter_user_namespace()


def enter_user_namespace() -> None:
    """Enter a namespace that knows root, who may arrange the files of the program, and `NOBODY`.

    Only a process that stays outside may write which users it knows.
    """
    process = os.getpid()
    waiting, entered = os.pipe()
    helper = os.fork()
    if helper == 0:
        status = 1
        try:
            os.close(entered)
            os.read(waiting, 1)  # returns when the other end is closed
            for kind in ("uid_map", "gid_map"):
                write(f"/proc/{process}/{kind}", f"0 0 1\n{NOBODY} {NOBODY} 1\n")
            status = 0
        finally:
            os._exit(status)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_USER_NAMESPACE):
        sys.exit(f"No user namespace can be made: {os.strerror(ctypes.get_errno())}")
    os.close(entered)
    if os.waitpid(helper, 0)[1]:
        sys.exit(f"Root may not make a user namespace that knows user {NOBODY}")


def inside(memory: str) -> None:
    """Give up root, and limit processes, open files and system calls.

    `memory`: `counted`, or `shared` where the driver of an accelerator needs memory that belongs to no process.
    """
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    for kind, most in ((resource.RLIMIT_NPROC, PROCESSES), (resource.RLIMIT_NOFILE, OPEN_FILES)):
        _, hard = resource.getrlimit(kind)
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (limit, limit))
    filter_calls(shared_memory=memory == "shared")


def filter_calls(shared_memory: bool) -> None:
    """Refuse the system calls above, new namespaces, and sockets of other kinds than local ones, from now on.

    Without `shared_memory`, memory is refused as well that outlives its use by a process and that nobody counts.
    """
    library = ctypes.CDLL(LIBRARY)
    library.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(library.seccomp_init(ALLOW))

    def refuse(call: str | int, error: int = errno.EPERM, *comparisons: ArgumentCheck) -> None:
        number = library.seccomp_syscall_resolve_name(call.encode()) if isinstance(call, str) else call
        array = (ArgumentCheck * len(comparisons))(*comparisons)
        if number != -1 and library.seccomp_rule_add_array(rules, REFUSE | error, number, len(comparisons), array):
            sys.exit(f"The system call {call} cannot be refused")

    for name in FORBIDDEN:
        refuse(name)
    for call in (*MISSING, *UNNAMED):
        refuse(call, errno.ENOSYS)
    for flag in NEW_NAMESPACES:
        refuse("clone", errno.EPERM, ArgumentCheck(0, MASKED_EQUAL, flag, flag))
    refuse("socket", errno.EPERM, ArgumentCheck(0, GREATER, LOCAL_SOCKETS))
    if not shared_memory:
        refuse("mmap", errno.EPERM, ArgumentCheck(3, MASKED_EQUAL, SHARED_ANONYMOUS, SHARED_ANONYMOUS))
    if library.seccomp_load(rules):
        sys.exit("The kernel does not filter system calls")


def write(path: str, text: str) -> None:
    with open(path, "w") as file:  # importing `pathlib` takes longer than all else that is done here
        file.write(text)


if __name__ == "__main__":
    step, fact, *command = sys.argv[1:]
    {"outside": outside, "inside": inside}[step](fact)
    os.execvp(command[0], command)
