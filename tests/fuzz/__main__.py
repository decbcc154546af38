"""Fuzzes the parsers with coverage guidance: `python -m tests.fuzz --seconds 60 [TARGET…]`.

Every target runs in a process of its own, because libFuzzer ends the process. Its corpus grows in
`.fuzz/TARGET`, and an input that raises is written to `.fuzz/TARGET-crash-…`. Exit status 1 if there is any.
"""

import argparse
import os
import subprocess
import sys
from hashlib import sha1
from importlib.util import find_spec
from pathlib import Path

FOLDER = Path(".fuzz")
MAX_INPUT_BYTES = 4096
MAX_MEMORY_MIB = 1024
INPUT_TIMEOUT_SECONDS = 10
INSTRUMENTED = ("croupier",)


def main() -> int:
    """Fuzz the targets one after another, each for the same time."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz the parsers.")
    parser.add_argument("targets", nargs="*", help="names of targets; all of them by default")
    parser.add_argument("--seconds", type=int, default=60, help="for each target (default: 60)")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if find_spec("atheris") is None:
        sys.stderr.write(
            "atheris is not installed: it exists for CPython on Linux (pip install -r requirements/fuzz.txt)\n"
        )
        return 2
    if options.one:
        fuzz(options.one, options.seconds)
    from tests.fuzz.targets import TARGETS

    if unknown := {*options.targets} - TARGETS.keys():
        parser.error(f"found {', '.join(sorted(unknown))}; allowed: {', '.join(TARGETS)}")
    failed = []
    for name in options.targets or TARGETS:
        sys.stdout.write(f"== {name}\n")
        sys.stdout.flush()
        command = [sys.executable, "-m", "tests.fuzz", "--one", name, "--seconds", str(options.seconds)]
        if subprocess.run(command, check=False).returncode:
            failed.append(name)
    sys.stdout.write(f"failed: {', '.join(failed)}\n" if failed else "no target has failed\n")
    return 1 if failed else 0


def fuzz(name: str, seconds: int) -> None:
    """Fuzz one target; ends the process."""
    import atheris

    with atheris.instrument_imports(include=[*INSTRUMENTED], enable_loader_override=False):
        from tests.fuzz.targets import TARGETS
    target = TARGETS[name]
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    for data in target.corpus():
        (folder / sha1(data, usedforsecurity=False).hexdigest()).write_bytes(data)
    arguments = [
        f"-max_total_time={seconds}",
        f"-max_len={MAX_INPUT_BYTES}",
        f"-rss_limit_mb={MAX_MEMORY_MIB}",
        f"-timeout={INPUT_TIMEOUT_SECONDS}",
        f"-artifact_prefix={folder}-",
        "-print_final_stats=1",
        "-verbosity=0",
    ]
    atheris.Setup([sys.argv[0], *arguments, os.fspath(folder)], target.run)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
