"""What has arrived for the user of a client: with waiting and without."""

import asyncio

import pytest

from croupier.clients.game import GameClient
from croupier.clients.inbox import Inbox
from croupier.core.errors import Violation
from croupier.rooms import HOUSE_ROOMS
from croupier.rooms.kuhn.wire import STRT
from tests.processes import PATIENCE
from tests.tui.fake_terminal import rogue


def test_items_are_taken_in_order_with_and_without_waiting() -> None:
    async def main() -> list[str]:
        inbox: Inbox[str] = Inbox()
        waiting = asyncio.ensure_future(inbox.wait())
        await asyncio.sleep(0)
        inbox.put("a")
        first = inbox.take()  # before the waiting task runs
        await asyncio.sleep(0)
        assert not waiting.done()
        assert inbox.first is None
        inbox.put("b")
        inbox.put("c")
        assert inbox.first == "b"
        return [first, await waiting, await inbox.wait()]

    assert asyncio.run(main()) == ["a", "b", "c"]


def test_nothing_can_be_taken_from_an_empty_inbox() -> None:
    with pytest.raises(IndexError):
        Inbox[str]().take()


async def received(answers: list[bytes], moves: list[object]) -> tuple[list[object], Exception, GameClient]:
    """Send moves to a house, and take what arrives without waiting after it; return it, the error and the client."""
    with rogue(answers) as house:
        client = GameClient(HOUSE_ROOMS["kuhn"], "127.0.0.1", house.port)
        async with asyncio.timeout(PATIENCE), client:
            found: list[object] = []
            for move in moves:
                await client.send(move)
                found.append(await client.receive())
            with pytest.raises((Violation, ConnectionError)) as error:
                await client.receive()
            assert client.receive_nowait() is None, "the end of the conversation is left to `receive`"
            return found, error.value, client


def test_a_house_that_hangs_up_differs_from_one_that_sends_a_wrong_message() -> None:
    async def main() -> None:
        _, error, client = await received([b"CARD C_K"], [STRT["P_1"]])
        assert isinstance(error, Violation)
        assert str(client.hangup) == "the server closed the connection"
        _, error, client = await received([b"CARD C_K\nCARD C_Q"], [STRT["P_1"]])
        assert isinstance(error, Violation)
        assert client.hangup is None

    asyncio.run(main())
