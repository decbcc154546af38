"""The launcher: a process that forks a supervisor for each line of its standard input, a `LaunchSpec`.

It has one thread and imports little, so a fork is safe and takes a millisecond. It ends with its standard input.
"""

import gc
import os
import signal
import sys
from collections.abc import Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

from croupier.conformance.containment import sandbox
from croupier.conformance.containment.descendants import children_of
from croupier.conformance.containment.launch_spec import FAILED, LaunchSpec
from croupier.conformance.containment.supervisor import Pipes, supervise

SOURCE_FOLDER: Final = str(Path(__file__).parents[3])


def launcher_command(*arguments: str) -> list[str]:
    """The command that runs this module, and nothing that a folder or a variable of the user puts in its place."""
    code = f"import sys; sys.path.insert(0, {SOURCE_FOLDER!r}); from {__name__} import main; main(sys.argv[1:])"
    return [sys.executable, "-I", "-S", "-c", code, *arguments]


def main(arguments: Sequence[str]) -> None:
    """Run the launcher, or the supervisor inside a sandbox of bubblewrap if there are descriptors as arguments."""
    if arguments:
        _supervise_in_bubblewrap([int(word) for word in arguments])
    else:
        _serve()


def _serve() -> None:
    sandbox.become_subreaper()
    supervisors: set[int] = set()

    def reap(*_: object) -> None:
        """Wait for supervisors. If one was killed, its program is now a child of the launcher, and is killed, too."""
        pid, is_orphan_possible = -1, False
        while pid:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            is_orphan_possible |= pid != 0 and os.WIFSIGNALED(status)
            supervisors.discard(pid)
        if is_orphan_possible:
            kill_orphans(supervisors)

    signal.signal(signal.SIGCHLD, reap)
    gc.disable()  # a collection in a forked process would copy all of the memory
    rest = b""
    while data := os.read(0, 1 << 16):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
            pid = os.fork()
            if pid == 0:
                _run(LaunchSpec.from_json(line))
            supervisors.add(pid)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])


def kill_orphans(supervisors: Set[int]) -> None:
    """Kill all children but the supervisors. One that has ended meanwhile may be waited for already: see `reap`."""
    for orphan in set(children_of(os.getpid())) - supervisors:
        with suppress(ProcessLookupError):
            os.kill(orphan, signal.SIGKILL)


def _run(spec: LaunchSpec) -> NoReturn:
    """Supervise a program in this process, just forked."""
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sandbox.be_first_to_end()
        pipes = Pipes.open(spec.folder)
        try:
            _enter_sandbox(spec, pipes)
        except OSError as error:
            pipes.report(FAILED, error)
        except Exception as error:
            pipes.report(FAILED, f"{type(error).__name__}: {error}")
            raise
        status = 0
    finally:
        os._exit(status)


def _enter_sandbox(spec: LaunchSpec, pipes: Pipes) -> None:
    """Supervise a program in its sandbox. Raises OSError if there is none."""
    match spec.sandbox:
        case "none":
            supervise(spec, pipes, is_first_process=False)
        case "namespaces":
            sandbox.unshare_namespaces()
            first = os.fork()
            if first == 0:
                _supervise_as_first_process(spec, pipes)
            for each in (pipes.stdout, pipes.stderr, pipes.status, pipes.control):
                os.close(each)
            os.waitpid(first, 0)
        case "bubblewrap":
            description = os.memfd_create("spec")
            os.write(description, spec.to_json().encode())
            for each in (*pipes.numbers, description):
                os.set_inheritable(each, True)
            words = launcher_command(*map(str, (*pipes.numbers, description)))
            command = sandbox.bubblewrap_command(spec, words)
            os.dup2(pipes.stderr, 2)
            os.execv(command[0], command)  # noqa: S606 -- no shell is wanted


def _supervise_as_first_process(spec: LaunchSpec, pipes: Pipes) -> NoReturn:
    """Build the file system and supervise the program."""
    status = 1
    try:
        sandbox.end_with_parent()
        try:
            sandbox.build_file_system(spec)
        except OSError as error:
            pipes.report(FAILED, error)
        else:
            supervise(spec, pipes, is_first_process=True)
        status = 0
    finally:
        os._exit(status)


def _supervise_in_bubblewrap(numbers: Sequence[int]) -> None:
    *pipe_numbers, description = numbers
    for each in numbers:
        os.set_inheritable(each, False)
    sandbox.end_with_parent()
    with os.fdopen(description, "rb") as file:
        file.seek(0)
        spec = LaunchSpec.from_json(file.read())
    supervise(spec, Pipes(pipe_numbers), is_first_process=True)
