"""A sandbox of Linux namespaces: the file system is read-only but for some folders, and other processes are invisible.

The program keeps the network, because it talks to the tester. It can still read what the user can read, so this keeps
programs from doing damage rather than from learning something.
"""

import ctypes
import os
import shutil
import signal
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from croupier.conformance.containment.launch_spec import HOME_FOLDER, MEBIBYTE, TEMPORARY_FOLDER, LaunchSpec

MS_RDONLY: Final = 1
MS_NOSUID: Final = 2
MS_NODEV: Final = 4
MS_BIND: Final = 4096
MS_REC: Final = 16384
MS_PRIVATE: Final = 1 << 18
AT_RECURSIVE: Final = 0x8000
MOUNT_ATTR_RDONLY: Final = 1
SYS_MOUNT_SETATTR: Final = 442
"""The number of the system call on all processors but Alpha."""

PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_CAPBSET_DROP: Final = 24
PR_SET_CHILD_SUBREAPER: Final = 36
PR_SET_NO_NEW_PRIVS: Final = 38
LAST_CAPABILITY: Final = 63

KEPT_CAPABILITIES: Final = frozenset({0, 1, 2, 3, 4, 5, 6, 7, 10})
"""What root may still do: change owners, permissions and users, end its processes and bind ports below 1024. None of
these changes a mount."""

SHARED_TEMPORARY_FOLDER: Final = "/tmp"  # noqa: S108 -- the folder that everybody may write to
SHARED_MEMORY_FOLDER: Final = "/dev/shm"  # noqa: S108 -- where POSIX shared memory is

SERVICE_PATHS: Final = (
    "/run/user",
    "/run/dbus",
    "/run/docker.sock",
    "/run/podman",
    "/run/containerd",
    "/run/systemd/private",
)
"""Sockets of services that would start a process outside the sandbox."""


class MountAttributes(ctypes.Structure):
    """`struct mount_attr` of mount_setattr(2)."""

    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def prctl(option: int, value: int) -> None:
    """Call prctl(2) on Linux; elsewhere do nothing. Raises OSError."""
    if sys.platform == "linux":
        _check(_libc().prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


def become_subreaper() -> None:
    """Become the parent of all descendants whose own parents end."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def end_with_parent() -> None:
    """Receive SIGKILL when the parent ends."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def make_untraceable() -> None:
    """Let no program of the same user read or trace this process."""
    prctl(PR_SET_DUMPABLE, 0)


def be_first_to_end() -> None:
    """Let the kernel end this process and its children first when the machine runs out of memory."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="utf-8")


def drop_privileges() -> None:
    """Make sure that this process cannot change its sandbox, now or after it has started another program."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    for capability in range(LAST_CAPABILITY + 1):
        if capability not in KEPT_CAPABILITIES:
            with suppress(OSError):  # this kernel does not have it
                prctl(PR_CAPBSET_DROP, capability)


def unshare_namespaces() -> None:
    """Put this process in a mount namespace of its own, and its children in a new process namespace.

    A user who is not root also needs a user namespace. Raises OSError if the machine does not allow it.
    """
    if sys.platform != "linux":
        raise OSError("there are no namespaces on this system")
    user, group = os.geteuid(), os.getegid()
    namespaces = os.CLONE_NEWNS | os.CLONE_NEWPID | os.CLONE_NEWIPC
    if user == 0:
        os.unshare(namespaces)
        return
    os.unshare(namespaces | os.CLONE_NEWUSER)
    for file, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        Path(f"/proc/self/{file}").write_text(text, encoding="utf-8")


def _mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind)]
    options = None if data is None else os.fsencode(data)
    _check(_libc().mount(*words, ctypes.c_ulong(flags), options), f"mount {target}")


def _set_read_only(path: str, *, is_read_only: bool, flags: int = 0) -> None:
    value = {"attr_set" if is_read_only else "attr_clr": MOUNT_ATTR_RDONLY}
    attributes = MountAttributes(**value)
    arguments = (
        ctypes.c_long(-100),  # AT_FDCWD
        ctypes.c_char_p(os.fsencode(path)),
        ctypes.c_ulong(flags),
        ctypes.byref(attributes),
        ctypes.c_size_t(ctypes.sizeof(attributes)),
    )
    _check(_libc().syscall(ctypes.c_long(SYS_MOUNT_SETATTR), *arguments), f"mount_setattr {path}")


def build_file_system(spec: LaunchSpec) -> None:
    """Mount the file system of a program. The process is the first one of its namespaces. Raises OSError."""
    writable = {path: os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC) for path in _writable(spec)}
    _mount("none", "/", None, MS_REC | MS_PRIVATE)
    _set_read_only("/", is_read_only=True, flags=AT_RECURSIVE)
    is_root = os.geteuid() == 0  # root may write to /proc/sys even without privileges
    _mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | (MS_RDONLY if is_root else 0))
    memory = f"size={spec.limits.max_memory_mib * MEBIBYTE // 2}"
    try:
        _cover_temporary_folder(memory)
    except OSError:  # a kernel before 5.11: the folder is shared with the machine
        _bind_writable(SHARED_TEMPORARY_FOLDER, SHARED_TEMPORARY_FOLDER)
    _mount("tmpfs", SHARED_MEMORY_FOLDER, "tmpfs", MS_NOSUID | MS_NODEV, f"{memory},mode=1777")
    for path in (*SERVICE_PATHS, *spec.hidden_folders):
        _hide(path)
    for path, descriptor in writable.items():
        Path(path).mkdir(parents=True, exist_ok=True)
        _bind_writable(f"/proc/self/fd/{descriptor}", path)
        os.close(descriptor)


def _bind_writable(source: str, target: str) -> None:
    _mount(source, target, None, MS_BIND | MS_REC)
    _set_read_only(target, is_read_only=False)


def _writable(spec: LaunchSpec) -> list[str]:
    """The writable folders, outer ones first. The root of the file system always stays read-only."""
    folders = {spec.cwd, f"{spec.folder}/{HOME_FOLDER}", f"{spec.folder}/{TEMPORARY_FOLDER}"} - {"/"}
    return sorted(folders, key=lambda path: path.count("/"))


def _cover_temporary_folder(memory: str) -> None:
    """Let the program see /tmp, and keep in memory what it writes there. Raises OSError."""
    place = SHARED_MEMORY_FOLDER  # covered once more when this is done
    _mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, f"{memory},mode=0700")
    upper, work = Path(place, "upper"), Path(place, "work")
    upper.mkdir()
    upper.chmod(0o1777)
    work.mkdir()
    layers = f"lowerdir={SHARED_TEMPORARY_FOLDER},upperdir={upper},workdir={work},userxattr"
    _mount("overlay", SHARED_TEMPORARY_FOLDER, "overlay", MS_NOSUID | MS_NODEV, layers)


def _hide(path: str) -> None:
    """Put an empty folder or file over a path, if there is one."""
    if Path(path).is_dir():
        _mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=0755")
    elif Path(path).exists():
        _mount("/dev/null", path, None, MS_BIND)


def bubblewrap_command(spec: LaunchSpec, command: list[str]) -> list[str]:
    """Return a command that runs another one in the same sandbox, made by bubblewrap, as its first process.

    Raises OSError if bubblewrap is not installed. /tmp is shared with the machine: bubblewrap cannot cover it.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise OSError("bubblewrap is not installed")
    hidden = [path for path in (*SERVICE_PATHS, *spec.hidden_folders) if Path(path).is_dir()]
    return [
        program,
        *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--as-pid-1", "--die-with-parent", "--cap-drop", "ALL"),
        *("--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--tmpfs", SHARED_MEMORY_FOLDER, "--proc", "/proc"),
        *("--bind", SHARED_TEMPORARY_FOLDER, SHARED_TEMPORARY_FOLDER),
        *(word for path in hidden for word in ("--tmpfs", path)),
        *(word for path in _writable(spec) for word in ("--bind", path, path)),
        *("--chdir", "/", "--"),
        *command,
    ]
