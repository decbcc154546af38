"""The switchboard carries words both ways: however they are cut or glued, as one write a read."""

import asyncio

import pytest

from croupier.core.session import Drop, Joined, Left, Received, Send
from croupier.logs import silent_logger
from croupier.net.endpoint import Connection, Endpoint
from tests.net.raw_client import Caller, Notes, Run, Wire, Words, kuhn, opened

GAMES = b"STRT P_1ACTN BETSTRT P_3STRT P_2ACTN CHKACTN CALactn fld\r\nSTRT P_1ACTN CHKACTN FLDDISC"
"""Games, refusals, tolerances and a goodbye; what the house says depends on luck, which the seed fixes."""


async def talk(flights: list[bytes]) -> bytes:
    """What a Kuhn house says, in all, to a client that says this."""
    async with opened(**kuhn()) as (_, address), Caller(address) as caller:
        for flight in flights:
            await caller.say(flight)
            await asyncio.sleep(0)
        return await caller.rest()


def test_words_that_arrive_together_are_answered_by_one_write(run: Run) -> None:
    async def main() -> None:
        board = Endpoint(Notes(), Words, silent_logger())
        wire = Wire()
        line = Connection(board)
        line.connection_made(wire)
        line.data_received(b"one\ntwo\nthr")
        line.data_received(b"ee\nfour\n")
        assert wire.writes == [b"one\ntwo\n", b"three\nfour\n"]

    run(main())


def test_one_read_gives_one_write_to_each_who_is_told(run: Run) -> None:
    async def main() -> None:
        session = Notes(
            lambda event, _: [Send(peer, event.message) for peer in (1, 2)] if type(event) is Received else []
        )
        board = Endpoint(session, Words, silent_logger())
        wires = [Wire(port=1), Wire(port=2)]
        lines = [Connection(board), Connection(board)]
        for line, wire in zip(lines, wires, strict=True):
            line.connection_made(wire)
        lines[0].data_received(b"one\ntwo\n")
        assert [wire.writes for wire in wires] == [[b"one\ntwo\n"], [b"one\ntwo\n"]]

    run(main())


def test_the_farewell_and_the_answers_before_it_are_one_write(run: Run) -> None:
    async def main() -> None:
        room = kuhn(bot="script:CAL")
        board = Endpoint(room["session"], room["codec"], silent_logger())
        wire = Wire()
        line = Connection(board)
        line.connection_made(wire)
        line.data_received(b"STRT P_3ABCD")
        assert wire.writes == [b"FAIL W_AFAIL W_ADISC"]
        assert wire.ended
        line.connection_lost(None)

    run(main())


def test_byte_by_byte_and_all_at_once_are_answered_alike(run: Run) -> None:
    async def main() -> None:
        whole = await talk([GAMES])
        assert whole.startswith(b"CARD C_")
        assert whole.count(b"FAIL W_A") >= 1
        assert await talk([GAMES[at : at + 1] for at in range(len(GAMES))]) == whole

    run(main())


@pytest.mark.parametrize("size", [2, 3, 7, 11])
def test_the_size_of_the_pieces_does_not_matter(run: Run, size: int) -> None:
    async def main() -> None:
        assert await talk([GAMES[at : at + size] for at in range(0, len(GAMES), size)]) == await talk([GAMES])

    run(main())


def test_a_client_that_has_said_all_it_had_to_say_still_gets_every_answer(run: Run) -> None:
    async def main() -> None:
        words = b"".join(b"word %d\n" % number for number in range(50_000))
        session = Notes()
        async with opened(session) as (_, address), Caller(address) as caller:
            saying = asyncio.ensure_future(caller.say(words))
            saying.add_done_callback(lambda _: caller.stop_talking())
            assert await caller.rest() == words
            await saying
            assert await session.hears(Left) == [Left(1, "hung up")]

    run(main())


def test_peers_are_counted_from_one_in_the_order_in_which_they_come(run: Run) -> None:
    async def main() -> None:
        session = Notes()
        async with opened(session) as (board, address):
            for number in (1, 2, 3):
                async with Caller(address) as caller:
                    await caller.ask(b"here\n", b"here\n")
                    assert session.events[-1] == Received(number, "here")
                    assert session.told(Joined)[-1] == Joined(number, caller.socket.getsockname())
                await session.hears(Left, number)
            assert board.counts.connections == 3

    run(main())


def test_nothing_that_is_said_behind_a_drop_is_heard(run: Run) -> None:
    async def main() -> None:
        session = Notes(
            lambda event, _: [Send(event.peer, "bye"), Drop(event.peer)] if type(event) is Received else [],
        )
        async with opened(session) as (_, address), Caller(address) as caller:
            await caller.say(b"one\ntwo\n")
            assert await caller.rest() == b"bye\n"
            await caller.say(b"three\n")
            caller.hang_up()
            await session.hears(Left)
            assert session.told(Received) == [Received(1, "one")]

    run(main())
