"""Watching tables of Old Maid and of houses: what everybody may see of them, and when their streams end."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from croupier.core.card_names import FRENCH_CARDS, JOKER
from croupier.net.shared_endpoint import SharedEndpoint
from croupier.rooms import HOUSE_ROOMS
from croupier.rooms.kuhn import ROOM as KUHN
from croupier.rooms.kuhn.presenter import CARDS
from croupier.rooms.oldmaid import ROOM as OLDMAID
from croupier.rooms.oldmaid.cards import CARD_COUNT, CARD_NUMBERS, Card, is_pair
from croupier.rooms.oldmaid.settings import Settings
from croupier.web.app import close
from croupier.web.config import WebConfig
from croupier.web.rooms import RoomEntry
from tests.clients.oldmaid_fixtures import open_table
from tests.net.raw_client import TIMEOUT_SECONDS, Run
from tests.web.app_fixture import Browser, house, serve, stream, web_app
from tests.web.hidden_cards import run_alike

KUHN_DECK = KUHN.pack.parse_decks("Q\nK\nJ", "test", 1)
CARD_TEXTS = [card.name for card in (*FRENCH_CARDS.values(), *CARDS.values(), JOKER)]


class RingPlayer:
    """A player of Old Maid who talks with the table only: a connection, and the cards that it has drawn."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.cards: dict[Card, list[str]] = {}
        self._reader = reader

    async def ask(self, cmd: str, **fields: Any) -> Any:
        """Send a request, and return the answer."""
        self.writer.write(json.dumps({"cmd": cmd, **fields}).encode() + b"\n")
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return json.loads(await self._reader.readline())

    async def draw(self) -> None:
        """Draw a card."""
        value, suit = (await self.ask("draw"))["card"]
        self.cards[CARD_NUMBERS[value, suit]] = [value, suit]

    @property
    def pair(self) -> list[list[str]] | None:
        """Two of the cards that are a pair."""
        return next(
            ([self.cards[one], self.cards[other]] for one in self.cards for other in self.cards if is_pair(one, other)),
            None,
        )


@asynccontextmanager
async def oldmaid(
    store: Path | None = None, config: WebConfig = WebConfig()
) -> AsyncIterator[tuple[Starlette, SharedEndpoint, list[RingPlayer]]]:
    """An app with a table of Old Maid, and two players, Ann and Bob, whose first game has begun."""
    async with open_table(2, store=store) as table:
        entry = RoomEntry(OLDMAID, Settings(players=2), table.endpoint, address=table.address)
        async with serve(entry, config=config) as app:
            assert "No public table is open" in (await Browser(app).get("/watch")).text
            assert ">0 playing<" in (await Browser(app).get("/")).text
            players = [RingPlayer(*await asyncio.open_connection(*table.address)) for _ in range(2)]
            try:
                ann, bob = (player.ask("join", nick=nick) for player, nick in zip(players, ("Ann", "Bob"), strict=True))
                joined = asyncio.ensure_future(ann)
                while not table.endpoint.counts.messages_received:
                    await asyncio.sleep(0)
                while "playing: Ann" not in (await Browser(app).get("/")).text:
                    await asyncio.sleep(0)
                await asyncio.gather(joined, bob)
                yield app, table.endpoint, players
            finally:
                for player in players:
                    player.writer.close()


@pytest.mark.parametrize("is_stored", [False, True])
def test_a_game_of_old_maid_is_watched_from_the_deal_to_its_end(run: Run, tmp_path: Path, is_stored: bool) -> None:
    async def main() -> None:
        async with oldmaid(tmp_path / "store" if is_stored else None) as (app, _, (ann, bob)):
            browser = Browser(app)
            for path in ("/", "/watch"):
                assert 'href="/watch/oldmaid-1"' in (page := (await browser.get(path)).text)
                assert "Ann, Bob" in page
            assert "2 playing: Ann, Bob<" in (await browser.get("/")).text
            page = (await browser.get("/watch/oldmaid-1")).text
            assert "You are watching." in page
            async with stream(app, browser, "/watch/oldmaid-1/events") as events:
                await ann.draw()
                await events.wait_for(b"Cards in the deck: 52")
                text = (await browser.get("/watch/oldmaid-1/text")).text.splitlines()
                assert text == [
                    "Old Maid",
                    "Ann: 1 card, pairs laid down: 0",
                    "Bob: 0 cards, pairs laid down: 0, to act",
                    "Cards in the deck: 52",
                ]
                for turn in range(1, CARD_COUNT):
                    await (ann, bob)[turn % 2].draw()
                assert ann.pair is not None
                await ann.ask("discard", cards=ann.pair)
                await events.wait_for(b"Ann lays down a pair.")
                await events.wait_for(b"All cards are dealt")
                text = (await browser.get("/watch/oldmaid-1/text")).text.splitlines()
                assert "Ann: pairs laid down: 1" in text
                bob.writer.close()
                await events.wait_for(b"event: end")
                assert b"The game is over: Bob has lost." in events.body
                assert named_cards(events.body.decode()) == set()
            assert "No public table is open" in (await browser.get("/watch")).text
            assert (await browser.get("/watch/oldmaid-2")).status_code == 404

    run(main())


def named_cards(html: str) -> set[str]:
    """The pictures and the names of cards in a text."""
    return {word for word in ("<use", "card face down", *map(str, CARD_TEXTS)) if word in html}


def test_a_delay_hides_what_has_just_happened_in_old_maid() -> None:
    async def main() -> None:
        async with oldmaid(config=WebConfig(watch_delay_seconds=1.0)) as (app, _, (ann, _)):
            await ann.draw()
            browser = Browser(app)
            assert (await browser.get("/watch/oldmaid-1/text")).text == "Old Maid\n"
            browser.table = "/watch/oldmaid-1"
            await browser.page_with("Cards in the deck: 52")

    run_alike(main())


def test_a_table_is_observed_only_while_it_is_watched(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.web.watching.IDLE_SECONDS", 0.0)

    async def main() -> None:
        async with oldmaid() as (app, endpoint, _):
            observers = endpoint.observers
            before = observers.observers
            async with stream(app, Browser(app), "/watch/oldmaid-1/events") as events:
                await events.wait_for(b"event: table")
                assert len(observers.observers) == len(before) + 1
            async with asyncio.timeout(TIMEOUT_SECONDS):
                while observers.observers != before:
                    await asyncio.sleep(0)
            async with stream(app, Browser(app), "/watch/oldmaid-1/events") as events:
                await events.wait_for(b"event: table")
                close(app)
                await events.wait_for(b"event: end")

    run(main())


# Houses.


async def lines(browser: Browser, path: str) -> list[str]:
    return (await browser.get(path)).text.splitlines()


def test_a_game_of_kuhn_poker_is_watched_and_its_cards_are_shown_at_the_showdown(run: Run) -> None:
    async def main() -> None:
        async with web_app(KUHN_DECK, bot="script:CAL") as (app, endpoint):
            ann, watcher = await Browser(app).play(), Browser(app)
            page = (await watcher.get("/watch")).text
            assert 'href="/watch/kuhn-1"' in page
            assert "client 1" in page
            assert await lines(watcher, "/watch/kuhn-1/text") == ["Kuhn poker", "Between two games."]
            async with stream(app, watcher, "/watch/kuhn-1/events") as events:
                await ann.act_now("first")
                await events.wait_for(b"card face down")
                assert await lines(watcher, "/watch/kuhn-1/text") == [
                    "Kuhn poker",
                    "House: a card face down",
                    "The client: a card face down, to act",
                ]
                assert named_cards(events.body.decode()) == {"<use", "card face down"}
                await ann.act_now("bet")
                await events.wait_for(b"The client loses 2.")
                assert await lines(watcher, "/watch/kuhn-1/text") == [
                    "Kuhn poker",
                    "The client bets a coin.",
                    "The house calls.",
                    "The client loses 2.",
                    "House: the king",
                    "The client: the queen",
                    "Between two games.",
                ]
                await ann.post(f"{ann.table}/leave")
                await events.wait_for(b"event: end")
                assert b"This table does not exist any more." in events.body
            assert endpoint.observers.observers == ()
            for path in ("/watch/kuhn-1", "/watch/kuhn-2", "/watch/kuhn-x", "/watch/kuhn-01", f"/watch/kuhn-{10**30}"):
                assert (await watcher.get(path)).status_code == 404

    run(main())


def test_cards_of_a_game_that_ends_without_a_showdown_stay_hidden(run: Run) -> None:
    async def main() -> None:
        async with web_app(KUHN_DECK, bot="script:FLD") as (app, _):
            ann = await Browser(app).play()
            async with stream(app, Browser(app), "/watch/kuhn-1/events") as events:
                await ann.act_now("first")
                await ann.act_now("bet")
                await events.wait_for(b"The client wins 1.")
                assert named_cards(events.body.decode()) == {"<use", "card face down"}

    run(main())


@pytest.mark.parametrize("name", ["sevenhalf", "blackjack"])
def test_the_cards_of_a_client_of_a_bank_are_shown_and_those_of_the_bank_at_the_end(run: Run, name: str) -> None:
    async def main() -> None:
        async with serve(house(HOUSE_ROOMS[name])) as app:
            ann = await Browser(app).play(name)
            async with stream(app, Browser(app), f"/watch/{name}-1/events") as events:
                table = next(iter(app.state.tables.of_session(ann.session)))
                while not table.seat.feed.snapshot.view.results:
                    view = table.seat.feed.snapshot.view
                    own = [seat.cards for seat in view.seats if seat.is_viewer]
                    for card in own[0] if own else ():
                        await events.wait_for(f"#{card.face}".encode())
                    await ann.get(ann.table)
                    action = view.actions[0]
                    fields = {} if action.amount is None else {"amount": str(action.amount.low)}
                    assert (await ann.act(action.id, **fields)).status_code == 200
                await events.wait_for(b"Between two games.")
                for seat in table.seat.feed.snapshot.view.seats:
                    for card in seat.cards:
                        await events.wait_for(f"#{card.face}".encode())

    run(main())


def test_the_list_has_the_tables_of_the_newest_clients(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.web.house_watching.MAX_LISTED", 2)

    async def main() -> None:
        async with web_app() as (app, _):
            for _ in range(3):
                await Browser(app).play()
            page = (await Browser(app).get("/watch")).text
            assert re.findall(r'href="/watch/(kuhn-\d)"', page) == ["kuhn-3", "kuhn-2"]
            assert (await Browser(app).get("/watch/kuhn-1")).status_code == 200

    run(main())
