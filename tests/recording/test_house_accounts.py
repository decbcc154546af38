"""With accounts a client has what it had when it left, and on every connection; it is told nothing that may be lost."""

import asyncio
import re
import ssl
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import trustme

from croupier.app.open_rooms import ServerConfig
from croupier.app.serve import check_config, make_tls_context
from croupier.core.dealer import Dealer, FairDealer
from croupier.core.private_table import Purse
from croupier.core.session import Closing, Joined, Received, Send, Timeouts
from croupier.recording.accounts import client_host, subject_name
from croupier.rooms import HOUSE_ROOMS
from croupier.rooms.blackjack import Bet, Err, Mon, Ply
from croupier.store.records import StoreUnavailable, WriteRefused
from croupier.store.store import open_store
from tests.net.raw_client import Caller, Run
from tests.recording.fake_store import Ink, Opened, balances, by_hand, games_in, kept
from tests.recording.test_house_recorder import CALLS, CARD, bet, is_cut_off, silent, until

HERE = "kuhn:127.0.0.1"


async def play(house: Opened, *said: bytes) -> bytes:
    """What is heard by somebody who says this, and then no more."""
    async with Caller(house.address) as caller:
        await caller.say(b"".join(said))
        caller.stop_talking()
        return await caller.rest()


async def gone(house: Opened) -> None:
    """Everybody has left."""
    await until(lambda: not house.board.connection_count)


def test_a_client_that_comes_again_has_what_it_had(run: Run, tmp_path: Path) -> None:
    """kuhn-7.1"""

    async def main() -> None:
        path = tmp_path / "kept.db"
        won = 0
        for visit in range(4):
            async with kept(path, by="address", seed=visit, **CALLS) as house:
                await play(house, b"STRT P_1ACTN BET")
            won = sum(game.net for game in await games_in(path))
            assert await balances(path) == {"cashier": -10, "kuhn": -won, HERE: 10 + won}
        assert [game.client for game in await games_in(path)] == [HERE] * 4
        async with await open_store(str(path)) as store:
            account = await store.account(HERE)
            assert account is not None
            lines = await store.statement(account.id)
        assert [line.coins for line in lines] == [10, *(game.net for game in await games_in(path))]
        first = (await games_in(path))[0]
        assert lines[0].reason == "first visit"
        assert lines[1].reason == f"kuhn/{first.table}/1"

    run(main())


def test_connections_of_one_client_share_a_purse_and_no_coin_is_staked_twice(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        at = kept(path, by="address", coins=1)
        async with at as house, Caller(house.address) as one, Caller(house.address) as other:
            await one.say(b"STRT P_1")
            assert CARD.fullmatch(await one.hear(8))
            await other.ask(b"STRT P_1", b"FAIL N_C")
            await one.say(b"DISC")
            assert await one.rest() == b""
            await other.ask(b"STRT P_1", b"FAIL N_C")
        assert await balances(path) == {"cashier": -1, "kuhn": 1, HERE: 0}

    run(main())


def test_a_room_s_accounts_are_its_own(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        for room in HOUSE_ROOMS:
            async with kept(path, room, by="address") as house:
                await play(house)
                await gone(house)
        found = await balances(path)
        assert {name: coins for name, coins in found.items() if ":" in name} == {
            HERE: 10,
            "sevenhalf:127.0.0.1": 1000,
            "blackjack:127.0.0.1": 1000,
        }

    run(main())


def test_a_winner_is_told_when_the_ledger_has_it(run: Run) -> None:
    async def main() -> None:
        ink = Ink()
        async with by_hand(ink, accounts=True, **CALLS) as house, Caller(house.address) as caller:
            await bet(caller)
            await until(lambda: ink.waiting)
            (transfer, _), _ = ink.waiting
            assert [posting.account for posting in transfer] == [7, 1]  # type: ignore[union-attr]
            assert sum(posting.coins for posting in transfer) == 0  # type: ignore[union-attr]
            await silent(caller)
            ink.done()
            assert CARD.fullmatch(await caller.hear(8))

    run(main())


def test_a_game_that_the_ledger_refuses_is_void_and_its_client_has_to_come_again(run: Run) -> None:
    async def main() -> None:
        ink = Ink()
        async with by_hand(ink, accounts=True, **CALLS) as house, Caller(house.address) as caller:
            await bet(caller)
            await until(lambda: ink.waiting)
            assert house.books.purses is not None
            purse = house.books.purses.purse_of(1)
            ink.done(WriteRefused("found 2 coins to be taken; allowed: 1"))
            await is_cut_off(caller)
            assert (purse.coins, purse.staked) == (0, 0)
            await gone(house)
            async with Caller(house.address) as again:
                await again.say(b"STRT P_1")
                assert CARD.fullmatch(await again.hear(8))
                assert house.books.purses.purse_of(2).coins == 9
            assert house.books.trouble is None

    run(main())


def test_a_page_that_is_written_again_asks_the_ledger_again(run: Run) -> None:
    async def main() -> None:
        ink = Ink()
        async with by_hand(ink, accounts=True, **CALLS) as house, Caller(house.address) as caller:
            await bet(caller)
            await until(lambda: ink.waiting)
            ink.fail()
            ink.there = 1
            ink.rises.set()
            await until(lambda: ink.waiting)
            assert [type(what) for what, _ in ink.waiting] == [tuple]  # the fact is there, the coins may be
            ink.done()
            assert CARD.fullmatch(await caller.hear(8))

    run(main())


def test_a_game_that_the_ledger_refuses_in_the_end_is_void_as_well(run: Run) -> None:
    async def main() -> None:
        ink = Ink()
        async with by_hand(ink, accounts=True, **CALLS) as house, Caller(house.address) as caller:
            await bet(caller)
            await until(lambda: ink.waiting)
            ink.fail()
            ink.there = 1
            ink.rises.set()
            await until(lambda: ink.waiting)
            ink.done(WriteRefused("found an account that is closed"))
            await is_cut_off(caller)
            assert house.books.trouble is None
            assert house.board.unavailable_reason is None

    run(main())


def test_what_an_administrator_does_is_seen_at_the_next_visit(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with kept(path, by="address", coins=0) as house:
            async with Caller(house.address) as caller:
                await caller.ask(b"STRT P_1", b"FAIL N_C")
                async with await open_store(str(path)) as store:
                    await store.credit(HERE, 5, reason="a present")
                await caller.ask(b"STRT P_1", b"FAIL N_C")
            await gone(house)
            async with Caller(house.address) as caller:
                await caller.say(b"STRT P_1")
                assert CARD.fullmatch(await caller.hear(8))
            await gone(house)
        async with await open_store(str(path)) as store:
            await store.close_account(HERE, reason="banned")
        async with kept(path, by="address") as house, Caller(house.address) as caller:
            assert await caller.rest() == b"DISC"
            assert house.board.counts.refused == Counter(account=1)

    run(main())


def test_coins_that_are_taken_while_they_are_staked_void_the_game(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with kept(path, by="address") as house, Caller(house.address) as caller:
            await caller.say(b"STRT P_1")
            assert CARD.fullmatch(await caller.hear(8))
            async with await open_store(str(path)) as store:
                await store.credit(HERE, -10, reason="taken back")
            await caller.say(b"DISC")
            await is_cut_off(caller)
        assert await balances(path) == {"cashier": 0, "kuhn": 0, HERE: 0}

    run(main())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("left", [0, 1])
def test_coins_that_are_taken_while_another_connection_idles_are_no_free_roll(
    run: Run, tmp_path: Path, seed: int, left: int
) -> None:
    """Neither a win nor a loss of a stake that is gone is settled, and no connection keeps the purse it came from."""

    async def main() -> None:
        path = tmp_path / "kept.db"
        at = kept(path, by="address", seed=seed, **CALLS)
        async with at as house, Caller(house.address) as idle, Caller(house.address) as one:
            await one.say(b"STRT P_1")
            assert CARD.fullmatch(await one.hear(8))
            async with await open_store(str(path)) as store:
                await store.credit(HERE, left - 10, reason="taken back")
            await one.say(b"ACTN BET")
            await is_cut_off(one)
            await is_cut_off(idle)
            await gone(house)
            async with Caller(house.address) as again:
                await again.say(b"STRT P_1")
                assert (await again.hear(8) == b"FAIL N_C") == (not left)
                again.hang_up()
                await gone(house)
        assert await balances(path) == {"cashier": -left, "kuhn": left, HERE: 0}  # an ante, if there was one, is lost

    run(main())


def test_with_the_stake_of_one_game_gone_all_games_of_the_client_are_void(run: Run, tmp_path: Path) -> None:
    """Otherwise a client would end the worst game first, and be paid for the best one."""

    async def main() -> None:
        path = tmp_path / "kept.db"
        at = kept(path, "blackjack", by="address")
        async with at as house, Caller(house.address) as one, Caller(house.address) as other:
            for caller in (one, other):
                await caller.say(b"PLYBET\0\0\1\xf4")
                await caller.hear(7 + 3 * 9 + 3)
            async with await open_store(str(path)) as store:
                await store.credit("blackjack:127.0.0.1", -500, reason="taken back")
            await one.say(b"SRD")
            await is_cut_off(one)
            await is_cut_off(other)
            await gone(house)
        assert await balances(path) == {"cashier": -500, "blackjack": 0, "blackjack:127.0.0.1": 500}

    run(main())


@pytest.mark.parametrize("coins", [2**31 - 1, 2**31, 2**40])
def test_a_client_with_more_than_a_number_can_tell_can_bet(run: Run, tmp_path: Path, coins: int) -> None:
    """blackjack-7.6"""
    name = "blackjack:127.0.0.1"

    async def main() -> None:
        path = tmp_path / "kept.db"
        async with await open_store(str(path)) as store:
            await store.add_account(name, coins=coins)
        async with kept(path, "blackjack", by="address") as house, Caller(house.address) as caller:
            await caller.ask(b"PLY", b"MON\x3f\xff\xff\xff")
            await caller.say(b"BET\x3f\xff\xff\xff")
            assert (await caller.hear(9)).startswith(b"CRD")
            caller.hang_up()
            await gone(house)
        assert (await balances(path))[name] == coins - (2**30 - 1)

    run(main())


def test_one_server_at_a_time_keeps_the_accounts_of_a_room(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with kept(path, by="address"):
            with pytest.raises(OSError, match="found another server that has kuhn open"):
                async with kept(path, by="address"):
                    pass
            async with kept(path):
                pass

    run(main())


def test_who_leaves_before_he_is_known_was_never_there(run: Run) -> None:
    async def main() -> None:
        ink = Ink()
        known = asyncio.Event()
        account = ink.account

        async def later(name: str) -> Any:
            await known.wait()
            return await account(name)

        ink.account = later  # type: ignore[method-assign]
        async with by_hand(ink, accounts=True) as house:
            async with Caller(house.address) as caller:
                await until(lambda: house.board.connection_count)
                caller.reset()
                await gone(house)
            async with Caller(house.address) as caller:
                await caller.say(b"STRT P_1")
                await silent(caller)
                known.set()
                assert CARD.fullmatch(await caller.hear(8))
            await until(lambda: ink.waiting)
            ((game,),) = ink.games
            assert game[:2] == [2, 1]

    run(main())


def test_a_house_that_closes_does_not_wait_until_everybody_is_known(run: Run) -> None:
    async def main() -> None:
        ink = Ink()

        async def never(name: str) -> Any:
            await asyncio.Event().wait()

        ink.account = never  # type: ignore[method-assign]
        async with by_hand(ink, accounts=True) as house, Caller(house.address) as caller:
            await caller.say(b"STRT P_1")
            await until(lambda: house.board.connection_count)
            house.board.halt(final=True)
            await is_cut_off(caller)
        assert ink.closed

    run(main())


def test_who_cannot_be_looked_up_is_refused(run: Run) -> None:
    async def main() -> None:
        ink = Ink()

        async def down(name: str) -> Any:
            raise StoreUnavailable(name)

        ink.account = down  # type: ignore[method-assign]
        async with by_hand(ink, accounts=True) as house, Caller(house.address) as caller:
            assert await caller.rest() == b"DISC"
            assert house.board.counts.refused == Counter(store=1)

    run(main())


def test_who_was_refused_takes_no_purse_with_him(run: Run) -> None:
    async def main() -> None:
        ink = Ink()
        account = ink.account

        async def down(name: str) -> Any:
            raise StoreUnavailable(name)

        ink.account = down  # type: ignore[method-assign]
        async with by_hand(ink, accounts=True, **CALLS) as house, Caller(house.address) as refused:
            assert await refused.rest() == b"DISC"
            ink.account = account  # type: ignore[method-assign]
            async with Caller(house.address) as one:
                await one.say(b"STRT P_1")
                assert CARD.fullmatch(await one.hear(8))
                refused.hang_up()
                await until(lambda: house.board.connection_count == 1)
                async with Caller(house.address) as other:
                    await other.ask(b"ACTN BET", b"FAIL W_A")
                    assert house.books.purses is not None
                    assert house.books.purses.purse_of(2) is house.books.purses.purse_of(3)

    run(main())


def test_seven_and_a_half_bets_no_more_than_there_is(run: Run, tmp_path: Path) -> None:
    """sevenhalf-7.6"""
    poor = b"ERRO 37not enough coins for the starting bet"

    async def main() -> None:
        path = tmp_path / "kept.db"
        async with kept(path, "sevenhalf", by="address", coins=99) as house:
            assert await play(house, b"STRT") == poor
        async with await open_store(str(path)) as store:
            await store.credit("sevenhalf:127.0.0.1", 51, reason="a present")
        async with kept(path, "sevenhalf", by="address") as house, Caller(house.address) as caller:
            await caller.say(b"STRTDRAW")
            assert (await caller.hear(16)).startswith(b"STBT \0\0\0\x64CARD")
            await caller.ask(b"ANTE \0\0\0\x33", b"ERRO 33ANTE 51 refused; allowed: 1 to 50")
            await caller.ask(b"ANTE \0\0\0\x32ANTE \0\0\0\x01", b"ERRO 32ANTE 1 refused; allowed: no more")
            caller.hang_up()
            await gone(house)
        assert (await balances(path))["sevenhalf:127.0.0.1"] == 0

    run(main())


def test_a_lenient_game_without_strt_costs_as_much() -> None:
    table = seated("sevenhalf", Purse(150), dialect="lenient")
    room = HOUSE_ROOMS["sevenhalf"]
    draw, strt = (next(m for m in room.sample_messages if str(m) == word) for word in ("DRAW", "STRT"))
    assert str(table.on(Received(1, draw), 0.0)[0].message).startswith("CARD")
    told = [str(effect.message) for effect in table.on(Received(1, strt), 0.0) if isinstance(effect, Send)]
    assert told == ["ERRO 37not enough coins for the starting bet"]
    again = seated("sevenhalf", Purse(99), dialect="lenient")
    assert str(again.on(Received(1, draw), 0.0)[0].message) == told[0]


def test_no_purse_is_ever_more_than_a_number_can_tell_however_many_rounds_are_won_at_once() -> None:
    """blackjack-7.6"""
    purse = Purse(2**30)
    one, other = seated("blackjack", purse), seated("blackjack", purse)
    for table in (one, other):
        assert table.on(Received(1, Ply()), 0.0) == [Send(1, Mon(purse.coins))]
    assert one.on(Received(1, Bet(2**29)), 0.0)[-1] != Send(1, Err(400))
    most = 2**31 - 1 - 2 * 2**29 - 2**29
    assert other.on(Received(1, Bet(most + 1)), 0.0) == [Send(1, Err(400))]
    assert other.on(Received(1, Bet(most)), 0.0)[-1] != Send(1, Err(400))
    assert purse.coins + 2 * purse.staked == 2**31 - 1


def test_a_game_that_is_void_gives_back_what_was_staked() -> None:
    for room, said in (("kuhn", b"STRT P_1"), ("blackjack", b"PLYBET\0\0\0\x07"), ("sevenhalf", b"STRTDRAW")):
        purse = Purse(1000)
        table = seated(room, purse)
        for message in HOUSE_ROOMS[room].codec(False, None).feed(said):
            table.on(Received(1, message), 0.0)
        assert purse.coins < 1000
        table.on(Closing(is_final=True), 0.0)
        assert purse.coins == 1000


def seated(room: str, purse: Purse, **settings: Any) -> Any:
    """A table whose client has this purse."""
    house = HOUSE_ROOMS[room]
    dealer: Dealer = FairDealer(bytes(32))
    table = house.house(house.settings(**settings), Timeouts(), False)(1, dealer, purse)
    table.on(Joined(1), 0.0)
    return table


def test_a_certificate_tells_who_comes_wherever_he_comes_from(run: Run, tmp_path: Path) -> None:
    authority = trustme.CA()
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(server)
    authority.configure_trust(server)
    server.verify_mode = ssl.CERT_REQUIRED
    path = tmp_path / "kept.db"

    people = {
        name: authority.issue_cert("client.example", common_name=name, organization_name="Club")
        for name in ("ann", "bob,O=Club")
    }

    async def talk(address: Any, name: str) -> bytes:
        context = ssl.create_default_context()
        authority.configure_trust(context)
        people[name].configure_cert(context)
        reader, writer = await asyncio.open_connection(*address, ssl=context, server_hostname="127.0.0.1")
        writer.write(b"STRT P_1DISC")
        heard = await reader.read()
        writer.close()
        await asyncio.wait([asyncio.ensure_future(writer.wait_closed())])
        return heard

    async def main() -> None:
        async with kept(path, by="certificate", tls=server) as house:
            for name in ("ann", "ann", "bob,O=Club"):
                assert CARD.fullmatch(await talk(house.address, name))
                await gone(house)
        found = await balances(path)
        named = {re.sub(r"OU=[^,]*", "OU=x", name): coins for name, coins in found.items() if ":" in name}
        assert named == {"kuhn:O=Club,OU=x,CN=ann": 8, r"kuhn:O=Club,OU=x,CN=bob\2cO\3dClub": 9}

    run(main())


def test_no_two_subjects_have_one_name() -> None:
    def named(**parts: str) -> str:
        return subject_name({"subject": tuple(((kind, value),) for kind, value in parts.items())})

    assert named(commonName="ann", organizationName="Club") == "CN=ann,O=Club"
    assert named(commonName="ann,O=Club") == r"CN=ann\2cO\3dClub"
    assert named(commonName="a\nb", serial="1") == r"CN=a\0ab,serial=1"
    assert named(commonName="x" * 300).startswith("sha256:")
    assert subject_name({"serialNumber": "01"}) != subject_name({"serialNumber": "02"})


def test_an_address_is_the_same_over_either_protocol() -> None:
    assert client_host(("::ffff:192.0.2.7", 1)) == client_host(("192.0.2.7", 2)) == "192.0.2.7"
    assert client_host(("2001:db8::1", 1)) == "2001:db8::1"
    assert client_host(None) == "unknown"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"journal": "off"}, "found --accounts with --journal off; allowed: --journal durable"),
        ({"journal": "async"}, "found --accounts with --journal async; allowed: --journal durable"),
        ({"accounts": "certificate"}, "found --accounts certificate without --tls-client-ca; allowed: both"),
    ],
)
def test_accounts_that_cannot_be_kept_are_refused_at_once(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=f"^{told}$"):
        check_config(ServerConfig(**{"accounts": "address"} | settings))


def test_an_authority_for_clients_needs_tls_and_a_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^found --tls-client-ca without --tls-cert; allowed: both"):
        make_tls_context(ServerConfig(tls_client_ca=tmp_path / "ca.pem"))
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    issued.private_key_pem.write_to_path(key)
    for blob in issued.cert_chain_pems:
        blob.write_to_path(cert, append=True)
    with pytest.raises(ValueError, match=r"^found no certificate of an authority in .*ca.pem"):
        make_tls_context(ServerConfig(tls_cert=cert, tls_key=key, tls_client_ca=tmp_path / "ca.pem"))
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = make_tls_context(ServerConfig(tls_cert=cert, tls_key=key, tls_client_ca=tmp_path / "ca.pem"))
    assert context is not None
    assert context.verify_mode is ssl.CERT_REQUIRED
