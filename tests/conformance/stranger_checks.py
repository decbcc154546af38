"""Runs `croupier check` on the programs in `strangers`, which share no code with croupier, and hosts them."""

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random
from subprocess import Popen
from typing import NamedTuple

from tests.processes import PATIENCE, Serving, croupier, environment

FOLDER = Path(__file__).parent / "strangers"

CHECK_SECONDS = 240.0
"""The longest time that one run of the tester may take on a busy machine."""


class FalseAlarm(NamedTuple):
    """Cases that accuse a program with these options, although the document and the rulings allow what it does.

    `always` fail in every run, `sometimes` only if the cards or the clock fall that way. They are looked for in
    `selection`, or in the whole room.
    """

    reason: str
    always: frozenset[str]
    sometimes: frozenset[str] = frozenset()
    selection: str = ""

    @property
    def cases(self) -> frozenset[str]:
        return self.always | self.sometimes


type FalseAlarms = Mapping[str, FalseAlarm]
"""What the tester still gets wrong, by the options of the program. An entry goes when its cases accuse nobody."""


def case_ids(room: str, text: str) -> frozenset[str]:
    """Return the ids of cases that are listed without their room."""
    return frozenset(f"{room}/{word}" for word in text.split())


def command(script: str, *options: str) -> str:
    """Return the command line of a program, with the tester's placeholders in `options`."""
    return shlex.join([sys.executable, "-S", str(FOLDER / script)]) + " " + " ".join(options)


def hosted(script: str, options: str = "") -> Serving:
    """Return a server program that runs while it is used as a context manager."""
    return Serving(command=[sys.executable, "-S", str(FOLDER / script), "0", *shlex.split(options)])


def check(selection: str, *arguments: object) -> dict[str, str]:
    """Run the tester, and return the outcome of each case."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        done = croupier("check", selection, *arguments, "--quiet", "--report", f"json={report}", timeout=CHECK_SECONDS)
        assert report.exists(), done.stderr
        results = json.loads(report.read_text())["results"]
    outcomes = {result["case"]: result["outcome"] for result in results}
    assert done.returncode == 1 or "FAIL" not in outcomes.values(), done.stdout
    return outcomes


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


def failed(outcomes: Mapping[str, str]) -> set[str]:
    """The cases that accuse the program."""
    return {case for case, outcome in outcomes.items() if outcome == "FAIL"}


def skipped(outcomes: Mapping[str, str]) -> set[str]:
    """The cases that have judged nothing."""
    return {case for case, outcome in outcomes.items() if outcome == "SKIP"}


def assert_alarm(outcomes: Mapping[str, str], alarm: FalseAlarm) -> None:
    """The tester accuses the program by the known cases and no others."""
    found = failed(outcomes)
    assert alarm.always <= found, f"the list is too long: {sorted(alarm.always - found)} accuse nobody any more"
    assert found <= alarm.cases, f"new false alarms: {sorted(found - alarm.cases)}"


def readings(choices: Sequence[Sequence[str]], alarms: FalseAlarms) -> list[str]:
    """Return the options that differ from the default ones, one at a time, and bring no false alarm."""
    return [option for options in choices for option in options[1:] if option not in alarms]


def draw_options(choices: Sequence[Sequence[str]], alarms: FalseAlarms, seed: int) -> str:
    """Draw one option of each choice, among those that are known to bring no false alarm."""
    luck = Random(seed)
    return " ".join(luck.choice([option for option in options if option not in alarms]) for options in choices)
