"""Bots that are programs: `croupier play ROOM --bot 'COMMAND -s {host} -p {port}'`."""

import sys
from collections.abc import Sequence
from time import perf_counter

from croupier.cli.output import fail, print_json
from croupier.clients.programs import Process, end_programs, start_program, terminated_as_interrupted
from croupier.core.command_line import describe_exit


def play_with_programs(name: str, commands: Sequence[Sequence[str]], server: str, *, as_json: bool) -> int:
    """Run the programs of a bot until all have ended, print a summary, and return the exit status.

    They play in parallel, have no standard input, and write to our output; with `as_json` all of it is standard error.
    Ctrl-C and SIGTERM end them. The status is 1 if a program fails. Raises OSError if one cannot be started.
    """
    started = perf_counter()
    statuses = run_programs(commands, stdout=sys.stderr.fileno() if as_json else None)
    seconds = perf_counter() - started
    if as_json:
        print_json({"bot": name, "house": server, "exit_statuses": statuses})
    else:
        ends = ", ".join(map(describe_exit, statuses))
        sys.stdout.write(f"{name} against {server}: {seconds:.1f} s, {ends}\n")
    failed = [status for status in statuses if status]
    return fail(f"the bot {name!r} has failed: {describe_exit(failed[0])}") if failed else 0


def run_programs(commands: Sequence[Sequence[str]], *, stdout: int | None = None) -> list[int]:
    """Run programs in parallel until all have ended, and return their exit statuses (−signal).

    What they have started ends with them. Raises OSError if one cannot be started; the others end then.
    """
    processes: list[Process] = []
    with terminated_as_interrupted():
        try:
            processes.extend(start_program(words, stdout=stdout) for words in commands)  # keeps those before an error
            return [process.wait() for process in processes]
        finally:
            end_programs(processes)
