"""Containment: hostile programs harm nothing but themselves, and nothing of them is left.

Every program here is bounded by itself, too: a limit that does not work costs the machine little.
"""

import asyncio
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from croupier.conformance.containment import launch, launcher
from croupier.conformance.containment.descendants import children_of
from croupier.conformance.containment.launch import find_sandbox
from croupier.conformance.containment.launch_spec import PIPE_NAMES, LaunchSpec, Limits
from croupier.conformance.containment.launcher import launcher_command
from croupier.conformance.containment.policy import Containment, contained
from croupier.conformance.containment.supervisor import Pipes
from croupier.conformance.containment.workspace import remove_tree
from croupier.conformance.program import ProgramError, ProgramUnderTest
from tests.conformance.test_program import alive, python, said
from tests.net.raw_client import TIMEOUT_SECONDS
from tests.ports import closed_port

PATIENCE_SECONDS = 60.0
UNTIL_STOPPED = "import signal; signal.pause()"
UNSANDBOXED = Containment()
SANDBOXED = Containment(is_sandboxed=True)


@pytest.fixture(params=[UNSANDBOXED, SANDBOXED], ids=["limits-only", "sandbox"])
def containment(request: pytest.FixtureRequest) -> Containment:
    """Both ways."""
    found: Containment = request.param
    return found


async def start(command: str, containment: Containment, folder: Path | None = None) -> ProgramUnderTest:
    with contained(containment):
        return await ProgramUnderTest.start(command, {}, folder=folder)


async def run_to_end(
    script: str, *arguments: object, containment: Containment = UNSANDBOXED, folder: Path | None = None
) -> ProgramUnderTest:
    """Run a script until it ends."""
    async with await start(python(script, *map(str, arguments)), containment, folder) as program:
        assert await program.wait_ended(PATIENCE_SECONDS) is not None
    return program


async def gone(pid: int) -> None:
    """Wait until a process has ended."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while alive(pid):
            await asyncio.sleep(0.005)


def limited(containment: Containment, limits: Limits) -> Containment:
    return replace(containment, limits=limits)


# What it is given.


def test_a_program_has_a_clean_environment(monkeypatch: pytest.MonkeyPatch, containment: Containment) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "of the tester")
    monkeypatch.setenv("LANG", "C.UTF-8")
    script = (
        "import os; print(*sorted(os.environ)); print(os.environ['HOME'], os.environ['TMPDIR'], os.environ['LANG'])"
    )
    program = asyncio.run(run_to_end(script, containment=containment))
    names, values = program.stdout.decode().splitlines()
    allowed = {
        "CARGO_HOME",
        "GOROOT",
        "JAVA_HOME",
        "DOTNET_ROOT",
        "PYENV_ROOT",
        "RUSTUP_HOME",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
    }
    assert {"HOME", "LANG", "PATH", "TMPDIR"} <= {*names.split()} <= {"HOME", "LANG", "PATH", "TMPDIR"} | allowed
    home, temporary, language = values.split()
    assert language == "C.UTF-8"
    assert home != str(Path.home())
    assert not Path(home).exists(), "it is removed after the end"
    assert not Path(temporary).exists(), "it is removed after the end"


def test_other_variables_are_passed_on_request() -> None:
    wanted = Containment(variables={"DATABASE": "a b"})
    program = asyncio.run(run_to_end("import os; print(os.environ['DATABASE'])", containment=wanted))
    assert program.stdout == b"a b\n"


def test_no_descriptor_of_the_tester_is_inherited(containment: Containment) -> None:
    descriptor = os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    try:
        script = "import os; print(*os.listdir('/proc/self/fd'))"
        program = asyncio.run(run_to_end(script, containment=containment))
    finally:
        os.close(descriptor)
    assert {*program.stdout.split()} <= {b"0", b"1", b"2", b"3"}, "the last one lists the folder"


def test_a_folder_called_croupier_shadows_nothing(tmp_path: Path) -> None:
    for name in ("croupier", "json", "ctypes"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('shadowed')")
    variables = {**os.environ, "PYTHONPATH": str(tmp_path)}
    launcher = subprocess.run(
        launcher_command(),
        input=b"",
        cwd=tmp_path,
        env=variables,
        capture_output=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    assert (launcher.returncode, launcher.stderr) == (0, b"")


def test_its_temporary_folders_are_removed_whatever_is_in_them(containment: Containment) -> None:
    script = """
import os, pathlib
home = pathlib.Path.home()
print(home)
(home / "closed").mkdir()
(home / "closed" / "file").write_text("")
(home / "closed").chmod(0)
os.mkdir(os.fsencode(home) + b"/\\xff\\xfe")
os.chdir(home)
for _ in range(1100):
    os.mkdir("deep")
    os.chdir("deep")
"""
    program = asyncio.run(run_to_end(script, containment=containment))
    assert program.status == 0, program.stderr
    assert not Path(program.stdout.decode().strip()).exists()


# Limits.


def test_too_many_processes_end_the_program(containment: Containment, tmp_path: Path) -> None:
    bomb = """
import os, pathlib, signal, sys
for number in range(60):
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if number % 2:
            os.setsid()
        signal.alarm(60)
        signal.pause()
signal.alarm(60)
signal.pause()
"""
    few = limited(containment, Limits(max_processes=20))
    program = asyncio.run(run_to_end(bomb, containment=few))
    assert program.status == -signal.SIGKILL
    assert re.fullmatch(r"SIGKILL: it has \d+ processes; allowed: 20", program.end_description)


def test_too_much_memory_ends_the_program(containment: Containment) -> None:
    hog = """
import time
kept = []
for _ in range(40):
    kept.append(b"x" * (10 << 20))
    time.sleep(0.01)
time.sleep(60)
"""
    program = asyncio.run(run_to_end(hog, containment=limited(containment, Limits(max_memory_mib=100))))
    assert program.status == -signal.SIGKILL
    assert re.fullmatch(r"SIGKILL: it uses \d+ MiB of memory; allowed: 100 MiB", program.end_description)


def test_reserved_address_space_is_not_memory(containment: Containment) -> None:
    no_reserve = 0x4000  # Python 3.12 has no name for it
    flags = f"mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | {no_reserve}"
    script = (
        f"import mmap, time; reserved = mmap.mmap(-1, 64 << 30, flags={flags}, prot=mmap.PROT_READ); time.sleep(0.5)"
    )
    program = asyncio.run(run_to_end(script, containment=limited(containment, Limits(max_memory_mib=100))))
    assert program.status == 0, program.end_description


def test_memory_shared_by_forked_workers_counts_once(containment: Containment) -> None:
    script = """
import os, time
kept = b"x" * (60 << 20)
for _ in range(5):
    if os.fork() == 0:
        time.sleep(0.6)
        os._exit(0)
time.sleep(0.7)
"""
    program = asyncio.run(run_to_end(script, containment=limited(containment, Limits(max_memory_mib=150))))
    assert program.status == 0, program.end_description


def test_a_full_disk_is_prevented(containment: Containment) -> None:
    script = """
import os, sys, time
for number in range(12):
    with open(sys.argv[1] + "/" + str(number), "wb") as file:
        file.write(b"x" * (2 << 20))
time.sleep(60)
"""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        few = limited(containment, Limits(max_written_mib=10))
        program = asyncio.run(run_to_end(script, folder, containment=few, folder=Path(folder)))
    assert program.status == -signal.SIGKILL
    assert re.fullmatch(r"SIGKILL: it has written \d+ MiB; allowed: 10 MiB", program.end_description)


def test_what_ended_children_have_written_counts(containment: Containment) -> None:
    script = """
import os, sys, time
for number in range(6):
    child = os.fork()
    if child == 0:
        with open(sys.argv[1] + "/" + str(number), "wb") as file:
            file.write(b"x" * (4 << 20))
        os._exit(0)
    os.waitpid(child, 0)
time.sleep(60)
"""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        few = limited(containment, Limits(max_written_mib=10))
        program = asyncio.run(run_to_end(script, folder, containment=few, folder=Path(folder)))
    assert "has written" in program.end_description


def test_a_sparse_file_is_as_large_as_it_says(containment: Containment, tmp_path: Path) -> None:
    async def main() -> None:
        file = tmp_path / "sparse"
        command = f"truncate -s 1P {shlex.quote(str(file))}"
        async with await start(command, containment, tmp_path) as program:
            assert await program.wait_ended(TIMEOUT_SECONDS) == -signal.SIGXFSZ
            assert program.end_description == "SIGXFSZ: it has written a larger file than allowed"
        assert file.stat().st_size == 0

    asyncio.run(main())


def test_a_busy_loop_ends_with_its_processor_time() -> None:
    program = asyncio.run(run_to_end("while True: pass", containment=Containment(limits=Limits(max_cpu_seconds=1))))
    assert program.end_description == "SIGXCPU: it has used more processor time than allowed"


def test_there_are_no_core_files(containment: Containment) -> None:
    program = asyncio.run(
        run_to_end("import resource; print(resource.getrlimit(resource.RLIMIT_CORE))", containment=containment)
    )
    assert program.stdout == b"(0, 0)\n"


# Nothing is left behind.

DAEMON = """
import os, pathlib, signal, sys
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.closerange(0, 64)
    with open(sys.argv[1], "w") as file:
        file.write("ready\\n")
    signal.alarm(60)
    while True:
        signal.pause()
os.wait()
"""


@pytest.mark.parametrize("end", ["", UNTIL_STOPPED], ids=["parent-gone", "parent-there"])
def test_a_daemon_ends_with_the_program(containment: Containment, tmp_path: Path, end: str) -> None:
    async def main() -> None:
        file = tmp_path / "ready"
        marker = str(tmp_path)
        async with await start(python(DAEMON + end, str(file), marker), containment, tmp_path) as program:
            if end:
                await said(file)
                async with asyncio.timeout(TIMEOUT_SECONDS):
                    while len(running_with(marker)) != 2:  # the program and the daemon; their child may still be there
                        await asyncio.sleep(0.005)
            else:
                assert await program.wait_ended(TIMEOUT_SECONDS) == 0
            await program.stop(0.05)
            for process in running_with(marker):
                await gone(process)

    asyncio.run(main())


def running_with(marker: str) -> list[int]:
    """The processes with a word in their command line."""
    found = []
    for path in Path("/proc").iterdir():
        with suppress(OSError):
            if path.name.isdecimal() and marker in (path / "cmdline").read_text(errors="replace").split("\0"):
                found.append(int(path.name))
    return found


def test_a_program_ends_with_a_tester_that_is_killed(tmp_path: Path) -> None:
    script = """
import asyncio, pathlib, signal, sys
from croupier.conformance.program import ProgramUnderTest
async def main():
    program = await ProgramUnderTest.start("sleep 60", {})
    pathlib.Path(sys.argv[1]).write_text(f"{program.pid}\\n")
    await asyncio.sleep(60)
asyncio.run(main())
"""

    async def main() -> None:
        file = tmp_path / "pid"
        with subprocess.Popen([sys.executable, "-c", script, str(file)]) as tester:
            pid = int(await said(file))
            assert alive(pid)
            tester.kill()
        await gone(pid)

    asyncio.run(main())


def test_a_program_that_kills_its_supervisor_ends_with_it(tmp_path: Path) -> None:
    """It waits for a file, because it cannot see that its start is known."""
    script = """
import os, pathlib, signal, sys, time
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.01)
os.kill(os.getppid(), signal.SIGKILL)
signal.pause()
"""

    async def main() -> None:
        file = tmp_path / "started"
        async with await start(python(script, str(file)), UNSANDBOXED) as program:
            file.touch()
            assert await program.wait_ended(PATIENCE_SECONDS) is not None
            assert program.end_description == "SIGKILL: it has lost its supervisor"

    asyncio.run(main())


@pytest.mark.extended
def test_a_program_that_kills_the_launcher_does_not_stop_the_next_one() -> None:
    async def main() -> None:
        launcher = launch.LAUNCHER
        async with await ProgramUnderTest.start("true", {}):
            pass
        assert launcher._process is not None
        launcher._process.kill()
        launcher._process.wait()
        async with await ProgramUnderTest.start("echo again", {}) as program:
            assert await program.wait_ended(TIMEOUT_SECONDS) == 0
            assert program.stdout == b"again\n"

    asyncio.run(main())


def test_a_launcher_that_ends_before_it_has_started_a_program_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    send = launch.LAUNCHER.send

    def send_and_kill(spec: LaunchSpec) -> subprocess.Popen[bytes]:
        process = send(spec)
        process.kill()
        return process

    async def main() -> None:
        async with await ProgramUnderTest.start("true", {}):
            pass
        assert launch.LAUNCHER._process is not None
        launch.LAUNCHER._process.send_signal(signal.SIGSTOP)
        with monkeypatch.context() as patch:
            patch.setattr(launch.LAUNCHER, "send", send_and_kill)
            with pytest.raises(ProgramError, match="its launcher has ended"):
                await ProgramUnderTest.start("true", {})
        async with await ProgramUnderTest.start("echo again", {}) as program:
            assert await program.wait_ended(PATIENCE_SECONDS) == 0

    asyncio.run(main())


def test_an_orphan_that_has_been_waited_for_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    with subprocess.Popen(["sleep", "60"]) as orphan, subprocess.Popen(["true"]) as supervisor:
        monkeypatch.setattr(launcher, "children_of", lambda _: [ended.pid, orphan.pid, supervisor.pid])
        launcher.kill_orphans({supervisor.pid})
        assert (orphan.wait(), supervisor.wait()) == (-signal.SIGKILL, 0)


def test_a_program_that_closes_its_output_goes_on_until_it_is_stopped(containment: Containment) -> None:
    async def main() -> None:
        script = f"import os; os.close(1); os.close(2); {UNTIL_STOPPED}"
        async with await start(python(script), containment) as program:
            assert await program.wait_ended(0.3) is None
            await program.stop()
            assert program.status == -signal.SIGTERM

    asyncio.run(main())


def test_no_supervisor_is_left(containment: Containment) -> None:
    async def main() -> None:
        for _ in range(5):
            async with await start("true", containment) as program:
                await program.wait_ended(TIMEOUT_SECONDS)
        process = launch.LAUNCHER._process
        assert process is not None
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while children_of(process.pid):
                await asyncio.sleep(0.005)

    asyncio.run(main())


# The sandbox.


@pytest.fixture
def has_sandbox() -> bool:
    """Whether this machine has a sandbox: the tests show what a program can do with it and without."""
    found = asyncio.run(find_sandbox())
    assert (found.kind != "none") or found.reason, "why there is none"
    return found.kind != "none"


def test_bubblewrap_that_fails_is_no_sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    launcher = launch.Launcher()
    monkeypatch.setattr(launch, "LAUNCHER", launcher)
    ignored = launch.Callbacks(bytes, bytes)
    try:
        with pytest.raises(launch.LaunchError, match="its supervisor has failed"):
            asyncio.run(launch.LaunchedProgram.start([], tmp_path, UNSANDBOXED, ignored, "bubblewrap"))
    finally:
        launcher.close()


def test_only_its_own_folders_are_writable(has_sandbox: bool, tmp_path: Path) -> None:
    script = """
import os, pathlib, sys
for path in (os.getcwd(), os.environ["HOME"], os.environ["TMPDIR"], "/tmp", sys.argv[1]):
    try:
        pathlib.Path(path, "written").write_text("")
    except OSError as error:
        print(error.strerror)
    else:
        print("yes")
"""

    async def main() -> list[bytes]:
        work, results = tmp_path / "work", tmp_path.parent
        work.mkdir()
        command = python(script, "/var/tmp")
        async with await start(command, SANDBOXED, work) as program:
            assert await program.wait_ended(TIMEOUT_SECONDS) == 0
        assert (work / "written").exists()
        assert not (results / "written").exists()
        return program.stdout.splitlines()

    outcomes = asyncio.run(main())
    Path("/var/tmp/written").unlink(missing_ok=True)
    assert outcomes == [b"yes"] * 4 + [b"Read-only file system" if has_sandbox else b"yes"]


def test_what_is_hidden_is_empty_except_for_its_own_folder(has_sandbox: bool, tmp_path: Path) -> None:
    async def main() -> bytes:
        results = tmp_path / "results"
        work = results / "work" / "ada"
        work.mkdir(parents=True)
        (results / "marks.csv").write_text("ada;100")
        (results / "work" / "bob").mkdir()
        (work / "own").write_text("")
        hidden = Containment(is_sandboxed=True, hidden_folders=(results,))
        script = "import os, pathlib; [print(*sorted(os.listdir(path))) for path in ('../..', '..', '.')]"
        async with await start(python(script), hidden, work) as program:
            assert await program.wait_ended(TIMEOUT_SECONDS) == 0
        return program.stdout

    expected = b"work\nada\nown\n" if has_sandbox else b"marks.csv work\nada bob\nown\n"
    assert asyncio.run(main()) == expected


def test_other_processes_are_out_of_reach(has_sandbox: bool) -> None:
    async def main() -> bytes:
        script = "import os, sys\ntry: os.kill(int(sys.argv[1]), 0)\nexcept OSError as error: print(error.strerror)"
        async with await ProgramUnderTest.start("sleep 60", {}) as other:
            program = await run_to_end(script, other.pid, containment=SANDBOXED)
            assert other.status is None
        return program.stdout

    assert asyncio.run(main()) == (b"No such process\n" if has_sandbox else b"")


def test_the_sandbox_cannot_be_changed_from_inside(has_sandbox: bool) -> None:
    program = asyncio.run(run_to_end("import os; os.system('mount -o remount,rw / 2>&1')", containment=SANDBOXED))
    assert not has_sandbox or b"mount" in program.stdout


def test_the_network_of_the_tester_is_reachable(containment: Containment) -> None:
    async def main() -> bytes:
        port = closed_port()
        received = asyncio.get_running_loop().create_future()
        server = await asyncio.start_server(lambda *streams: received.set_result(streams), "127.0.0.1", port)
        script = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1]))).sendall(b'hello')"
        async with server, await start(python(script, str(port)), containment):
            async with asyncio.timeout(TIMEOUT_SECONDS):
                reader, writer = await received
                with closing(writer):
                    found: bytes = await reader.readexactly(5)
                    return found

    assert asyncio.run(main()) == b"hello"


# Removal.


def test_pipes_that_nobody_reads_any_more_are_not_waited_for(tmp_path: Path) -> None:
    for name in PIPE_NAMES:
        os.mkfifo(tmp_path / name)
    with pytest.raises(OSError, match="No such device or address"):
        Pipes.open(str(tmp_path))


def test_a_closed_folder_is_removed(tmp_path: Path) -> None:
    closed = tmp_path / "tree" / "closed"
    closed.mkdir(parents=True)
    (closed / "file").touch()
    closed.chmod(0)
    (tmp_path / "tree").chmod(0o500)
    remove_tree(tmp_path / "tree")
    assert not (tmp_path / "tree").exists()
