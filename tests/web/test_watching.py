"""Watching tables that are not of hold'em: what everybody may see of them, and when their streams end."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from croupier.core.card_names import FRENCH_CARDS, JOKER
from croupier.net.shared_endpoint import SharedEndpoint
from croupier.rooms.oldmaid import ROOM as OLDMAID
from croupier.rooms.oldmaid.cards import CARD_COUNT, CARD_NUMBERS, Card, is_pair
from croupier.rooms.oldmaid.settings import Settings
from croupier.web.app import close
from croupier.web.config import WebConfig
from croupier.web.rooms import RoomEntry
from tests.clients.oldmaid_fixtures import open_table
from tests.net.raw_client import TIMEOUT_SECONDS, Run
from tests.web.app_fixture import Browser, serve, stream

CARD_TEXTS = [card.name for card in (*FRENCH_CARDS.values(), JOKER)]


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
            players = [RingPlayer(*await asyncio.open_connection(*table.address)) for _ in range(2)]
            try:
                ann, bob = (player.ask("join", nick=nick) for player, nick in zip(players, ("Ann", "Bob"), strict=True))
                joined = asyncio.ensure_future(ann)
                while not table.endpoint.counts.messages_received:
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


def test_a_delay_hides_what_has_just_happened_in_old_maid(run: Run) -> None:
    async def main() -> None:
        async with oldmaid(config=WebConfig(watch_delay_seconds=0.05)) as (app, _, (ann, _)):
            await ann.draw()
            browser = Browser(app)
            assert (await browser.get("/watch/oldmaid-1/text")).text == "Old Maid\n"
            browser.table = "/watch/oldmaid-1"
            await browser.page_with("Cards in the deck: 52")

    run(main())


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
