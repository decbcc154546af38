"""Runs the programs in `strangers` as processes."""

import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from subprocess import Popen

from tests.conformance.strangers import FOLDER
from tests.processes import PATIENCE, Serving, environment


def hosted(script: str, options: str = "") -> Serving:
    """Return a server program that runs while it is used as a context manager."""
    return Serving(command=[sys.executable, "-S", str(FOLDER / script), "0", *shlex.split(options)])


def run_programs(commands: Sequence[Sequence[str]], companions: Sequence[Sequence[str]] = ()) -> list[bytes]:
    """Run programs side by side until all have ended well, and return their standard outputs.

    The `companions` run until then, if they do not end well by themselves.
    """
    with ExitStack() as stack:
        programs = [
            stack.enter_context(
                Popen(one, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            )
            for one in (*commands, *companions)
        ]
        for program in programs:
            stack.callback(program.kill)
        outputs = [program.communicate(timeout=PATIENCE) for program in programs[: len(commands)]]
        ended = [program.poll() for program in programs]
    assert not any(ended[: len(commands)]), outputs
    assert not any(ended), ended
    return [output for output, _ in outputs]
