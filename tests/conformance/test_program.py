"""Programs under test: started, captured within bounds, and stopped with all their children."""

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from croupier.conformance.program import (
    ProgramError,
    ProgramUnderTest,
    StartError,
    error_suffix,
)
from croupier.core.command_line import describe_exit, split_command
from tests.net.raw_client import LOOPS, TIMEOUT_SECONDS, Run
from tests.ports import closed_port

FOREVER = "import signal; signal.pause()"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"


@pytest.fixture(params=LOOPS.values(), ids=LOOPS)
def run(request: pytest.FixtureRequest) -> Iterator[Run]:
    running = Run(request.param)
    yield running
    assert running.faults == [], "the loop was told of errors"


def python(script: str, *arguments: str) -> str:
    return shlex.join([sys.executable, "-c", script, *arguments])


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet reaped by its new parent does not."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


async def said(file: Path) -> str:
    """What a program has written into a file, as soon as it has."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not (file.exists() and (text := file.read_text()).endswith("\n")):
            await asyncio.sleep(0.005)
    return text


# The command line.


def test_the_address_is_filled_in_word_by_word() -> None:
    words = split_command("java -jar 'my game.jar' -s {host} --port={port}", {"host": "::1", "port": 1212})
    assert words == ["java", "-jar", "my game.jar", "-s", "::1", "--port=1212"]


def test_a_value_is_never_split() -> None:
    assert split_command("show {file}", {"file": "a b 'c"}) == ["show", "a b 'c"]


def test_another_name_in_braces_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"found \{prot\} in .*; allowed: \{host\}, \{port\}"):
        split_command("client {prot}", {"host": "127.0.0.1", "port": 1})


def test_other_braces_are_the_programs_own() -> None:
    assert split_command("awk '{print $1}' {} {1}", {"port": 1}) == ["awk", "{print $1}", "{}", "{1}"]


@pytest.mark.parametrize("command", ["", "  ", "client 'open"])
def test_a_command_line_that_makes_no_sense_is_an_error(command: str) -> None:
    with pytest.raises(ValueError, match="allowed: a "):
        split_command(command, {})


def test_nothing_is_expanded_by_a_shell(run: Run) -> None:
    async def main() -> bytes:
        async with await ProgramUnderTest.start("echo $HOME * > {port}", {"port": 7}) as program:
            assert await program.wait_ended(TIMEOUT_SECONDS) == 0
            return program.stdout

    assert run(main()) == b"$HOME * > 7\n"


# How it ends.


def test_the_exit_status_and_all_output_are_told(run: Run) -> None:
    async def main() -> None:
        script = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
        async with await ProgramUnderTest.start(python(script), {}) as program:
            assert await program.wait_ended(TIMEOUT_SECONDS) == 3
            assert (program.stdout, program.stderr, program.status) == (b"out\n", b"err\n", 3)
            assert program.stderr_excerpt() == "; its stderr: err"

    run(main())


def test_a_signal_is_told_as_a_negative_status(run: Run) -> None:
    async def main() -> None:
        async with await ProgramUnderTest.start(
            python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"), {}
        ) as program:
            assert await program.wait_ended(TIMEOUT_SECONDS) == -signal.SIGSEGV

    run(main())


def test_endings_are_told_in_words() -> None:
    assert [describe_exit(3), describe_exit(-11), describe_exit(-40)] == ["exit status 3", "SIGSEGV", "signal 40"]


def test_a_program_that_runs_has_no_status(run: Run) -> None:
    async def main() -> None:
        async with await ProgramUnderTest.start(python(FOREVER), {}) as program:
            assert await program.wait_ended(0.01) is None
            assert program.status is None

    run(main())


def test_its_input_is_empty(run: Run) -> None:
    async def main() -> None:
        async with await ProgramUnderTest.start(python("import sys; sys.exit(len(sys.stdin.read()))"), {}) as program:
            assert await program.wait_ended(TIMEOUT_SECONDS) == 0

    run(main())


def test_it_is_started_in_its_folder(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        async with await ProgramUnderTest.start(
            python("import os; print(os.getcwd())"), {}, folder=tmp_path
        ) as program:
            await program.wait_ended(TIMEOUT_SECONDS)
            assert program.stdout.decode().strip() == str(tmp_path.resolve())

    run(main())


@pytest.mark.parametrize("command", ["/no/such/program", "no-such-program-either", "/", "'a\0b'"])
def test_what_cannot_be_started_is_an_error(run: Run, command: str) -> None:
    with pytest.raises(ProgramError, match="cannot be started: "):
        run(ProgramUnderTest.start(command, {}))


def test_a_file_that_is_not_executable_is_an_error_with_its_remedy(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("#!/bin/sh\n")

    async def main() -> None:
        with pytest.raises(StartError, match=r"'./mine' cannot be started: .*; chmod \+x makes it executable"):
            await ProgramUnderTest.start("./mine", {}, folder=tmp_path)

    run(main())


def test_a_folder_that_is_not_there_is_an_error(run: Run, tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="cannot be started: "):
        run(ProgramUnderTest.start("echo", {}, folder=tmp_path / "none"))


# Nothing is left behind.


def test_stopping_asks_first(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        file = tmp_path / "ready"
        script = (
            "import signal, sys, pathlib; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM});"
            "pathlib.Path(sys.argv[1]).write_text('ready\\n'); signal.sigwait({signal.SIGTERM}); sys.exit('in order')"
        )
        program = await ProgramUnderTest.start(python(script, str(file)), {})
        await said(file)
        await program.stop(TIMEOUT_SECONDS)
        assert (program.status, program.stderr) == (1, b"in order\n")

    run(main())


def test_a_program_that_ignores_sigterm_is_killed(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        file = tmp_path / "ready"
        script = f"{DEAF}; import sys, pathlib; pathlib.Path(sys.argv[1]).write_text('ready\\n'); signal.pause()"
        program = await ProgramUnderTest.start(python(script, str(file)), {})
        await said(file)
        await program.stop(0.05)
        assert program.status == -signal.SIGKILL
        assert not alive(program.pid)

    run(main())


GRANDCHILD = f"""
import pathlib, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "{DEAF}; print('here', flush=True); signal.pause()"],
    stdout=subprocess.PIPE)
child.stdout.readline()
pathlib.Path(sys.argv[1]).write_text(f"{{child.pid}}\\n")
"""


@pytest.mark.parametrize("end", ["", FOREVER], ids=["parent-gone", "parent-there"])
def test_grandchildren_end_with_it(run: Run, tmp_path: Path, end: str) -> None:
    async def main() -> None:
        file = tmp_path / "pid"
        program = await ProgramUnderTest.start(python(GRANDCHILD + end, str(file)), {})
        pid = int(await said(file))
        if not end:
            assert await program.wait_ended(TIMEOUT_SECONDS) == 0
        await program.stop(0.05)
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while alive(pid):  # its new parent is notified of its end
                await asyncio.sleep(0.005)

    run(main())


def test_children_are_given_the_time_to_end_in_order(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        ready, done = tmp_path / "ready", tmp_path / "done"
        child = (
            "import pathlib, signal, sys, time\n"
            "def end(*_): time.sleep(0.1); pathlib.Path(sys.argv[2]).write_text('done\\n'); sys.exit()\n"
            "signal.signal(signal.SIGTERM, end); pathlib.Path(sys.argv[1]).write_text('ready\\n'); signal.pause()"
        )
        parent = "import subprocess, sys; subprocess.run([sys.executable, '-c', *sys.argv[1:]])"
        program = await ProgramUnderTest.start(python(parent, child, str(ready), str(done)), {})
        await said(ready)
        await program.stop(TIMEOUT_SECONDS)
        assert program.status == -signal.SIGTERM
        assert done.read_text() == "done\n"

    run(main())


def test_a_cancelled_stop_kills_all_the_same(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        file = tmp_path / "ready"
        script = f"{DEAF}; import sys, pathlib; pathlib.Path(sys.argv[1]).write_text('ready\\n'); signal.pause()"
        program = await ProgramUnderTest.start(python(script, str(file)), {})
        await said(file)
        stopping = asyncio.create_task(program.stop(TIMEOUT_SECONDS))
        await asyncio.sleep(0)
        stopping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stopping
        assert await program.wait_ended(TIMEOUT_SECONDS) == -signal.SIGKILL

    run(main())


def test_stopping_twice_is_once(run: Run) -> None:
    async def main() -> None:
        program = await ProgramUnderTest.start(python("pass"), {})
        await program.stop()
        await program.stop()
        assert program.status is not None

    run(main())


# What it writes.


def test_a_chatty_program_is_heard_within_bounds_and_not_killed(run: Run) -> None:
    async def main() -> None:
        script = "print('first'); [print('x' * 1000) for _ in range(5000)]; print('last')"
        async with await ProgramUnderTest.start(python(script), {}, max_output_bytes=1000) as program:
            assert await program.wait_ended(TIMEOUT_SECONDS) == 0
            assert program.has_written_too_much
            assert len(program.stdout) == 500
            assert program.stdout.startswith(b"first\nxxx")
            assert program.stdout.endswith(b"xxx\nlast\n")

    run(main())


def test_what_is_not_too_much_is_kept_whole(run: Run) -> None:
    async def main() -> None:
        script = "import sys; print(''.join(map(str, range(3000))), end='', file=sys.stderr)"
        async with await ProgramUnderTest.start(python(script), {}, max_output_bytes=1 << 16) as program:
            await program.wait_ended(TIMEOUT_SECONDS)
            assert program.stderr.decode() == "".join(map(str, range(3000)))
            assert not program.has_written_too_much

    run(main())


# Servers.

SERVER = """
import socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
connection, _ = server.accept()
connection.sendall(b"the first")
connection.recv(1)
"""

LASTING_SERVER = """
import socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    server.accept()
"""


def test_a_server_is_waited_for_and_its_first_client_is_ours(run: Run) -> None:
    async def main() -> None:
        port = closed_port()
        async with await ProgramUnderTest.start(python(SERVER, "{port}"), {"port": port}) as program:
            await program.wait_listening("127.0.0.1", port, TIMEOUT_SECONDS)
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            assert await reader.readexactly(9) == b"the first"
            writer.close()
            await writer.wait_closed()

    run(main())


def test_without_proc_net_listening_is_detected_by_connecting(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.conformance.listening.PROC_NET_FILES", (Path("/proc/net/no-such-table"),))

    async def main() -> None:
        port = closed_port()
        async with await ProgramUnderTest.start(python(LASTING_SERVER, "{port}"), {"port": port}) as program:
            await program.wait_listening("127.0.0.1", port, TIMEOUT_SECONDS)

    run(main())


def test_a_server_that_ends_at_once_is_told_with_its_errors(run: Run) -> None:
    async def main() -> None:
        port = closed_port()
        async with await ProgramUnderTest.start(python("import sys; sys.exit('no such deck')"), {}) as program:
            with pytest.raises(ProgramError, match=r"has ended \(exit status 1\) .* its stderr: no such deck"):
                await program.wait_listening("127.0.0.1", port, TIMEOUT_SECONDS)

    run(main())


def test_a_server_whose_port_another_program_has_taken_is_an_error(run: Run) -> None:
    async def main() -> None:
        port = closed_port()
        taken = await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", port)
        async with taken, await ProgramUnderTest.start(python(SERVER, "{port}"), {"port": port}) as program:
            assert await program.wait_ended(TIMEOUT_SECONDS) == 1
            with pytest.raises(ProgramError, match=r"Address already in use"):
                await program.wait_listening("127.0.0.1", port, TIMEOUT_SECONDS)

    run(main())


def test_a_server_that_never_listens_is_an_error(run: Run) -> None:
    async def main() -> None:
        port = closed_port()
        async with await ProgramUnderTest.start(python(FOREVER), {}) as program:
            with pytest.raises(
                ProgramError, match=rf"runs and takes .* 127.0.0.1:{port}; does .* another port than {{port}}\?"
            ):
                await program.wait_listening("127.0.0.1", port, 0.05)

    run(main())


def test_a_program_has_a_process_group_of_its_own(run: Run) -> None:
    async def main() -> None:
        async with await ProgramUnderTest.start(python(FOREVER), {}) as program:
            assert os.getpgid(program.pid) == program.pid != os.getpgrp()

    run(main())


@pytest.mark.parametrize(
    ("stderr", "line"),
    [
        ("", ""),
        ("one\ntwo\n", ": two"),
        ("Traceback (most recent call last):\n  at x\nValueError: no card\n", ": ValueError: no card"),
        (
            "thread 'main' panicked at main.rs:82:25:\ncalled\nnote: run with `RUST_BACKTRACE=1`\n",
            ": thread 'main' panicked at",
        ),
        ("c.js:2\nTypeError: no card\n    at emitErrorNT (node:net)\n\nNode.js v20.1\n", ": TypeError: no card"),
        ('Exception in thread "main" java.io.EOFException\n\tat C.main(C.java:4)\n', ': Exception in thread "main"'),
        (
            "me error: no neighbour\nTraceback\n  in read\nasyncio.exceptions.CancelledError\n",
            ": me error: no neighbour",
        ),
        ("Traceback\nasyncio.exceptions.CancelledError\n", ": asyncio.exceptions.CancelledError"),
    ],
)
def test_of_standard_error_the_line_is_quoted_that_names_the_error(stderr: str, line: str) -> None:
    found = error_suffix(stderr.encode())
    assert found.startswith(line)
    assert bool(found) == bool(stderr)
