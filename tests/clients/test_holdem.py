"""Hold'em clients and bots against our own server over real sockets, with and without an event loop."""

import asyncio
import gc
import ssl
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec
import pytest
import trustme

from croupier.clients import waiting
from croupier.clients.holdem import BlockingHoldemClient, HoldemClient, play_hands
from croupier.clients.holdem_api import ApiRequest, ApiResponse, Refusal
from croupier.clients.holdem_seat import HoldemSeat
from croupier.clients.play import BotTally
from croupier.core.bots import bot_factory
from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.core.errors import IllegalMove
from croupier.core.session import Effect, HandFinished, Send
from croupier.http.holdem_app import HoldemApp
from croupier.rooms.holdem.bots import BOT_SPECS
from croupier.rooms.holdem.engine.legal import FOLD
from croupier.rooms.holdem.wire import ACTION_BET, Act, ActDone, Game
from tests.clients.independent_server import IndependentServer, versioned
from tests.http.service_fixture import opened
from tests.net.raw_client import TIMEOUT_SECONDS, Run
from tests.sampling import extended

DIALECTS: Any = ["readme", "hspe-go"]


def url(service: HoldemApp) -> str:
    host, port = service.address
    return f"http://{host}:{port}"


def client(service: HoldemApp, user: str, retry_timeout: float = TIMEOUT_SECONDS) -> HoldemClient:
    return HoldemClient(url(service), user, "secret", retry_timeout=retry_timeout)


def blocking(service: HoldemApp, user: str) -> BlockingHoldemClient:
    return BlockingHoldemClient(url(service), user, "secret", retry_timeout=TIMEOUT_SECONDS)


async def play_together(service: HoldemApp, specs: Sequence[str], hands: int) -> list[BotTally]:
    """Let bots play at one table until one of them has played `hands` hands; return their tallies."""
    tallies = [BotTally() for _ in specs]

    async def bot(number: int, spec: str) -> None:
        luck = FairDealer(derive_server_seed(number, "bot", 1)).luck
        async with client(service, f"bot{number}") as user_client:
            await play_hands(user_client, bot_factory(BOT_SPECS, spec)(), luck, hands, tally=tallies[number])

    bots = [asyncio.create_task(bot(number, spec)) for number, spec in enumerate(specs)]
    done, others = await asyncio.wait(bots, return_when=asyncio.FIRST_COMPLETED)
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.gather(*done)
    return tallies


async def seated_users(service: HoldemApp) -> list[str]:
    """The users who sit at the first table."""
    async with client(service, "watcher") as watcher:
        await watcher.register()
        return [each.handle for each in (await watcher.list_games())[0].table]


async def call_along(table: HoldemSeat, hands: int = 1_000) -> None:
    """Check and call until `hands` hands are over."""
    caller, luck = bot_factory(BOT_SPECS, "caller")(), FairDealer(bytes(32)).luck
    async for _ in table:
        if len(table.nets) >= hands:
            return
        act = table.player.decide(caller, luck)
        if act is not None:
            await table.make_move(act)


# Bots


@pytest.mark.parametrize("dialect", DIALECTS)
def test_two_bots_play_a_zero_sum_game(run: Run, dialect: Any) -> None:
    async def main() -> None:
        async with opened(dialect) as service:
            first, other = await play_together(service, ["caller", "caller"], 12)
            assert (first.fault, other.fault, first.connections, other.connections) == (None, None, 1, 1)
            hands = min(len(first.nets), len(other.nets))
            assert max(len(first.nets), len(other.nets)) == 12
            assert hands >= 11
            assert first.nets[:hands] == [-net for net in other.nets[:hands]]
            assert any(first.nets)
            assert await seated_users(service) == []

    run(main())


@pytest.mark.parametrize("dialect", extended(DIALECTS, 2))
def test_all_bots_play_together_without_invalid_bets(run: Run, dialect: Any) -> None:
    async def main() -> None:
        observed_effects: list[Effect[Any]] = []
        async with opened(
            dialect, stack=400, observers=[lambda _, effects, __: observed_effects.extend(effects)]
        ) as service:
            tallies = await play_together(service, ["random", "maniac", "tight", "caller", "equity:10"], 15)
        assert [tally.fault for tally in tallies] == [None] * 5
        assert sum(isinstance(fact, HandFinished) for fact in observed_effects) >= 15
        acted = [
            fact.message for fact in observed_effects if isinstance(fact, Send) and isinstance(fact.message, ActDone)
        ]
        assert acted == [ActDone()] * len(acted)

    run(main())


def test_bot_without_a_number_of_hands_plays_until_it_is_broke(run: Run) -> None:
    async def main() -> None:
        async with opened(stack=40) as service, client(service, "ann") as ann, client(service, "bob") as bob:
            maniac = bot_factory(BOT_SPECS, "maniac")()
            bots = [asyncio.create_task(play_hands(each, maniac, FairDealer(bytes(32)).luck)) for each in (ann, bob)]
            done, others = await asyncio.wait(bots, return_when=asyncio.FIRST_COMPLETED)
            (broke,) = done
            assert sum(broke.result().nets) == -40
            assert broke.result().connections == 1
            assert broke.result().fault is None
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

    run(main())


def test_bot_without_rebuy_stops_when_it_is_broke(run: Run) -> None:
    async def main() -> None:
        async with opened(stack=40) as service, client(service, "ann") as ann, client(service, "bob") as bob:
            maniac = bot_factory(BOT_SPECS, "maniac")()
            luck = FairDealer(bytes(32)).luck
            bots = [asyncio.create_task(play_hands(each, maniac, luck, 1_000, rebuy=False)) for each in (ann, bob)]
            done, others = await asyncio.wait(bots, return_when=asyncio.FIRST_COMPLETED)
            (broke,) = done
            assert (sum(broke.result().nets), broke.result().connections, broke.result().fault) == (-40, 1, None)
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

    run(main())


def test_bot_with_rebuy_plays_until_it_is_cancelled(run: Run) -> None:
    async def main() -> None:
        async with opened(stack=40) as service, client(service, "ann") as ann, client(service, "bob") as bob:
            maniac = bot_factory(BOT_SPECS, "maniac")()
            other = asyncio.create_task(play_hands(ann, maniac, FairDealer(bytes(32)).luck, rebuy=True))
            tally = await play_hands(bob, maniac, FairDealer(bytes(32)).luck, 40)
            assert len(tally.nets) == 40
            assert not other.done()
            other.cancel()
            await asyncio.gather(other, return_exceptions=True)

    run(main())


def test_waiting_bot_logs_a_warning(
    run: Run, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "NOTICE_DELAY_SECONDS", 0.0)

    async def main() -> str:
        async with opened() as service, client(service, "ann") as ann:
            bot = asyncio.create_task(
                play_hands(ann, bot_factory(BOT_SPECS, "caller")(), FairDealer(bytes(32)).luck, 1_000)
            )
            while not caplog.messages:
                await asyncio.sleep(0)
            bot.cancel()
            await asyncio.gather(bot, return_exceptions=True)
            return url(service)

    address = run(main())
    assert caplog.messages == [f"ann is waiting for other players at {address}"]
    assert caplog.records[0].name == "croupier"


def test_wait_for_the_first_hand_is_bounded_only_if_a_limit_is_given(run_simulated: Run) -> None:
    notices: list[str] = []

    async def main() -> None:
        caller, luck = bot_factory(BOT_SPECS, "caller")(), FairDealer(bytes(32)).luck
        async with opened() as service, client(service, "ann") as ann:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(60.0):
                    await play_hands(ann, caller, luck, 3, notify=notices.append)
            tally = await play_hands(ann, caller, luck, 3, wait_seconds=8.0, notify=notices.append)
            assert (str(tally.fault), tally.nets) == ("waited 8 seconds for other players", [])
            tally = await play_hands(ann, caller, luck, 3, wait_seconds=2.0, notify=notices.append)
            assert str(tally.fault) == "waited 2 seconds for other players"
            assert await seated_users(service) == []
            assert notices == [f"ann is waiting for other players at {url(service)}"] * 2

    run_simulated(main())


def test_bot_whose_opponents_have_left_ends_if_it_has_a_number_of_hands(run_simulated: Run) -> None:
    async def main() -> None:
        caller, luck = bot_factory(BOT_SPECS, "caller")(), FairDealer(bytes(32)).luck
        async with opened() as service, client(service, "ann") as ann, client(service, "bob") as bob:
            long_run = asyncio.create_task(play_hands(ann, caller, luck, 1_000, notify=lambda _: None))
            assert len((await play_hands(bob, caller, luck, 5)).nets) == 5
            async with asyncio.timeout(40.0):
                tally = await long_run
            assert str(tally.fault) == "waited 30 seconds for other players"
            assert len(tally.nets) in {5, 6}
            assert await seated_users(service) == []
            endless_run = asyncio.create_task(play_hands(ann, caller, luck, notify=lambda _: None))
            assert len((await play_hands(bob, caller, luck, 5)).nets) == 5
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(60.0):
                    await endless_run

    run_simulated(main())


def test_wait_ends_when_another_player_comes(run_simulated: Run) -> None:
    async def main() -> None:
        caller, luck = bot_factory(BOT_SPECS, "caller")(), FairDealer(bytes(32)).luck
        async with opened() as service, client(service, "ann") as ann, client(service, "bob") as bob:
            waiting = asyncio.create_task(play_hands(ann, caller, luck, 4, wait_seconds=20.0, notify=lambda _: None))
            await asyncio.sleep(15.0)
            await bob.register()
            async with bob.sit() as table:
                await asyncio.sleep(12.0)  # ann has been dealt in: the limit of the wait is over
                await call_along(table, hands=4)
                tally = await waiting
        assert (tally.fault, len(tally.nets)) == (None, 4)

    run_simulated(main())


def test_playing_bot_logs_nothing(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with opened() as service:
            await play_together(service, ["caller", "caller"], 20)

    run(main())
    assert caplog.messages == []


def test_cancelled_bot_leaves_its_seat_and_keeps_its_tally(run: Run) -> None:
    async def main() -> None:
        async with opened() as service, client(service, "ann") as ann, client(service, "bob") as bob:
            tally = BotTally()
            caller, luck = bot_factory(BOT_SPECS, "caller")(), FairDealer(bytes(32)).luck
            bot = asyncio.create_task(play_hands(ann, caller, luck, tally=tally))
            await bob.register()
            async with bob.sit() as table:
                await call_along(table, hands=3)
                bot.cancel()
                with suppress(asyncio.CancelledError):
                    await bot
                assert await seated_users(service) == ["bob"]
                assert len(tally.nets) >= 2

    run(main())


def test_early_end_is_the_fault_of_the_tally(run: Run) -> None:
    async def main() -> None:
        caller, luck = bot_factory(BOT_SPECS, "caller")(), FairDealer(bytes(32)).luck
        async with opened() as service:
            async with HoldemClient(url(service), "ann", "secret") as ann:
                await ann.register()
            async with HoldemClient(url(service), "ann", "guessed") as liar:
                tally = await play_hands(liar, caller, luck)
            assert isinstance(tally.fault, Refusal)
            assert tally.fault.status == 401
            async with client(service, "bob", retry_timeout=0.0) as bob:
                bot = asyncio.create_task(play_hands(bob, caller, luck))
                async with client(service, "cat") as cat:
                    await cat.register()
                    (game,) = await cat.list_games()
                    async for state in cat.watch(game.game_id):
                        if [each.handle for each in state.table] == ["bob"]:
                            break
                await service.stop()
                tally = await bot
        assert isinstance(tally.fault, ConnectionError)
        assert tally.connections == 1

    run(main())


def test_unreachable_server_is_the_fault_of_the_tally(run: Run) -> None:
    async def main() -> None:
        async with opened() as service:
            address = url(service)
        async with HoldemClient(address, "ann", "secret", retry_timeout=0.0) as ann:
            tally = await play_hands(ann, bot_factory(BOT_SPECS, "caller")(), FairDealer(bytes(32)).luck)
        assert isinstance(tally.fault, ConnectionError)
        assert "POST /users/" in str(tally.fault)
        assert tally.connections == 0

    run(main())


def test_bot_with_an_illegal_move_is_stopped_and_leaves(run: Run) -> None:
    class Cheat:
        def choose(self, view: object, legal: object, luck: object) -> int:
            return 1

    async def main() -> None:
        async with opened() as service, client(service, "ann") as ann, client(service, "bob") as bob:
            await bob.register()
            async with bob.sit() as table:
                bot = asyncio.create_task(play_hands(ann, Cheat(), FairDealer(bytes(32)).luck))
                await call_along(table, hands=1)
                with pytest.raises(IllegalMove):
                    await bot
                assert await seated_users(service) == ["bob"]

    run(main())


# A person's table


@pytest.mark.parametrize("dialect", DIALECTS)
def test_seat_shows_the_game_and_makes_moves(run: Run, dialect: Any) -> None:
    async def main() -> None:
        async with opened(dialect) as service, client(service, "ann") as ann, client(service, "bob") as bob:
            await ann.register()
            await bob.register()
            async with ann.sit() as table:
                alone = await anext(table)
                assert table.player.view is None
                waiting = asyncio.create_task(anext(table))
                await bob.join(table.joined_game.game)
                game = await waiting
                assert [each.handle for each in game.table] == ["ann", "bob"]
                assert alone.game_id == game.game_id == table.joined_game.game
                view = table.player.view
                assert view is not None
                assert len(view.hole) == 2
                with pytest.raises(IllegalMove):
                    await table.make_move(15)
                assert await table.make_move(FOLD) is None
                await anext(table)
                assert table.nets == [-10]
            assert await seated_users(service) == ["bob"]

    run(main())


def test_cancelled_wait_can_be_repeated(run: Run) -> None:
    async def main() -> None:
        async with opened() as service, client(service, "ann") as ann, client(service, "bob") as bob:
            await ann.register()
            await bob.register()
            async with ann.sit() as table:
                await anext(table)
                for _ in range(2):
                    with pytest.raises(TimeoutError):
                        async with asyncio.timeout(0.05):
                            await anext(table)
                await bob.join()
                assert len((await anext(table)).table) == 2

    run(main())


def test_watch_needs_no_seat(run: Run) -> None:
    async def main() -> None:
        async with opened() as service, client(service, "ann") as ann, client(service, "bob") as bob:
            await ann.register()
            await bob.register()
            (game,) = await bob.list_games()
            joined = await ann.join()
            states: list[Game] = []
            async for each in bob.watch(game.game_id):
                states.append(each)
                if len(each.table) == 2:
                    await ann.leave(joined)
                elif len(states) == 1:
                    await bob.join()
                else:
                    break
            assert [[player.handle for player in each.table] for each in states] == [["ann"], ["ann", "bob"], ["bob"]]
            assert await bob.get_game(game.game_id) == states[-1]
        gc.collect()

    run(main())


def test_create_game(run: Run) -> None:
    async def main() -> None:
        async with opened() as service, client(service, "ann") as ann:
            await ann.register()
            joined = await ann.create_game()
            assert [each.game_id for each in await ann.list_games()][1] == joined.game
            async with ann.sit(joined.game) as table:
                assert (await anext(table)).table[0].handle == "ann"

    run(main())


def test_server_with_tls_and_a_private_authority(run: Run) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)

    async def main() -> None:
        async with opened(context=context) as service:
            address = url(service).replace("http:", "https:")
            async with HoldemClient(address, "ann", "secret", ssl=trusting) as ann:
                assert await ann.register()
            async with HoldemClient(address, "bob", "secret", retry_timeout=0.0) as bob:
                with pytest.raises(ConnectionError, match="certificate"):
                    await bob.register()

    run(main())


# Without an event loop


@pytest.mark.parametrize("dialect", DIALECTS)
def test_blocking_client_plays(run: Run, dialect: Any) -> None:
    def play_blocking(service: HoldemApp, user: str, hands: int) -> list[int]:
        caller, luck = bot_factory(BOT_SPECS, "caller")(), FairDealer(bytes(32)).luck
        with blocking(service, user) as user_client:
            user_client.register()
            with user_client.sit() as table:
                for game in table:
                    assert game.game_id == table.joined_game.game
                    act = table.player.decide(caller, luck)
                    if act is not None:
                        table.make_move(act)
                    if len(table.nets) >= hands:
                        break
                return table.nets

    async def main() -> None:
        async with opened(dialect) as service:
            first, other = await asyncio.gather(
                asyncio.to_thread(play_blocking, service, "ann", 3), asyncio.to_thread(play_blocking, service, "bob", 3)
            )
            assert first[:2] == [-net for net in other[:2]]

    run(main())


def test_blocking_client_lists_creates_and_watches_games(run: Run) -> None:
    def play_blocking(service: HoldemApp) -> None:
        with blocking(service, "ann") as ann, blocking(service, "bob") as bob:
            ann.register()
            bob.register()
            joined = ann.create_game()
            bob.join(joined.game)
            assert [each.game_id for each in ann.list_games()][1] == joined.game
            states = []
            for game in ann.watch(joined.game):
                states.append(len(game.table))
                if len(states) == 2:
                    break
                turn = game.turn
                call = Act("ann", game.game_id, turn.player_id, ACTION_BET, turn.bet_to_player - turn.bet_so_far)
                assert ann.act(call) is None
                bob.leave(bob.join(joined.game))
            assert states[0] == 2
            assert len(ann.get_game(joined.game).table) == 1

    async def main() -> None:
        async with opened() as service:
            await asyncio.to_thread(play_blocking, service)

    run(main())


def test_blocking_client_without_a_server_raises(run: Run) -> None:
    async def main() -> str:
        async with opened() as service:
            return url(service)

    address = run(main())
    with (
        BlockingHoldemClient(address, "ann", "secret", retry_timeout=0.15) as ann,
        pytest.raises(ConnectionError, match="POST /users/"),
    ):
        ann.register()


# Servers that are not ours


def versions_only() -> tuple[IndependentServer, Counter[str]]:
    """A server with versions but without streams; the game is gone after three requests, which are counted."""
    server, looks = IndependentServer(), Counter[str]()
    server.users = {"ann": "secret"}
    answer_with_version = versioned(server)

    def override(request: ApiRequest) -> ApiResponse | ConnectionError | None:
        found = answer_with_version(request)
        if found is not None:
            looks["game"] += 1
        return found if looks["game"] < 4 else ApiResponse(404, {}, b"no such game\n")

    server.override = override
    return server, looks


def test_server_without_streams_is_polled_until_the_game_ends(run: Run) -> None:
    server, looks = versions_only()

    async def main() -> int:
        async with HoldemClient("localhost", "ann", "secret", exchange=server) as ann, ann.sit() as table:
            return len([game async for game in table])

    assert run(main()) == 1
    assert looks["game"] == 4


def test_blocking_client_polls_until_the_game_ends() -> None:
    server, looks = versions_only()
    with BlockingHoldemClient("localhost", "ann", "secret", exchange=server) as ann, ann.sit() as table:
        assert len([*table]) == 1
    assert looks["game"] == 4


def test_closing_the_client_closes_its_streams(run: Run) -> None:
    async def main() -> None:
        async with opened() as service:
            async with client(service, "ann") as ann:
                await ann.register()
                joined = await ann.join()
                watched = ann.watch(joined.game)
                await anext(watched)
                async with client(service, "bob") as bob:
                    await bob.register()
                    await bob.join()
                game = await anext(watched)
                assert await ann.act(Act("ann", joined.game, game.turn.player_id, ACTION_BET, 10)) is None
            with pytest.raises(RuntimeError):
                await anext(watched)

    run(main())


def test_bot_stops_if_it_loses_its_seat_before_a_hand(run: Run) -> None:
    server = IndependentServer()
    looks = iter([200, 404] * 2)

    def override(request: ApiRequest) -> ApiResponse | None:
        if request.method != "GET" or request.path == "/games/":
            return None
        return msgspec.structs.replace(server.answer(request), status=next(looks))

    server.override = override

    async def main() -> BotTally:
        async with HoldemClient("localhost", "ann", "secret", exchange=server) as ann:
            return await play_hands(ann, bot_factory(BOT_SPECS, "caller")(), FairDealer(bytes(32)).luck, hands=1)

    tally = run(main())
    assert isinstance(tally.fault, ConnectionError)
    assert "before it finished a hand" in str(tally.fault)
    assert tally.connections == 1


# Addresses


@pytest.mark.parametrize("address", ["127.0.0.1:8080", "http://127.0.0.1:8080", "https://[::1]:8080/", "localhost"])
def test_url_without_a_scheme(run: Run, address: str) -> None:
    async def main() -> None:
        async with HoldemClient(address, "ann", "secret"):
            pass

    run(main())


@pytest.mark.parametrize("address", ["", "ftp://host", "http://", "http://host:port", "http://a:b@host", "http://h?q"])
def test_invalid_url_is_an_error(address: str) -> None:
    for kind in (HoldemClient, BlockingHoldemClient):
        with pytest.raises(ValueError, match="allowed: http://HOST:PORT"):
            kind(address, "ann", "secret")
