"""A house for the tests of clients."""

from collections.abc import Iterator

import pytest

from tests.app.socket_harness import ServerThread
from tests.net.raw_client import LOOPS, kuhn


@pytest.fixture
def house() -> Iterator[ServerThread]:
    """A Kuhn poker room in a thread; its house always calls."""
    room = kuhn(bot="script:CAL")
    session = room.pop("session")
    with ServerThread(lambda: session, [*LOOPS.values()][-1], **room) as server:
        yield server
