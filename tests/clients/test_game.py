"""`croupier.connect`: a conversation as typed messages, with a loop and without, and never a surprise."""

import asyncio
import socket
import ssl
from collections.abc import Callable, Iterator

import pytest
import trustme

import croupier
from croupier.core.errors import IllegalMove
from croupier.rooms.kuhn import Actn, Card, Disc, Fail, Strt
from croupier.rooms.kuhn.wire import VOCABULARY
from tests.app.socket_harness import Opened
from tests.net.raw_client import LOOPS, Run, kuhn, opened

BET = Actn("BET")


@pytest.fixture
def house() -> Iterator[Opened]:
    """A Kuhn room in a thread, whose house always calls."""
    room = kuhn(bot="script:CAL")
    session = room.pop("session")
    with Opened(lambda: session, [*LOOPS.values()][-1], **room) as found:
        yield found


def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def test_whole_games_are_played_as_typed_messages(run: Run) -> None:
    async def main() -> None:
        async with (
            opened(**kuhn(bot="script:CAL")) as (board, (host, port)),
            croupier.connect("kuhn", host, port) as game,
        ):
            for number in range(1, 4):
                assert game.legal == (Strt("P_1"), Strt("P_2"), Disc())
                await game.send(Strt("P_1"))
                card = await game.receive()
                assert isinstance(card, Card)
                assert {Actn("CHK"), BET} <= {*game.legal}
                await game.send(BET)
                shown = await game.receive()
                assert isinstance(shown, Card)
                assert shown != card
                assert len(game.nets) == number
                assert game.nets[-1] == (2 if "JQK".index(card.rank) > "JQK".index(shown.rank) else -2)
            assert board.counts.games == 3

    run(main())


def test_whole_games_are_played_without_a_loop(house: Opened) -> None:
    with croupier.connect("kuhn", *house.address) as game:
        assert game.legal == (Strt("P_1"), Strt("P_2"), Disc())
        game.send(Strt("P_1"))
        card = game.receive()
        game.send(BET)
        shown = game.receive()
        assert game.nets == [2 if "JQK".index(card.rank) > "JQK".index(shown.rank) else -2]
        assert game.player.last_game.net == game.nets[0]


def test_the_blocking_form_works_where_a_loop_is_running_already(house: Opened) -> None:
    async def notebook() -> list[int]:
        with croupier.connect("kuhn", *house.address) as game:
            game.send(Strt("P_1"))
            game.receive()
            game.send(BET)
            game.receive()
            return game.nets

    assert len(asyncio.run(notebook())) == 1


def test_two_conversations_go_on_at_the_same_time(house: Opened) -> None:
    with croupier.connect("kuhn", *house.address) as one, croupier.connect("kuhn", *house.address) as two:
        one.send(Strt("P_1"))
        two.send(Strt("P_2"))
        assert isinstance(two.receive(), Card)
        assert isinstance(one.receive(), Card)
        assert isinstance(two.receive(), Actn)


@pytest.mark.parametrize("message", [BET, Card("K"), Fail("W_A"), "STRT P_1"], ids=str)
def test_what_is_illegal_is_refused_before_anything_is_sent(run: Run, message: object) -> None:
    async def main() -> None:
        async with opened(**kuhn()) as (board, (host, port)), croupier.connect("kuhn", host, port) as game:
            with pytest.raises(IllegalMove) as refused:
                await game.send(message)
            assert refused.value.found == message
            assert refused.value.allowed == (Strt("P_1"), Strt("P_2"), Disc())
            await game.send(Strt("P_1"))
            assert isinstance(await game.receive(), Card)
            assert board.counts.messages_received == 1

    run(main())


def test_only_what_is_legal_is_sent_by_the_blocking_form(house: Opened) -> None:
    with croupier.connect("kuhn", *house.address) as game:
        for message in VOCABULARY:
            if message not in game.legal:
                with pytest.raises(IllegalMove):
                    game.send(message)
        game.send(Strt("P_1"))
        assert isinstance(game.receive(), Card)
    assert house.board.counts.violations == 0


def test_where_nobody_listens_the_connection_fails(run: Run) -> None:
    async def main() -> None:
        port = closed_port()
        with pytest.raises(ConnectionError, match=f"127.0.0.1:{port}"):
            async with croupier.connect("kuhn", port=port):
                pass

    run(main())


def test_where_nobody_listens_the_blocking_form_fails_too() -> None:
    port = closed_port()
    with pytest.raises(ConnectionError, match=f"127.0.0.1:{port}"), croupier.connect("kuhn", port=port):
        pass


@pytest.mark.parametrize("host", ["no.such.host.invalid", "x" * 64 + ".invalid"], ids=["unknown", "impossible"])
def test_a_host_that_does_not_exist_is_a_connection_that_fails(host: str) -> None:
    with pytest.raises(ConnectionError, match=host), croupier.connect("kuhn", host):
        pass


def test_after_the_end_there_is_nothing_to_hear_and_nothing_to_say(run: Run) -> None:
    async def main() -> None:
        async with opened(**kuhn()) as (board, (host, port)), croupier.connect("kuhn", host, port) as game:
            board.halt(final=True)
            assert await game.receive() == Disc()
            assert game.legal == ()
            for _ in range(2):
                with pytest.raises(ConnectionError):
                    await game.receive()
                with pytest.raises(ConnectionError):
                    await game.send(Strt("P_1"))

    run(main())


def test_what_is_said_between_the_goodbye_and_the_end_is_refused_and_not_lost(run: Run) -> None:
    async def main() -> None:
        async with opened(**kuhn()) as (board, (host, port)), croupier.connect("kuhn", host, port) as game:
            board.halt(final=True)
            assert await game.receive() == Disc()
            with pytest.raises(ConnectionError):
                await game.send(Strt("P_1"))

    run(main())


def test_what_is_said_after_leaving_is_refused_and_not_lost(run: Run) -> None:
    async def main() -> None:
        async with opened(**kuhn()) as (_, (host, port)):
            async with croupier.connect("kuhn", host, port) as game:
                pass
            assert game.legal == ()
            with pytest.raises(ConnectionError):
                await game.send(Strt("P_1"))

    run(main())


def test_goodbye_is_said_once_when_the_program_says_it_itself(house: Opened) -> None:
    with croupier.connect("kuhn", *house.address) as game:
        game.send(Disc())
        assert game.legal == ()
    assert house.board.counts.messages_received == 1


def test_a_house_behind_tls_is_played_with(loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    authority = trustme.CA()
    server, client = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert("127.0.0.1").configure_cert(server)
    authority.configure_trust(client)
    room = kuhn(bot="script:CAL")
    session = room.pop("session")
    with Opened(lambda: session, loop_factory, server, **room) as house:
        with croupier.connect("kuhn", *house.address, ssl=client) as game:
            game.send(Strt("P_1"))
            game.receive()
            game.send(BET)
            game.receive()
            assert len(game.nets) == 1
        with (
            pytest.raises(ConnectionError, match=r"(?i)certificate"),
            croupier.connect("kuhn", *house.address, ssl=ssl.create_default_context()),
        ):
            pass


def test_a_room_that_there_is_not_is_named_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="found the room 'chess'; allowed: kuhn"):
        croupier.connect("chess")


def test_the_room_s_own_port_is_called_unless_another_is_given() -> None:
    assert croupier.connect("kuhn")._game.address == ("127.0.0.1", 1212)
    assert croupier.connect("kuhn", port=0)._game.address == ("127.0.0.1", 0)
