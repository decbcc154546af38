"""Options of `croupier check` and `croupier matrix`: what programs under test may do."""

import shlex
import sys
from pathlib import Path

import pytest

from croupier.cli.containment import ContainmentOptions
from croupier.cli.options import changed_options
from croupier.conformance.containment.launch_spec import Limits
from tests.processes import croupier

ONE_CASE = "kuhn/4.4/bet-fold-p1"


def script(text: str) -> str:
    return shlex.join([sys.executable, "-c", text, "{port}"])


def test_defaults_are_those_of_the_tester() -> None:
    options = ContainmentOptions()
    contained = options.containment(Path("results"))
    assert contained.limits == Limits()
    assert contained.is_sandboxed
    assert contained.hidden_folders == (Path("results"),)
    assert [*changed_options(options)] == []


def test_options_become_limits_and_the_flags_that_repeat_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE", "here")
    options = ContainmentOptions(
        max_memory_mib=3,
        max_processes=4,
        max_written_mib=5,
        max_cpu_seconds=6,
        env=["A=b=c", "DATABASE"],
        no_sandbox=True,
    )
    contained = options.containment()
    assert contained.limits == Limits(max_memory_mib=3, max_processes=4, max_written_mib=5, max_cpu_seconds=6)
    assert contained.variables == {"A": "b=c", "DATABASE": "here"}
    assert not contained.is_sandboxed
    assert shlex.join(changed_options(options)) == (
        "--max-memory-mib 3 --max-processes 4 --max-written-mib 5 --max-cpu-seconds 6 --env A=b=c --env DATABASE "
        "--no-sandbox"
    )


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--max-memory-mib", "0"), "found --max-memory-mib 0; allowed: 1 or more"),
        (("--max-processes", "-1"), "found --max-processes -1; allowed: 1 or more"),
        (("--env", "=x"), "found --env =x; allowed: NAME=VALUE, or the NAME of a variable that is set"),
        (("--env", "NO_SUCH_VARIABLE"), "found --env NO_SUCH_VARIABLE; allowed: NAME=VALUE, or the NAME of a"),
    ],
)
@pytest.mark.parametrize("command", ["check", "matrix"])
def test_an_option_without_a_meaning_is_an_error(
    command: str, options: tuple[str, str], error: str, tmp_path: Path
) -> None:
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "submission.toml").write_text('room = "kuhn"\nclient = "./client {port}"\n')
    target = [ONE_CASE, "--client", "true {port}"] if command == "check" else [tmp_path, "--out", tmp_path / "out"]
    done = croupier(command, *target, *options)
    assert done.returncode == 2
    assert error in done.stderr


def test_the_limit_that_a_server_exceeds_is_named() -> None:
    hog = script("import time; kept = b'x' * (80 << 20); time.sleep(30)")
    done = croupier("check", ONE_CASE, "--server", hog, "--max-memory-mib", 40)
    assert done.returncode == 2
    assert "has ended (SIGKILL: it uses " in done.stderr
    assert " MiB of memory; allowed: 40 MiB)" in done.stderr


def test_a_program_receives_only_the_variables_that_are_passed(tmp_path: Path) -> None:
    server = script("import os, sys; sys.exit(repr([os.environ.get(name) for name in ('SECRET', 'CHOSEN')]))")
    variables = {"SECRET": "of the tester", "CHOSEN": "by name"}
    done = croupier("check", ONE_CASE, "--server", server, "--env", "CHOSEN", variables=variables, cwd=tmp_path)
    assert "its stderr: [None, 'by name']" in done.stderr


def test_a_program_can_write_to_the_working_folder(tmp_path: Path) -> None:
    server = script("import pathlib; pathlib.Path('log').write_text('begun')")
    croupier("check", ONE_CASE, "--server", server, cwd=tmp_path)
    assert (tmp_path / "log").read_text() == "begun"
