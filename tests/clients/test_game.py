"""`croupier.connect`: games as typed messages, with and without an event loop."""

import asyncio
import ssl
from collections.abc import Callable

import pytest
import trustme

import croupier
from croupier.core.errors import IllegalMove
from croupier.rooms.kuhn.wire import VOCABULARY, Actn, Card, Disc, Fail, Strt
from tests.app.socket_harness import ServerThread
from tests.net.raw_client import Run, kuhn, opened
from tests.ports import closed_port

BET = Actn("BET")


def test_games_are_played_as_typed_messages(run: Run) -> None:
    async def main() -> None:
        async with (
            opened(**kuhn(bot="script:CAL")) as (endpoint, (host, port)),
            croupier.connect("kuhn", host, port) as game,
        ):
            for number in range(1, 4):
                assert game.legal == (Strt("P_1"), Strt("P_2"), Disc())
                await game.send(Strt("P_1"))
                card = await game.receive()
                assert isinstance(card, Card)
                assert {Actn("CHK"), BET} <= {*game.legal}
                await game.send(BET)
                shown_card = await game.receive()
                assert isinstance(shown_card, Card)
                assert shown_card != card
                assert len(game.nets) == number
                assert game.nets[-1] == (2 if "JQK".index(card.rank) > "JQK".index(shown_card.rank) else -2)
            assert endpoint.counts.games == 3

    run(main())


def test_games_are_played_without_an_event_loop(house: ServerThread) -> None:
    with croupier.connect("kuhn", *house.address) as game:
        assert game.legal == (Strt("P_1"), Strt("P_2"), Disc())
        game.send(Strt("P_1"))
        card = game.receive()
        game.send(BET)
        shown_card = game.receive()
        assert game.nets == [2 if "JQK".index(card.rank) > "JQK".index(shown_card.rank) else -2]
        assert game.player.last_game.net == game.nets[0]


def test_blocking_client_works_inside_a_running_loop(house: ServerThread) -> None:
    async def notebook() -> list[int]:
        with croupier.connect("kuhn", *house.address) as game:
            game.send(Strt("P_1"))
            game.receive()
            game.send(BET)
            game.receive()
            return game.nets

    assert len(asyncio.run(notebook())) == 1


def test_two_blocking_clients_at_the_same_time(house: ServerThread) -> None:
    with croupier.connect("kuhn", *house.address) as one, croupier.connect("kuhn", *house.address) as two:
        one.send(Strt("P_1"))
        two.send(Strt("P_2"))
        assert isinstance(two.receive(), Card)
        assert isinstance(one.receive(), Card)
        assert isinstance(two.receive(), Actn)


@pytest.mark.parametrize("message", [BET, Card("K"), Fail("W_A"), "STRT P_1"], ids=str)
def test_illegal_message_is_not_sent(run: Run, message: object) -> None:
    async def main() -> None:
        async with opened(**kuhn()) as (endpoint, (host, port)), croupier.connect("kuhn", host, port) as game:
            with pytest.raises(IllegalMove) as refused:
                await game.send(message)
            assert refused.value.found == message
            assert refused.value.allowed == (Strt("P_1"), Strt("P_2"), Disc())
            await game.send(Strt("P_1"))
            assert isinstance(await game.receive(), Card)
            assert endpoint.counts.messages_received == 1

    run(main())


def test_blocking_client_does_not_send_illegal_messages(house: ServerThread) -> None:
    with croupier.connect("kuhn", *house.address) as game:
        for message in VOCABULARY:
            if message not in game.legal:
                with pytest.raises(IllegalMove):
                    game.send(message)
        game.send(Strt("P_1"))
        assert isinstance(game.receive(), Card)
    assert house.endpoint.counts.violations == 0


def test_closed_port_is_a_connection_error(run: Run) -> None:
    async def main() -> None:
        port = closed_port()
        with pytest.raises(ConnectionError, match=f"127.0.0.1:{port}"):
            async with croupier.connect("kuhn", port=port):
                pass

    run(main())


def test_closed_port_is_a_connection_error_for_the_blocking_client() -> None:
    port = closed_port()
    with pytest.raises(ConnectionError, match=f"127.0.0.1:{port}"), croupier.connect("kuhn", port=port):
        pass


@pytest.mark.parametrize("host", ["no.such.host.invalid", "x" * 64 + ".invalid"], ids=["unknown", "impossible"])
def test_unknown_host_is_a_connection_error(host: str) -> None:
    with pytest.raises(ConnectionError, match=host), croupier.connect("kuhn", host):
        pass


def test_send_and_receive_raise_after_the_end(run: Run) -> None:
    async def main() -> None:
        async with opened(**kuhn()) as (endpoint, (host, port)), croupier.connect("kuhn", host, port) as game:
            endpoint.halt(final=True)
            assert await game.receive() == Disc()
            assert game.legal == ()
            for _ in range(2):
                with pytest.raises(ConnectionError):
                    await game.receive()
                with pytest.raises(ConnectionError):
                    await game.send(Strt("P_1"))

    run(main())


def test_send_after_the_goodbye_raises(run: Run) -> None:
    async def main() -> None:
        async with opened(**kuhn()) as (endpoint, (host, port)), croupier.connect("kuhn", host, port) as game:
            endpoint.halt(final=True)
            assert await game.receive() == Disc()
            with pytest.raises(ConnectionError):
                await game.send(Strt("P_1"))

    run(main())


def test_send_after_leaving_raises(run: Run) -> None:
    async def main() -> None:
        async with opened(**kuhn()) as (_, (host, port)):
            async with croupier.connect("kuhn", host, port) as game:
                pass
            assert game.legal == ()
            with pytest.raises(ConnectionError):
                await game.send(Strt("P_1"))

    run(main())


def test_goodbye_is_sent_only_once(house: ServerThread) -> None:
    with croupier.connect("kuhn", *house.address) as game:
        game.send(Disc())
        assert game.legal == ()
    assert house.endpoint.counts.messages_received == 1


def test_house_with_tls(loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    authority = trustme.CA()
    server, client = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert("127.0.0.1").configure_cert(server)
    authority.configure_trust(client)
    room = kuhn(bot="script:CAL")
    session = room.pop("session")
    with ServerThread(lambda: session, loop_factory, server, **room) as house:
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


def test_unknown_room_is_an_error_that_lists_the_rooms() -> None:
    with pytest.raises(ValueError, match="found the room 'chess'; allowed: kuhn"):
        croupier.connect("chess")


def test_default_port_is_the_port_of_the_room() -> None:
    assert croupier.connect("kuhn").address == ("127.0.0.1", 1212)
    assert croupier.connect("kuhn", port=0).address == ("127.0.0.1", 0)
