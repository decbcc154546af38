"""Recorded games in the web app: the replay of finished games, and the form that verifies their deals."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path

import httpx
import pytest
from msgspec.structs import asdict

from croupier.core.deal_record import deal_cards
from croupier.core.dealer import SmallPackDealer
from croupier.core.presentation import TableView
from croupier.core.rules import Turn
from croupier.recording.game_records import GameRecord
from croupier.replay.deals import DealPlace, search_deal
from croupier.replay.games import house_game_replay
from croupier.replay.house_games import house_table
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.stakes import Stakes
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.kuhn import ROOM as KUHN
from croupier.rooms.oldmaid.table.persistence import OldMaidRecord
from croupier.store.records import StoredHand
from croupier.store.store import Store, open_store
from croupier.web.app import close, create_app
from croupier.web.records import Records, replay_page
from tests.net.raw_client import Run
from tests.processes import Serving
from tests.store.store_fixture import add_hand
from tests.web.app_fixture import KEYS, Browser

NAMES = ("ann", "bob", "<cid>")


def hand() -> Hand:
    """Ann is all in for more than the others have; bob calls, cid folds."""
    found = Hand([300, 100, 80], button=0, stakes=Stakes(5, 10))
    found.deal([0, 1, 2, 3, 4, 5])
    found.bet(300)
    found.bet(95)
    found.fold()
    for cards in ([20, 29, 38], [44], [50]):
        found.deal(cards)
    assert found.turn is Turn.OVER
    return found


def stored(room: str, table: str, number: int, record: bytes) -> StoredHand:
    return StoredHand(room, table, number, 0.0, NAMES, record.decode(), "a summary")


@asynccontextmanager
async def recorded(tmp_path: Path, *hands: StoredHand) -> AsyncIterator[Browser]:
    """The browser of an app without rooms, whose store has these hands."""
    async with await open_store(str(tmp_path / "store.db")) as store:
        for each in hands:
            await add_hand(store, each)
        yield browser_of(store)


def browser_of(store: Store) -> Browser:
    app = create_app([], keys=KEYS, records=Records(lambda: store))
    close(app)
    return Browser(app)


def shown_cards(page: str) -> list[str]:
    """The faces on the table of a page."""
    return re.findall(r"french\.svg#(\w+)", page.partition('id="felt"')[2].partition('id="steps"')[0])


def test_a_recorded_hand_shows_only_the_cards_that_the_table_has_shown(run: Run, tmp_path: Path) -> None:
    played = FinishedHand("game", 3, 9, NAMES, ("a", "b", "c"), hand(), ())

    async def scenario() -> None:
        async with recorded(tmp_path, stored("holdem", "game", 3, played.json)) as browser:
            assert 'href="/replay/holdem/game/3"' in (await browser.get("/replay")).text
            first = await browser.get("/replay/holdem/game/3")
            steps = int(re.findall(r"Step 0 of (\d+)", first.text)[0])
            pages = [unescape((await browser.get(f"/replay/holdem/game/3?step={n}")).text) for n in range(steps + 1)]
            names = {name for page in pages for name in shown_cards(page)}
            assert names == {"back", "2H", "3D", "2C", "2S", "7C", "9D", "JH", "KC", "AH"}  # not 2D and 3C, folded
            assert "<cid> folds." in pages[4]
            assert "bob wins the pot, 210: pair of twos." in pages[-1]
            assert "<cid>" not in first.text
            assert "Verify the deal" not in pages[-1]

    run(scenario())


def test_a_recorded_game_of_old_maid_counts_pairs_and_cards(run: Run, tmp_path: Path) -> None:
    course: list[tuple[str | int, ...]] = [("drew", 0, "3 spades"), ("threw", 0, "3 spades", "3 clubs"), ("gone", 1)]
    record = OldMaidRecord(4, ("ann", "bob"), False, ("bob", "ann"), course)

    async def scenario() -> None:
        async with recorded(tmp_path, stored("oldmaid", "table", 4, record.to_json())) as browser:
            page = (await browser.get("/replay/oldmaid/table/4?step=3")).text
            assert "bob is gone." in page
            assert "pairs laid down: 1" in page
            assert "Cards in the deck: 52" in page

    run(scenario())


@pytest.mark.parametrize(
    "path",
    [
        "/replay/holdem/game/4",
        "/replay/kuhn/run-1/1",
        "/replay/chess/game/1",
        f"/replay/holdem/game/{2**63}",
        "/replay/holdem/game/-1",
    ],
)
def test_a_game_that_is_not_recorded_is_not_found(run: Run, tmp_path: Path, path: str) -> None:
    async def scenario() -> None:
        async with recorded(tmp_path) as browser:
            assert (await browser.get(path)).status_code == 404

    run(scenario())


def test_without_a_store_there_are_transcripts_only_and_an_empty_form(run: Run) -> None:
    async def scenario() -> None:
        app = create_app([], keys=KEYS)
        close(app)
        browser = Browser(app)
        assert "Games:" not in (await browser.get("/replay")).text
        assert (await browser.get("/replay/holdem/game/3")).status_code == 404
        for path in ("/fair", "/fair/kuhn/run-1/1"):
            assert field("commitment", (await browser.get(path)).text) == ""

    run(scenario())


# A real server with a store and a dealer's record.


def field(name: str, page: str) -> str:
    """The value of a field of the form."""
    found = re.search(rf'id="{name}"[^>]*? value="([^"]*)"', page)
    assert found is not None, name
    return found[1]


def test_a_game_of_a_real_server_is_replayed_and_its_deal_verified(tmp_path: Path) -> None:
    options = ("--store", tmp_path / "store.db", "--deals", tmp_path / "deals", "--journal", "durable")
    with Serving("kuhn", "--port", 0, "--web-port", 0, *options, ready=2) as server:
        received = server.talk(b"STRT P_1", b"ACTN CHK")
        server.talk(b"STRT P_1", b"ACTN BET", b"ACTN FLD")
        with httpx.Client(base_url=f"http://127.0.0.1:{server.ports['web']}") as client:
            links = re.findall(r'href="(/replay/kuhn/[^"]+-[^"]+/\d+)"', client.get("/replay").text)
            assert links, "no game is listed"
            game = client.get(links[-1])
            assert re.search(r"Step 0 of \d", game.text)
            assert "Moves" in game.text
            (fair,) = re.findall(r'href="(/fair/[^"]+)">Verify the deal', game.text)
            page = client.get(fair).text
    dealer = SmallPackDealer(bytes.fromhex(field("server-seed", page)), bytes.fromhex(field("client-seed", page)))
    assert "<option selected>croupier-fair-2</option>" in page
    cards = field("cards", page).split()
    assert cards == [*deal_cards(dealer, int(field("hand", page)), KUHN.pack, len(cards))]
    assert f"CARD C_{cards[0]}".encode() in received


# The table of a game against a house.


def game(room: str, cards: str, done: str, seat: int = 0) -> GameRecord:
    return GameRecord(room, "run-1", 1, 0.0, seat, 1, tuple(cards.split()), tuple(done.split(",")))


def faces(table: TableView | None) -> list[str]:
    assert table is not None
    return [" ".join(card.face or "-" for card in seat.cards) for seat in table.seats]


@pytest.mark.parametrize(
    ("recorded_game", "after", "shown", "at_end"),
    [
        (game("kuhn", "Q K", "BET,CAL"), 1, ["-", "Q"], ["K", "Q"]),
        (game("kuhn", "Q K", "BET,CAL", seat=1), 1, ["-", "K"], ["Q", "K"]),
        (game("sevenhalf", "4o 2c sb 7e", "BET 5,DRAW,DRAW,PASS"), 2, ["", "4o"], ["sb 7e", "4o 2c"]),
        (game("blackjack", "AH 2D TS 6H 9C", "BET 300,H,S"), 1, ["TS", "AH 2D"], ["TS 9C", "AH 2D 6H"]),
    ],
)
def test_cards_of_a_recorded_game_are_shown_with_the_moves_that_bring_them(
    recorded_game: GameRecord, after: int, shown: list[str], at_end: list[str]
) -> None:
    assert faces(house_table(recorded_game, after, is_over=False)) == shown
    assert faces(house_table(recorded_game, len(recorded_game.done), is_over=True)) == at_end


@pytest.mark.parametrize(
    ("recorded_game", "actors"),
    [
        (game("kuhn", "Q K", "CHK,BET,CAL"), ["player", "house", "player"]),
        (game("kuhn", "Q K", "CHK,BET,CAL", seat=1), ["house", "player", "house"]),
        (game("sevenhalf", "7o sc", "BET 100,DRAW,PASS"), ["player"] * 3),
    ],
)
def test_the_moves_of_a_recorded_game_have_a_place_on_the_time_line(
    recorded_game: GameRecord, actors: list[str]
) -> None:
    page = replay_page(recorded_game.room, house_game_replay(asdict(recorded_game)))
    assert [*page.parties] == ["player", "house"]
    assert [moment.frame.sender for moment in page.moments] == [*actors, ""]
    parties = [None if moment.party is None else page.parties[moment.party] for moment in page.moments]
    assert parties == [*actors, None]


# The dealer's record.


def lines(*entries: dict[str, object]) -> list[bytes]:
    return [json.dumps({"room": "kuhn", **entry}, separators=(",", ":")).encode() for entry in entries]


def promise(commitment: str, table: int = 1) -> dict[str, object]:
    return {"deal": "promise", "table": table, "algorithm": "croupier-fair-1", "commitment": commitment}


def dealt(number: int, cards: str, table: int = 1) -> dict[str, object]:
    return {"deal": "hand", "table": table, "hand": number, "cards": cards.split(), "net": 1}


def seed(value: str, table: int = 1) -> dict[str, object]:
    return {"deal": "seed", "table": table, "server_seed": value, "client_seed": "", "hands": 2}


def test_a_seed_is_found_once_it_is_revealed() -> None:
    record = lines(promise("aa"), promise("xx", 2), dealt(1, "Q K"), dealt(1, "J Q", 2), dealt(2, "J K"))
    place = DealPlace("kuhn", 1, 2)
    running = search_deal(record, place)
    assert running is not None
    assert (running.commitment, running.server_seed, running.cards) == ("aa", "", ("J", "K"))
    closed = search_deal([*record, *lines(seed("yy", 2), seed("bb"))], place)
    assert closed is not None
    assert (closed.commitment, closed.server_seed) == ("aa", "bb")


def test_the_deal_of_the_run_with_the_same_cards_is_found() -> None:
    record = lines(promise("aa"), dealt(1, "Q K"), seed("a"), promise("bb"), dealt(1, "J K"), seed("b"))
    found = {cards: search_deal(record, DealPlace("kuhn", 1, 1, cards)) for cards in [("Q", "K"), ("J", "K"), ("K",)]}
    seeds = [deal and deal.server_seed for deal in found.values()]
    assert seeds == ["a", "b", None]


def test_lines_that_are_no_record_are_skipped() -> None:
    record = [b'{"table":1,', b"\xff", *lines(promise("aa"), dealt(1, "Q"), {"deal": "missing", "lines": 2})]
    assert search_deal(record, DealPlace("kuhn", 1, 1)) is not None
    assert search_deal(record, DealPlace("holdem", 1, 1)) is None
