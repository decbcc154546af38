"""The replay in the web app: transcripts of all rooms, step by step."""

import asyncio
import re
from collections.abc import Mapping
from html import unescape
from itertools import pairwise

import pytest

from croupier.conformance.resources import transcripts
from croupier.core.presentation import TableView
from croupier.core.transcript import Transcript, TranscriptLine
from croupier.rooms import HOUSE_ROOMS, ROOMS
from croupier.web.frames import MAX_SHOWN_BYTES
from croupier.web.replay_page import ReplayPage
from croupier.web.transcript_replay import transcript_page
from tests.net.raw_client import Run
from tests.rooms.oldmaid.player_harness import PLAYER_TRANSCRIPTS, PlayerHarness
from tests.sampling import sampled
from tests.transcript_drivers import play_json_transcript
from tests.transcripts import side_at_fault
from tests.web.app_fixture import Browser, web_app

HOLDEM_TRANSCRIPTS = sampled(transcripts("holdem"), 10)
HOUSE_TRANSCRIPTS = [(room, transcript) for room in HOUSE_ROOMS for transcript in transcripts(room)]

BROKEN = re.compile(r"The house has broken ([\w.-]+):")


def replay(room: str, name: str) -> ReplayPage:
    found = transcript_page(room, name)
    assert found is not None
    return found


def notes(page: ReplayPage) -> list[str]:
    return [str(moment.note) for moment in page.moments if moment.note is not None]


def faces(table: TableView) -> list[list[str | None]]:
    return [[card.face for card in seat.cards] for seat in table.seats]


@pytest.mark.extended
def test_every_transcript_link_of_the_protocol_pages_leads_to_a_replay() -> None:
    async def scenario() -> None:
        async with web_app() as (app, _):
            browser = Browser(app)
            links = set[str]()
            for room in ROOMS:
                links |= {*re.findall(r'href="(/replay/[^"]+)"', (await browser.get(f"/protocols/{room}")).text)}
            assert len(links) == sum(len(transcripts(room)) for room in ROOMS)
            assert [link for link in links if (await browser.get(link)).status_code != 200] == []

    asyncio.run(scenario())


def test_every_house_transcript_is_played_with_its_bytes() -> None:
    for room, transcript in HOUSE_TRANSCRIPTS:
        page = replay(room, transcript.name)
        assert len(page.moments) == len(transcript.lines)
        for line, moment in zip(transcript.lines, page.moments, strict=True):
            assert bool(moment.frame.hex) == (line.kind in {">", "<"} and bool(line.text)), transcript.name


def message_data(page: ReplayPage, transcript: Transcript) -> list[tuple[TranscriptLine, bytes]]:
    """The lines that are messages, with the bytes that a page shows."""
    assert len(page.moments) == len(transcript.lines)
    frames = [moment.frame for moment in page.moments]
    assert not any(frame.hex for line, frame in zip(transcript.lines, frames, strict=True) if line.kind not in "<>")
    data = [bytes.fromhex(frame.hex) for frame in frames]
    return [(line, each) for line, each in zip(transcript.lines, data, strict=True) if line.kind in "<>"]


@pytest.mark.parametrize("transcript", HOLDEM_TRANSCRIPTS, ids=lambda each: each.name)
def test_a_transcript_of_holdem_is_played_with_the_requests_and_responses_of_the_service(
    transcript: Transcript,
) -> None:
    page = replay("holdem", transcript.name)
    for line, data in message_data(page, transcript):
        start, _, rest = data.partition(b"\r\n")
        assert line.kind == ">" or int(start.split()[1]) == int(line.text[:3])
        assert line.kind == "<" or start.endswith(b" HTTP/1.1")
        assert b"$" not in start
        assert not re.search(rb"(?im)^date:", rest)


def test_a_request_of_holdem_has_the_identifiers_that_the_service_has_given() -> None:
    name = "a-hand-from-deal-to-showdown"
    (transcript,) = [each for each in transcripts("holdem") if each.name == name]
    (_, asked), (_, ann), _, _, _, (_, listed), (_, joined), *_ = message_data(replay("holdem", name), transcript)
    assert asked == (
        b"POST /users/ HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"
        b"Authorization: Basic YW5uOnNlY3JldA==\r\nContent-Length: 0\r\n\r\n"
    )
    assert ann.startswith(b"HTTP/1.1 201 Created\r\ncontent-type: application/json\r\n")
    game = re.findall(rb'"gameID":"([0-9a-f-]{36})"', listed)[0]
    assert joined.startswith(b"POST /games/%b/players/ HTTP/1.1\r\n" % game)


@pytest.mark.parametrize(("room", "name"), [("holdem", "too-large"), ("oldmaid", "long-message")])
def test_only_the_first_bytes_of_a_very_long_message_are_shown(room: str, name: str) -> None:
    page = replay(room, name)
    assert max(len(bytes.fromhex(moment.frame.hex)) for moment in page.moments) == MAX_SHOWN_BYTES
    assert max(moment.frame.omitted for moment in page.moments) > 60_000


@pytest.mark.parametrize("room", ["holdem", "oldmaid"])
def test_a_transcript_has_the_same_bytes_whenever_it_is_played(room: str) -> None:
    for transcript in transcripts(room)[:10]:
        fresh = transcript_page.__wrapped__(room, transcript.name)
        assert fresh.moments == replay(room, transcript.name).moments


def test_every_message_of_a_table_of_old_maid_has_its_bytes() -> None:
    for transcript in transcripts("oldmaid"):
        if transcript.head.get("side") != "player":
            for line, data in message_data(replay("oldmaid", transcript.name), transcript):
                assert data
                assert line.kind == ">" or data.endswith(b"}\n")


class BytesRecorder(PlayerHarness):
    """A player, and everything that it sends in the order of the lines."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript)
        self.messages: list[bytes] = []

    def receive(self, peer: str, expected: re.Pattern[bytes]) -> Mapping[str, bytes]:
        groups = super().receive(peer, expected)
        self.messages.append(groups["message"] + b"\n")
        return groups


def test_messages_of_a_player_of_old_maid_have_the_bytes_that_it_sends_unless_the_transcript_leaves_them_open() -> None:
    for transcript in PLAYER_TRANSCRIPTS:
        player = BytesRecorder(transcript)
        play_json_transcript(transcript, player)
        page = replay("oldmaid", transcript.name.removeprefix("oldmaid/"))
        received = [(line, data) for line, data in message_data(page, transcript) if line.kind == "<"]
        for (line, data), sent in zip(received, player.messages, strict=True):
            assert data == (b"" if "$" in line.text else sent)


def test_an_error_that_a_transcript_leaves_open_is_the_one_that_the_table_sends() -> None:
    page = replay("oldmaid", "njaal-game")
    (refused,) = [moment.frame for moment in page.moments if '"error"' in moment.frame.text]
    assert refused.text.startswith('{"result":"error","message":"oldmaid-4.3: ')
    assert "$" not in refused.text
    assert bytes.fromhex(refused.hex) == refused.text.encode() + b"\n"


def test_the_house_is_said_to_break_a_clause_only_where_the_transcript_says_so() -> None:
    for room, transcript in HOUSE_TRANSCRIPTS:
        broken = [*filter(None, map(BROKEN.search, notes(replay(room, transcript.name))))]
        assert bool(broken) == (side_at_fault(transcript) == "house"), transcript.name
        assert not broken or broken[0][1] in transcript.clauses


def test_a_clause_that_the_client_breaks_is_beside_its_message() -> None:
    page = replay("kuhn", "action-after-the-end")
    assert (page.moments[5].frame.text, page.moments[5].frame.clause) == ("ACTN FLD", "kuhn-6.2")


def test_the_table_shows_what_the_client_knows_at_each_step() -> None:
    page = replay("kuhn", "action-after-the-end")
    assert faces(page.start) == []
    assert [faces(moment.table) for moment in page.moments[1:4]] == [[[None], ["Q"]], [[None], ["Q"]], [["K"], ["Q"]]]


def test_steps_do_not_depend_on_the_order_in_which_they_are_read() -> None:
    page = replay("kuhn", "document-example-1")
    fresh = transcript_page.__wrapped__("kuhn", "document-example-1")
    assert [fresh.table(step) for step in reversed(range(len(page.moments) + 1))] == [
        page.table(step) for step in reversed(range(len(page.moments) + 1))
    ]


def test_a_hand_of_holdem_is_shown_as_watchers_see_it() -> None:
    page = replay("holdem", "a-hand-from-deal-to-showdown")
    assert "bob calls 40. Flop: the 2 of clubs, the 7 of diamonds, the 9 of spades." in notes(page)
    hands = [hand for moment in page.moments for hand in faces(moment.table)]
    assert [None, None] in hands
    assert all(face is None for hand in hands for face in hand)
    assert page.parties == ["ann", "bob", "nobody", "server"]


def test_a_game_of_old_maid_shows_what_everybody_knows() -> None:
    page = replay("oldmaid", "all-but-one-gone")
    tables = [moment.table for moment in page.moments]
    assert [str(seat.name) for seat in tables[3].seats] == ["ann", "bob", "cyd"]
    assert str(tables[7].status) == "Cards in the deck: 52"
    assert [seat.status for seat in tables[-1].seats] == ["away", "away", ""]


def test_a_transcript_of_one_player_of_old_maid_shows_messages_only() -> None:
    sides = {transcript.name: transcript.head.get("side") for transcript in transcripts("oldmaid")}
    for name, side in sides.items():
        shows_seats = any(moment.table.seats for moment in replay("oldmaid", name).moments)
        assert not (shows_seats and side == "player")


def test_waiting_is_a_gap_on_the_time_line() -> None:
    page = replay("kuhn", "idle-between-games")
    at = [0.0, *(moment.at for moment in page.moments)]
    waits = [moment.party is None for moment in page.moments]
    assert True in waits
    assert [later - earlier > 1 for earlier, later in pairwise(at)] == waits


def test_the_page_shows_a_step_with_its_frame_and_clause(run: Run) -> None:
    async def scenario() -> None:
        async with web_app() as (app, _):
            browser = Browser(app)
            page = unescape((await browser.get("/replay/kuhn/bytes-are-irrelevant")).text)
            assert "There is nothing here" in page
            page = unescape((await browser.get("/replay/kuhn/action-after-the-end?step=6")).text)
            assert "Step 6 of 7" in page
            current = page.partition('aria-current="step"><span class="sender">')[2].partition("</li>")[0]
            assert "ACTN FLD" in current
            assert "41 43 54 4e 20 46 4c 44" in current
            assert '<a class="clause" href="/protocols/kuhn#kuhn-6.2">' in current

    run(scenario())


def test_a_script_gets_the_parts_of_a_step(run: Run) -> None:
    async def scenario() -> None:
        async with web_app() as (app, _):
            address = "/replay/kuhn/action-after-the-end?step=4"
            envelope = (await Browser(app).get(address, headers={"accept": "application/json"})).json()
            assert set(envelope["parts"]) == {"felt", "steps", "wire"}
            assert 'href="/protocols/kuhn#kuhn-' in envelope["parts"]["wire"]
            assert envelope["say"] == "The house shows the king. You lose 2 coins."

    run(scenario())


def test_a_replay_as_text_has_the_message_the_note_and_the_table_of_each_step(run: Run) -> None:
    async def scenario() -> None:
        async with web_app() as (app, _):
            browser, address = Browser(app), "/replay/kuhn/action-after-the-end"
            assert f'<a href="{address}/text">' in (await browser.get(f"{address}?step=3")).text
            title, *steps = (await browser.get(f"{address}/text")).text.split("\n\n")
            assert title == replay("kuhn", "action-after-the-end").title
            assert [step.partition("\n")[0] for step in steps] == [f"Step {number} of 7" for number in range(8)]
            assert steps[5].splitlines()[1:] == ["house: * settled p -2", "The game is settled: -2 for you."]
            assert steps[4].splitlines()[1:] == [
                "house: CARD C_K (kuhn-4.4)",
                "The house shows the king. You lose 2 coins.",
                "House: the king, P_2, 2 coins bet",
                "You: the queen, P_1, first to act, 2 coins bet",
                "Pot: 4",
                "Between two games.",
                "8 coins in your purse",
                "1 game, coins won: -2",
            ]

    run(scenario())


@pytest.mark.parametrize(
    "path",
    [
        "/replay/kuhn/unknown",
        "/replay/kuhn/unknown/text",
        "/replay/chess/table/1/text",
        "/replay/chess/action-after-the-end",
        "/replay/kuhn/action-after-the-end?step=8",
        "/replay/kuhn/action-after-the-end?step=-1",
        "/replay/kuhn/action-after-the-end?step=x",
        "/replay/kuhn/..%2f..%2fpyproject",
    ],
)
def test_what_does_not_exist_is_not_found(run: Run, path: str) -> None:
    async def scenario() -> None:
        async with web_app() as (app, _):
            assert (await Browser(app).get(path)).status_code == 404

    run(scenario())


def test_the_list_has_all_transcripts_by_room(run: Run) -> None:
    async def scenario() -> None:
        async with web_app() as (app, _):
            page = (await Browser(app).get("/replay")).text
            for room in ROOMS:
                assert page.count(f'href="/replay/{room}/') == len(transcripts(room))

    run(scenario())
