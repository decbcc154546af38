"""Recorded games in the web app: the replay of finished games, and the form that verifies their deals."""

import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from croupier.core.card_names import FRENCH_CARDS
from croupier.core.deal_record import deal_cards
from croupier.core.dealer import SmallPackDealer
from croupier.core.presentation import TableView
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.rules import Turn
from croupier.core.session import Effect, Event, Joined, Received, Settle, Submitted
from croupier.core.spans import SpanReader
from croupier.core.transcript import Transcript, TranscriptLine, convert_head
from croupier.recording.game_records import GameRecord
from croupier.replay.deals import DealPlace, search_deal
from croupier.replay.games import house_game_replay
from croupier.replay.house_games import house_table
from croupier.replay.transcript_house import make_harness
from croupier.rooms import HOUSE_ROOMS
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.stakes import Stakes
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.kuhn import ROOM as KUHN
from croupier.rooms.oldmaid.cards import CARD_NAMES
from croupier.rooms.oldmaid.table.persistence import OldMaidRecord
from croupier.store.records import StoredHand
from croupier.store.store import Store, open_store
from croupier.web.app import close, create_app
from croupier.web.recorded_house import house_messages
from croupier.web.records import Records, replay_page
from croupier.web.replay_page import ReplayPage
from tests.net.raw_client import Run
from tests.processes import PATIENCE, Serving
from tests.sampling import example_count
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


def shown_bytes(page: str) -> list[bytes]:
    """The bytes of the messages of a page."""
    wire = page.partition('id="wire"')[2]
    return [bytes.fromhex(each) for each in re.findall(r"<code[^>]*>((?:[0-9a-f]{2} ?)+)</code>", wire)]


def test_a_recorded_hand_shows_only_the_cards_that_the_table_has_shown(run: Run, tmp_path: Path) -> None:
    played = FinishedHand("game", 3, 9, NAMES, ("a", "b", "c"), hand(), ())

    async def scenario() -> None:
        async with recorded(tmp_path, stored("holdem", "game", 3, played.json)) as browser:
            page = (await browser.get("/replay")).text
            assert 'href="/replay/holdem/game/3"' in page
            assert "Games: Hold'em" in unescape(page)
            first = await browser.get("/replay/holdem/game/3")
            steps = int(re.findall(r"Step 0 of (\d+)", first.text)[0])
            pages = [unescape((await browser.get(f"/replay/holdem/game/3?step={n}")).text) for n in range(steps + 1)]
            names = {name for page in pages for name in shown_cards(page)}
            assert names == {"back", "2H", "3D", "2C", "2S", "7C", "9D", "JH", "KC", "AH"}  # not 2D and 3C, folded
            assert "<cid> folds." in pages[7]
            assert "bob wins the pot, 210: pair of twos." in pages[-1]
            assert "<cid>" not in first.text
            assert '<a href="/replay/holdem/game/3/text">' in first.text
            as_text = (await browser.get("/replay/holdem/game/3/text")).text
            assert f"\nStep {steps} of {steps}\n" in as_text
            named = {card.face for card in FRENCH_CARDS.values() if str(card.name) in as_text}
            assert named == names - {"back"}
            assert "Verify the deal" not in pages[-1]

    run(scenario())


def test_a_recorded_game_of_old_maid_counts_pairs_and_cards(run: Run, tmp_path: Path) -> None:
    course: list[tuple[str | int, ...]] = [("drew", 0, "3 spades"), ("threw", 0, "3 spades", "3 clubs"), ("gone", 1)]
    record = OldMaidRecord(4, ("ann", "bob"), False, ("bob", "ann"), course)

    async def scenario() -> None:
        async with recorded(tmp_path, stored("oldmaid", "table", 4, record.to_json())) as browser:
            page = (await browser.get("/replay/oldmaid/table/4?step=5")).text
            assert "bob is gone." in page
            assert "pairs laid down: 1" in page
            assert "Cards in the deck: 52" in page

    run(scenario())


def frames_of(page: ReplayPage) -> list[tuple[str, str, bytes]]:
    """The sender, the text and the bytes of the moments that are messages."""
    frames = [moment.frame for moment in page.moments if moment.frame.text]
    return [(frame.sender, frame.text, bytes.fromhex(frame.hex)) for frame in frames]


async def page_of(tmp_path: Path, record: StoredHand) -> ReplayPage:
    """The replay of a stored game."""
    async with await open_store(str(tmp_path / "store.db")) as store:
        await add_hand(store, record)
        found = await Records(lambda: store).replay(record.room, record.table, record.number)
    assert found is not None
    return found


def test_acts_of_a_recorded_hand_are_requests(run: Run, tmp_path: Path) -> None:
    played = FinishedHand("game", 3, 9, NAMES, ("a", "b", "c"), hand(), ())
    page = run(page_of(tmp_path, stored("holdem", "game", 3, played.json)))
    done = b"HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n"
    bodies = {"ann": b'{"action":1,"betAmount":300}', "bob": b'{"action":1,"betAmount":95}', "<cid>": b'{"action":0}'}
    expected = []
    for (name, body), guid in zip(bodies.items(), b"abc", strict=True):
        target = b"POST /games/game/players/%c/acts/" % guid
        head = b"content-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
        data = target + b" HTTP/1.1\r\n" + head + body
        expected += [(name, f"{target.decode()} {body.decode()}", data), ("server", "201", done)]
    assert frames_of(page) == expected
    assert [*page.parties] == [*NAMES, "server"]
    notes = [str(moment.note) for moment in page.moments if moment.frame.sender == "server"]
    assert notes == ["ann raises to 300, all-in.", "bob calls 95, all-in.", "<cid> folds."]


def test_an_invalid_bet_of_a_recorded_hand_has_no_bytes_and_its_reason_is_not_shown(run: Run, tmp_path: Path) -> None:
    played = FinishedHand("game", 3, 9, NAMES, ("a", "b", "c"), hand(), ((2, "a secret reason"),))
    page = run(page_of(tmp_path, stored("holdem", "game", 3, played.json)))
    assert frames_of(page)[-2:] == [
        ("<cid>", 'POST /games/game/players/c/acts/ {"action":1,"betAmount":…}', b""),
        ("server", "201, X-Fold-Reason: …", b""),
    ]
    assert "secret" not in repr(page)


def test_a_departure_in_a_recorded_hand_is_no_request(run: Run, tmp_path: Path) -> None:
    left = Hand([300, 100], button=0, stakes=Stakes(5, 10))
    left.deal([0, 1, 2, 3])
    left.leave(1)
    played = FinishedHand("game", 3, 9, NAMES[:2], ("a", "b"), left, ())
    page = run(page_of(tmp_path, stored("holdem", "game", 3, played.json)))
    assert frames_of(page) == []
    assert page.remark is not None
    assert "bob leaves the table." in [str(moment.note) for moment in page.moments]


def test_the_messages_of_a_recorded_game_of_old_maid_are_those_with_the_table(run: Run, tmp_path: Path) -> None:
    course: list[tuple[str | int, ...]] = [("drew", 1, "3 spades"), ("threw", 1, "3 spades", "3 clubs"), ("gone", 0)]
    course += [("out", 1)]
    record = OldMaidRecord(4, ("ann", "table"), False, ("table", "ann"), course)
    page = run(page_of(tmp_path, stored("oldmaid", "table", 4, record.to_json())))
    discard = '{"cmd":"discard","cards":[["3","spades"],["3","clubs"]],"last_cards":…}'
    assert [(text, data) for _, text, data in frames_of(page)] == [
        ('{"cmd":"draw"}', b'{"cmd":"draw"}\n'),
        ('{"result":"ok","card":["3","spades"]}', b'{"result":"ok","card":["3","spades"]}\n'),
        (discard, b""),
        ('{"result":"ok","message":"ok"}', b'{"result":"ok","message":"ok"}\n'),
        ('{"cmd":"out_of_cards"}', b'{"cmd":"out_of_cards"}\n'),
        ('{"result":"ok"}', b'{"result":"ok"}\n'),
    ]
    assert [moment.party for moment in page.moments] == [1, 2, 1, 2, 0, 1, 2, None]


def test_the_last_card_of_a_recorded_game_of_old_maid_is_announced(run: Run, tmp_path: Path) -> None:
    record = OldMaidRecord(1, ("ann",), True, (), [("drew", 0, name) for name in CARD_NAMES])
    page = run(page_of(tmp_path, stored("oldmaid", "table", 1, record.to_json())))
    replies = [json.loads(text)["result"] for sender, text, _ in frames_of(page) if sender == "table"]
    assert replies == ["ok"] * 52 + ["last_card"]


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


@pytest.mark.extended
def test_a_game_of_a_real_server_is_replayed_and_its_deal_verified(tmp_path: Path) -> None:
    options = ("--store", tmp_path / "store.db", "--deals", tmp_path / "deals", "--journal", "durable")
    with Serving("kuhn", "--port", 0, "--web-port", 0, *options, ready=2) as server:
        sent = [b"STRT P_1", b"ACTN CHK"]
        received = server.talk(*sent)
        with httpx.Client(base_url=f"http://127.0.0.1:{server.ports['web']}", timeout=PATIENCE) as client:
            links = re.findall(r'href="(/replay/kuhn/[^"]+-[^"]+/\d+)"', client.get("/replay").text)
            assert links, "no game is listed"
            game = client.get(links[-1])
            assert re.search(r"Step 0 of \d", game.text)
            assert "On the wire" in game.text
            data = shown_bytes(game.text)
            assert [each for each in data if each in sent] == sent
            assert b"".join(each for each in data if each not in sent) == received[: len(b"CARD C_Q") + len(data[-1])]
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
    page = replay_page(recorded_game.room, house_game_replay(recorded_game), {})
    assert not page.has_messages
    assert [*page.parties] == ["player", "house"]
    assert [moment.frame.sender for moment in page.moments] == [*actors, ""]
    parties = [None if moment.party is None else page.parties[moment.party] for moment in page.moments]
    assert parties == [*actors, None]


def play(room: HouseRoom, seed: int, head: dict[str, str]) -> tuple[list[tuple[str, bytes]], list[GameRecord]]:
    """Play a game at random with a house: what is on the wire, and the record of the game."""
    luck, settled = Random(seed), list[Settle]()

    def observe(event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:
        settled.extend(effect for effect in effects if isinstance(effect, Settle))

    transcript = Transcript("", "", (), {"seed": str(seed), **head}, ())
    harness = make_harness(room, transcript, observers=[observe])
    player = room.player(convert_head(room.options, head))
    player.on(Joined(HOUSE), 0.0)
    wire: list[tuple[str, bytes]] = []
    codec = room.codec(False, None)
    while player.legal and not settled:
        if wire and luck.random() < 0.05:
            harness.perform(TranscriptLine(0, "left", "p"))
            break
        message = luck.choice(player.legal)
        data = codec.encode(message)
        player.on(Submitted(message), 0.0)
        wire.append(("player", data))
        harness.send("p", data)
        for span in SpanReader(codec).feed(harness.receive("p", re.compile(b"(?P<data>.*)", re.DOTALL))["data"]):
            player.on(Received(HOUSE, span.message), 0.0)
            wire.append(("house", span.data))
    games = [(each.seat, each.net, room.dealt_cards(each.state), room.commands(each.state)) for each in settled]
    return wire, [GameRecord(room.name, "run-1", 1, 0.0, *each) for each in games]


@pytest.mark.hypothesis
@pytest.mark.parametrize(
    ("room", "head"),
    [
        (HOUSE_ROOMS["kuhn"], {"bot": "random"}),
        (HOUSE_ROOMS["sevenhalf"], {}),
        (HOUSE_ROOMS["sevenhalf"], {"bet": "7", "max_bet": "7"}),
        (HOUSE_ROOMS["blackjack"], {}),
        (HOUSE_ROOMS["blackjack"], {"decks": "8"}),
    ],
    ids=["kuhn", "sevenhalf", "sevenhalf-without-antes", "blackjack", "blackjack-8-decks"],
)
def test_the_messages_of_a_recorded_game_are_those_that_were_on_the_wire(room: HouseRoom, head: dict[str, str]) -> None:
    records = 0
    for seed in range(example_count(150)):
        wire, games = play(room, seed, head)
        for each in games:
            records += 1
            page = replay_page(room.name, house_game_replay(each), house_messages(each))
            assert page.has_messages, each
            shown = [(sender, data) for sender, _, data in frames_of(page)]
            expected = [
                (sender, b"" if data[:4] == b"STBT" or data[:3] == b"MON" else data)
                for sender, data in wire
                if data[:4] != b"ANTE" and data not in {b"DISC", b"STP"}
            ]
            assert shown == expected, each
    assert records > example_count(30)


def test_a_game_that_the_house_plays_in_another_way_is_shown_without_bytes() -> None:
    other = game("kuhn", "Q K", "BET,CAL")  # it was lost, and recorded as won
    assert house_messages(other) == {}
    assert house_messages(game("sevenhalf", "4o 2c", "BET many,DRAW")) == {}
    assert house_messages(game("blackjack", "AH", "")) == {}


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
