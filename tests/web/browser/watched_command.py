"""Commands with `--watch`, which serve a page while they work."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.processes import COMMAND, PATIENCE, environment


@contextmanager
def watched(*arguments: object) -> Iterator[str]:
    """Run `croupier ARGUMENTS --watch` and yield the URL of its page; end it with Ctrl-C, as a person does."""
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments), "--watch"],
        env=environment(),
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[-1]
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=PATIENCE)
        assert "The page stays until you press Ctrl-C." in output
        assert process.returncode == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
