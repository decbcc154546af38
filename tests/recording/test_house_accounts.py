"""Accounts: coins persist between connections, and no client receives a result that a crash could lose."""

import asyncio
import re
import ssl
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import trustme

from croupier.app.config import ServerConfig
from croupier.core.dealer import Dealer, FairDealer
from croupier.core.private_table import Purse
from croupier.core.session import Closing, Joined, Received, Send, Timeouts
from croupier.recording.accounts import client_host, subject_name
from croupier.rooms import HOUSE_ROOMS
from croupier.rooms.blackjack.wire import Bet, Err, Mon, Ply
from croupier.store.records import StoreUnavailable, WriteRefused
from croupier.store.store import open_store
from tests.net.raw_client import RawClient, Run
from tests.recording.fake_store import (
    FakeStore,
    OpenedHouse,
    balances,
    house_with_fake_store,
    house_with_store,
    stored_games,
)
from tests.recording.test_house_recorder import (
    CALLING_BOT,
    CARD,
    expect_disconnect,
    expect_silence,
    unwritten_game,
    wait_until,
)
from tests.store.store_fixture import statement

LOCAL_ACCOUNT = "kuhn:127.0.0.1"


async def play(house: OpenedHouse, *messages: bytes) -> bytes:
    """Send messages on a new connection, half-close it, and return everything received."""
    async with RawClient(house.address) as caller:
        await caller.send(b"".join(messages))
        caller.end_output()
        return await caller.read_to_end()


async def wait_until_all_left(house: OpenedHouse) -> None:
    """Wait until all clients have disconnected."""
    await wait_until(lambda: not house.endpoint.connection_count)


def test_returning_client_keeps_its_coins(run: Run, tmp_path: Path) -> None:
    """kuhn-7.1"""

    async def main() -> None:
        path = tmp_path / "kept.db"
        won = 0
        for visit in range(4):
            async with house_with_store(path, by="address", seed=visit, **CALLING_BOT) as house:
                await play(house, b"STRT P_1ACTN BET")
            won = sum(game.net for game in await stored_games(path))
            assert await balances(path) == {"cashier": -10, "kuhn": -won, LOCAL_ACCOUNT: 10 + won}
        assert [game.client for game in await stored_games(path)] == [LOCAL_ACCOUNT] * 4
        async with await open_store(str(path)) as store:
            account = await store.account(LOCAL_ACCOUNT)
            assert account is not None
            lines = await statement(store, account.id)
        assert [line.coins for line in lines] == [10, *(game.net for game in await stored_games(path))]
        first = (await stored_games(path))[0]
        assert lines[0].reason == "first visit"
        assert lines[1].reason == f"kuhn/{first.table}/1"

    run(main())


def test_connections_of_one_client_share_a_purse(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        open_house = house_with_store(path, by="address", coins=1)
        async with open_house as house, RawClient(house.address) as one, RawClient(house.address) as other:
            await one.send(b"STRT P_1")
            assert CARD.fullmatch(await one.receive(8))
            await other.exchange(b"STRT P_1", b"FAIL N_C")
            await one.send(b"DISC")
            assert await one.read_to_end() == b""
            await other.exchange(b"STRT P_1", b"FAIL N_C")
        assert await balances(path) == {"cashier": -1, "kuhn": 1, LOCAL_ACCOUNT: 0}

    run(main())


def test_each_room_has_its_own_accounts(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        for room in HOUSE_ROOMS:
            async with house_with_store(path, room, by="address") as house:
                await play(house)
                await wait_until_all_left(house)
        found = await balances(path)
        assert {name: coins for name, coins in found.items() if ":" in name} == {
            LOCAL_ACCOUNT: 10,
            "sevenhalf:127.0.0.1": 1000,
            "blackjack:127.0.0.1": 1000,
        }

    run(main())


def test_client_receives_the_result_when_the_transfer_is_durable(run: Run) -> None:
    async def main() -> None:
        async with unwritten_game(accounts=True) as (store, _, caller):
            (transfer, _), _ = store.pending_writes
            assert [posting.account for posting in transfer] == [7, 1]  # type: ignore[union-attr]
            assert sum(posting.coins for posting in transfer) == 0  # type: ignore[union-attr]
            await expect_silence(caller)
            store.complete_writes()
            assert CARD.fullmatch(await caller.receive(8))

    run(main())


def test_refused_transfer_voids_the_game_and_disconnects_the_client(run: Run) -> None:
    async def main() -> None:
        async with unwritten_game(accounts=True) as (store, house, caller):
            assert house.recorder.purses is not None
            purse = house.recorder.purses.purse_of(1)
            store.complete_writes(WriteRefused("found 2 coins to be taken; allowed: 1"))
            await expect_disconnect(caller)
            assert (purse.coins, purse.staked) == (0, 0)
            await wait_until_all_left(house)
            async with RawClient(house.address) as again:
                await again.send(b"STRT P_1")
                assert CARD.fullmatch(await again.receive(8))
                assert house.recorder.purses.purse_of(2).coins == 9
            assert house.recorder.trouble is None

    run(main())


def test_repeated_batch_repeats_its_transfers(run: Run) -> None:
    async def main() -> None:
        async with unwritten_game(accounts=True) as (store, _, caller):
            store.fail_writes()
            store.stored_seq = 1
            store.is_up.set()
            await wait_until(lambda: store.pending_writes)
            # Only the transfer is repeated: the journal entry is stored already.
            assert [type(write) for write, _ in store.pending_writes] == [tuple]
            store.complete_writes()
            assert CARD.fullmatch(await caller.receive(8))

    run(main())


def test_transfer_refused_after_an_outage_voids_the_game(run: Run) -> None:
    async def main() -> None:
        async with unwritten_game(accounts=True) as (store, house, caller):
            store.fail_writes()
            store.stored_seq = 1
            store.is_up.set()
            await wait_until(lambda: store.pending_writes)
            store.complete_writes(WriteRefused("found an account that is closed"))
            await expect_disconnect(caller)
            assert house.recorder.trouble is None
            assert house.endpoint.unavailable_reason is None

    run(main())


def test_changes_by_an_administrator_take_effect_at_the_next_connection(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with house_with_store(path, by="address", coins=0) as house:
            async with RawClient(house.address) as caller:
                await caller.exchange(b"STRT P_1", b"FAIL N_C")
                async with await open_store(str(path)) as store:
                    await store.credit(LOCAL_ACCOUNT, 5, reason="a present")
                await caller.exchange(b"STRT P_1", b"FAIL N_C")
            await wait_until_all_left(house)
            async with RawClient(house.address) as caller:
                await caller.send(b"STRT P_1")
                assert CARD.fullmatch(await caller.receive(8))
            await wait_until_all_left(house)
        async with await open_store(str(path)) as store:
            await store.close_account(LOCAL_ACCOUNT, reason="banned")
        async with house_with_store(path, by="address") as house, RawClient(house.address) as caller:
            assert await caller.read_to_end() == b"DISC"
            assert house.endpoint.counts.refused == Counter(account=1)

    run(main())


def test_withdrawing_staked_coins_voids_the_game(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with house_with_store(path, by="address") as house, RawClient(house.address) as caller:
            await caller.send(b"STRT P_1")
            assert CARD.fullmatch(await caller.receive(8))
            async with await open_store(str(path)) as store:
                await store.credit(LOCAL_ACCOUNT, -10, reason="taken back")
            await caller.send(b"DISC")
            await expect_disconnect(caller)
        assert await balances(path) == {"cashier": 0, "kuhn": 0, LOCAL_ACCOUNT: 0}

    run(main())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("left", [0, 1])
def test_withdrawing_staked_coins_disconnects_idle_connections_too(
    run: Run, tmp_path: Path, seed: int, left: int
) -> None:
    """A game whose stake was withdrawn is not settled, and every connection that shared the purse is closed."""

    async def main() -> None:
        path = tmp_path / "kept.db"
        open_house = house_with_store(path, by="address", seed=seed, **CALLING_BOT)
        async with open_house as house, RawClient(house.address) as idle, RawClient(house.address) as one:
            await one.send(b"STRT P_1")
            assert CARD.fullmatch(await one.receive(8))
            async with await open_store(str(path)) as store:
                await store.credit(LOCAL_ACCOUNT, left - 10, reason="taken back")
            await one.send(b"ACTN BET")
            await expect_disconnect(one)
            await expect_disconnect(idle)
            await wait_until_all_left(house)
            async with RawClient(house.address) as again:
                await again.send(b"STRT P_1")
                assert (await again.receive(8) == b"FAIL N_C") == (not left)
                again.close()
                await wait_until_all_left(house)
        # The ante of the new game, if there was one, is forfeited.
        assert await balances(path) == {"cashier": -left, "kuhn": left, LOCAL_ACCOUNT: 0}

    run(main())


def test_withdrawing_one_stake_voids_all_games_of_the_client(run: Run, tmp_path: Path) -> None:
    """Otherwise a client could end its worst game first and be paid for the best one."""

    async def main() -> None:
        path = tmp_path / "kept.db"
        open_house = house_with_store(path, "blackjack", by="address")
        async with open_house as house, RawClient(house.address) as one, RawClient(house.address) as other:
            for caller in (one, other):
                await caller.send(b"PLYBET\0\0\1\xf4")
                await caller.receive(7 + 3 * 9 + 3)
            async with await open_store(str(path)) as store:
                await store.credit("blackjack:127.0.0.1", -500, reason="taken back")
            await one.send(b"SRD")
            await expect_disconnect(one)
            await expect_disconnect(other)
            await wait_until_all_left(house)
        assert await balances(path) == {"cashier": -500, "blackjack": 0, "blackjack:127.0.0.1": 500}

    run(main())


@pytest.mark.parametrize("coins", [2**31 - 1, 2**31, 2**40])
def test_client_with_more_coins_than_the_protocol_can_express_can_bet(run: Run, tmp_path: Path, coins: int) -> None:
    """blackjack-7.6"""
    name = "blackjack:127.0.0.1"

    async def main() -> None:
        path = tmp_path / "kept.db"
        async with await open_store(str(path)) as store:
            await store.add_account(name, coins=coins)
        async with house_with_store(path, "blackjack", by="address") as house, RawClient(house.address) as caller:
            await caller.exchange(b"PLY", b"MON\x3f\xff\xff\xff")
            await caller.send(b"BET\x3f\xff\xff\xff")
            assert (await caller.receive(9)).startswith(b"CRD")
            caller.close()
            await wait_until_all_left(house)
        assert (await balances(path))[name] == coins - (2**30 - 1)

    run(main())


def test_only_one_server_manages_the_accounts_of_a_room(run: Run, tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "kept.db"
        async with house_with_store(path, by="address"):
            with pytest.raises(OSError, match="found another server that has kuhn open"):
                async with house_with_store(path, by="address"):
                    pass
            async with house_with_store(path):
                pass

    run(main())


def test_client_that_leaves_during_the_lookup_never_joins(run: Run) -> None:
    async def main() -> None:
        store = FakeStore()
        looked_up = asyncio.Event()
        account = store.account

        async def account_after_lookup(name: str) -> Any:
            await looked_up.wait()
            return await account(name)

        store.account = account_after_lookup  # type: ignore[method-assign]
        async with house_with_fake_store(store, accounts=True) as house:
            async with RawClient(house.address) as caller:
                await wait_until(lambda: house.endpoint.connection_count)
                caller.reset()
                await wait_until_all_left(house)
            async with RawClient(house.address) as caller:
                await caller.send(b"STRT P_1")
                await expect_silence(caller)
                looked_up.set()
                assert CARD.fullmatch(await caller.receive(8))
            await wait_until(lambda: store.pending_writes)
            ((game,),) = store.pending_games
            assert game[:2] == [2, 1]

    run(main())


def test_closing_house_does_not_wait_for_lookups(run: Run) -> None:
    async def main() -> None:
        store = FakeStore()

        async def account_never(name: str) -> Any:
            await asyncio.Event().wait()

        store.account = account_never  # type: ignore[method-assign]
        async with house_with_fake_store(store, accounts=True) as house, RawClient(house.address) as caller:
            await caller.send(b"STRT P_1")
            await wait_until(lambda: house.endpoint.connection_count)
            house.endpoint.halt(final=True)
            await expect_disconnect(caller)
        assert store.closed

    run(main())


def test_client_is_refused_if_the_lookup_fails(run: Run) -> None:
    async def main() -> None:
        store = FakeStore()

        async def account_unavailable(name: str) -> Any:
            raise StoreUnavailable(name)

        store.account = account_unavailable  # type: ignore[method-assign]
        async with house_with_fake_store(store, accounts=True) as house, RawClient(house.address) as caller:
            assert await caller.read_to_end() == b"DISC"
            assert house.endpoint.counts.refused == Counter(store=1)

    run(main())


def test_refused_client_does_not_close_the_shared_purse(run: Run) -> None:
    async def main() -> None:
        store = FakeStore()
        account = store.account

        async def account_unavailable(name: str) -> Any:
            raise StoreUnavailable(name)

        store.account = account_unavailable  # type: ignore[method-assign]
        async with (
            house_with_fake_store(store, accounts=True, **CALLING_BOT) as house,
            RawClient(house.address) as refused,
        ):
            assert await refused.read_to_end() == b"DISC"
            store.account = account  # type: ignore[method-assign]
            async with RawClient(house.address) as one:
                await one.send(b"STRT P_1")
                assert CARD.fullmatch(await one.receive(8))
                refused.close()
                await wait_until(lambda: house.endpoint.connection_count == 1)
                async with RawClient(house.address) as other:
                    await other.exchange(b"ACTN BET", b"FAIL W_A")
                    assert house.recorder.purses is not None
                    assert house.recorder.purses.purse_of(2) is house.recorder.purses.purse_of(3)

    run(main())


def test_seven_and_a_half_bets_at_most_the_purse(run: Run, tmp_path: Path) -> None:
    """sevenhalf-7.6"""
    poor = b"ERRO 37not enough coins for the starting bet"

    async def main() -> None:
        path = tmp_path / "kept.db"
        async with house_with_store(path, "sevenhalf", by="address", coins=99) as house:
            assert await play(house, b"STRT") == poor
        async with await open_store(str(path)) as store:
            await store.credit("sevenhalf:127.0.0.1", 51, reason="a present")
        async with house_with_store(path, "sevenhalf", by="address") as house, RawClient(house.address) as caller:
            await caller.send(b"STRTDRAW")
            assert (await caller.receive(16)).startswith(b"STBT \0\0\0\x64CARD")
            await caller.exchange(b"ANTE \0\0\0\x33", b"ERRO 33ANTE 51 refused; allowed: 1 to 50")
            await caller.exchange(b"ANTE \0\0\0\x32ANTE \0\0\0\x01", b"ERRO 32ANTE 1 refused; allowed: no more")
            caller.close()
            await wait_until_all_left(house)
        assert (await balances(path))["sevenhalf:127.0.0.1"] == 0

    run(main())


def test_lenient_game_without_strt_needs_the_starting_bet() -> None:
    table = joined_table("sevenhalf", Purse(150), dialect="lenient")
    room = HOUSE_ROOMS["sevenhalf"]
    draw, strt = (next(m for m in room.sample_messages if str(m) == word) for word in ("DRAW", "STRT"))
    assert str(table.on(Received(1, draw), 0.0)[0].message).startswith("CARD")
    answers = [str(effect.message) for effect in table.on(Received(1, strt), 0.0) if isinstance(effect, Send)]
    assert answers == ["ERRO 37not enough coins for the starting bet"]
    again = joined_table("sevenhalf", Purse(99), dialect="lenient")
    assert str(again.on(Received(1, draw), 0.0)[0].message) == answers[0]


def test_shared_purse_never_exceeds_what_the_protocol_can_express() -> None:
    """blackjack-7.6"""
    purse = Purse(2**30)
    one, other = joined_table("blackjack", purse), joined_table("blackjack", purse)
    for table in (one, other):
        assert table.on(Received(1, Ply()), 0.0) == [Send(1, Mon(purse.coins))]
    assert one.on(Received(1, Bet(2**29)), 0.0)[-1] != Send(1, Err(400))
    max_bet = 2**31 - 1 - 2 * 2**29 - 2**29
    assert other.on(Received(1, Bet(max_bet + 1)), 0.0) == [Send(1, Err(400))]
    assert other.on(Received(1, Bet(max_bet)), 0.0)[-1] != Send(1, Err(400))
    assert purse.coins + 2 * purse.staked == 2**31 - 1


def test_void_game_returns_the_stake() -> None:
    for room, messages in (("kuhn", b"STRT P_1"), ("blackjack", b"PLYBET\0\0\0\x07"), ("sevenhalf", b"STRTDRAW")):
        purse = Purse(1000)
        table = joined_table(room, purse)
        for message in HOUSE_ROOMS[room].codec(False, None).feed(messages):
            table.on(Received(1, message), 0.0)
        assert purse.coins < 1000
        table.on(Closing(is_final=True), 0.0)
        assert purse.coins == 1000


def joined_table(room: str, purse: Purse, **settings: Any) -> Any:
    """A private table that a client with this purse has joined."""
    house = HOUSE_ROOMS[room]
    dealer: Dealer = FairDealer(bytes(32))
    table = house.house(house.settings(**settings), Timeouts(), False)(1, dealer, purse)
    table.on(Joined(1), 0.0)
    return table


def test_clients_are_identified_by_their_certificates(run: Run, tmp_path: Path) -> None:
    authority = trustme.CA()
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(server)
    authority.configure_trust(server)
    server.verify_mode = ssl.CERT_REQUIRED
    path = tmp_path / "kept.db"

    certificates = {
        name: authority.issue_cert("client.example", common_name=name, organization_name="Club")
        for name in ("ann", "bob,O=Club")
    }

    async def play_with_certificate(address: Any, name: str) -> bytes:
        context = ssl.create_default_context()
        authority.configure_trust(context)
        certificates[name].configure_cert(context)
        reader, writer = await asyncio.open_connection(*address, ssl=context, server_hostname="127.0.0.1")
        writer.write(b"STRT P_1DISC")
        received = await reader.read()
        writer.close()
        await asyncio.wait([asyncio.ensure_future(writer.wait_closed())])
        return received

    async def main() -> None:
        async with house_with_store(path, by="certificate", tls=server) as house:
            for name in ("ann", "ann", "bob,O=Club"):
                assert CARD.fullmatch(await play_with_certificate(house.address, name))
                await wait_until_all_left(house)
        found = await balances(path)
        balances_without_unit = {
            re.sub(r"OU=[^,]*", "OU=x", name): coins for name, coins in found.items() if ":" in name
        }
        assert balances_without_unit == {"kuhn:O=Club,OU=x,CN=ann": 8, r"kuhn:O=Club,OU=x,CN=bob\2cO\3dClub": 9}

    run(main())


def test_different_subjects_have_different_names() -> None:
    def name_of(**parts: str) -> str:
        return subject_name({"subject": tuple(((kind, value),) for kind, value in parts.items())})

    assert name_of(commonName="ann", organizationName="Club") == "CN=ann,O=Club"
    assert name_of(commonName="ann,O=Club") == r"CN=ann\2cO\3dClub"
    assert name_of(commonName="a\nb", serial="1") == r"CN=a\0ab,serial=1"
    assert name_of(commonName="x" * 300).startswith("sha256:")
    assert subject_name({"serialNumber": "01"}) != subject_name({"serialNumber": "02"})


def test_mapped_ipv4_address_has_the_same_name_as_the_ipv4_address() -> None:
    assert client_host(("::ffff:192.0.2.7", 1)) == client_host(("192.0.2.7", 2)) == "192.0.2.7"
    assert client_host(("2001:db8::1", 1)) == "2001:db8::1"
    assert client_host(None) == "unknown"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"journal": "off"}, "found --accounts with --journal off; allowed: --journal durable"),
        ({"journal": "async"}, "found --accounts with --journal async; allowed: --journal durable"),
        ({"accounts": "certificate"}, "found --accounts certificate without --tls-client-ca; allowed: both"),
    ],
)
def test_accounts_require_a_durable_journal(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        ServerConfig(**{"accounts": "address"} | settings).check()


def test_client_ca_requires_tls_and_a_valid_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^found --tls-client-ca without --tls-cert; allowed: both"):
        ServerConfig(tls_client_ca=tmp_path / "ca.pem").tls_context()
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    issued.private_key_pem.write_to_path(key)
    for blob in issued.cert_chain_pems:
        blob.write_to_path(cert, append=True)
    with pytest.raises(ValueError, match=r"^cannot read .*ca.pem: No such file"):
        ServerConfig(tls_cert=cert, tls_key=key, tls_client_ca=tmp_path / "ca.pem").tls_context()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = ServerConfig(tls_cert=cert, tls_key=key, tls_client_ca=tmp_path / "ca.pem").tls_context()
    assert context is not None
    assert context.verify_mode is ssl.CERT_REQUIRED
