"""Following Old Maid conversations: our table is right in every transcript, and faulty ends are found."""

from collections.abc import Sequence
from io import StringIO
from typing import Any

import pytest

from croupier.conformance.conversation import Fault
from croupier.conformance.tap.connection import BytesRelayed, TappedConnection
from croupier.conformance.tap.exchange import MAX_PENDING_REQUESTS
from croupier.conformance.tap.follow_oldmaid import (
    ObservedTable,
    TableConnection,
)
from croupier.conformance.tap.table_transcripts import OldMaidTranscriptWriter
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Drop, Effect, Event, Joined, Left, Send
from croupier.core.spans import MAX_INCOMPLETE_BYTES
from croupier.core.transcript import Transcript, is_strict, parse_transcript
from croupier.replay.transcript_house import Harness
from croupier.replay.transcript_table import make_table, peer_addresses, table_harness, table_settings
from croupier.rooms.oldmaid.wire import Wire
from tests.rooms.oldmaid.tables import TABLE_TRANSCRIPTS
from tests.sampling import extended, sampled
from tests.transcript_drivers import play_json_transcript


class FollowedHarness(Harness[Any, Any]):
    """A harness that follows every byte between a table and its players."""

    def __init__(self, transcript: Transcript) -> None:
        dialect = table_settings(transcript).dialect
        self.observed_table = ObservedTable(dialect, strict=is_strict(transcript))
        self.tapped: dict[int, TappedConnection] = {}
        self.faults: list[Fault] = []
        self.games = 0
        self.lines = OldMaidTranscriptWriter(StringIO())
        self._ours = Wire("table", strict=is_strict(transcript), dialect=dialect)
        super().__init__(
            make_table(transcript),
            lambda: Wire("table", strict=is_strict(transcript), dialect=dialect),
            (self._tap,),
            peer_addresses(transcript),
        )

    def found(self, side: int) -> set[str]:
        return {fault.verdict.violation.clause for fault in self.faults if fault.verdict.party == side}

    def send(self, peer: str, data: bytes) -> None:
        connection = self.tapped[self._peer_number(peer)]
        connection.conversation.on_data(CLIENT, data, self.now)
        self.take(connection)
        super().send(peer, data)

    def _tap(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:
        match event:
            case Joined(peer, address):
                connection = self.tapped[peer] = TappedConnection(
                    peer, address, self.observed_table.new_connection(), now
                )
                connection.conversation.client_address = address
            case Left(peer):
                self.end(self.tapped[peer], CLIENT)
            case _:
                pass
        for effect in effects:
            match effect:
                case Send(peer, message):
                    self.tapped[peer].conversation.on_data(HOUSE, self._ours.encode(message), now)
                    self.take(self.tapped[peer])
                case Drop(peer):
                    self.end(self.tapped[peer], HOUSE)
                case _:
                    pass

    def end(self, connection: TappedConnection, side: int) -> None:
        connection.closed_sides.append(side)
        connection.conversation.on_disconnect(side, self.now)
        self.take(connection)

    def take(self, connection: TappedConnection) -> None:
        conversation = connection.conversation
        relayed = BytesRelayed(connection, self.now, CLIENT, b"", conversation.lines, conversation.faults)
        self.lines.add_entries(connection, relayed.entries)
        self.faults += conversation.faults
        self.games = sum(each.conversation.games for each in self.tapped.values())
        conversation.forget()


def follow(transcript: Transcript, chop: int = 0) -> FollowedHarness:
    harness = FollowedHarness(transcript)
    play_json_transcript(transcript, harness, chop)
    return harness


@pytest.mark.parametrize("chop", extended([0, 1], 2), ids=["whole", "byte-by-byte"])
@pytest.mark.parametrize("transcript", sampled(TABLE_TRANSCRIPTS, 4), ids=lambda transcript: transcript.name)
def test_our_table_is_right_in_every_transcript(transcript: Transcript, chop: int) -> None:
    assert follow(transcript, chop).found(HOUSE) == set()


class Table:
    """Two players at a table whose messages the test chooses."""

    def __init__(self, **own: Any) -> None:
        self.observed_table = ObservedTable(**own)
        self.tapped = [
            TappedConnection(number, ("192.0.2.1", 40_000 + number), self.observed_table.new_connection(), 0.0)
            for number in (1, 2)
        ]
        for connection in self.tapped:
            connection.conversation.client_address = connection.address

    def link(self, player: int) -> TableConnection:
        log = self.tapped[player].conversation
        assert isinstance(log, TableConnection)
        return log

    def asks(self, player: int, text: str) -> None:
        self.link(player).on_data(CLIENT, text.encode(), 1.0)

    def answers(self, player: int, text: str) -> bytes:
        self.link(player).on_data(HOUSE, text.encode(), 1.0)
        return self.link(player).to_client(text.encode())

    def seated(self) -> "Table":
        for player, nick in enumerate(("ann", "bob")):
            self.asks(player, f'{{"cmd": "join", "nick": "{nick}"}}')
        for player in range(2):
            self.answers(player, LIST)
        return self

    def broken(self, player: int) -> list[tuple[int, str]]:
        return [*self.link(player).violation_counts]


LIST = '{"result": "ok", "players": {"player1": [["10.0.0.9", 1], "ann"], "player2": [["10.0.0.9", 2], "bob"]}}\n'


def test_list_is_rewritten_and_forwarded_whole() -> None:
    table = Table()
    table.asks(0, '{"cmd": "join", "nick": "ann"}{"cmd": "draw"}')
    table.asks(1, '{"cmd": "join", "nick": "bob", "port": 4711}')
    assert table.answers(0, LIST[:20]) == b""
    forwarded = table.answers(0, LIST[20:] + '{"result"')
    assert forwarded == (
        b'{"result":"ok","players":{"player1":[["192.0.2.1",40001],"ann"],"player2":[["192.0.2.1",4711],"bob"]}}'
        b'\n{"result"'
    )
    assert table.answers(0, ': "ok", "card": ["3", "spades"]}') == b': "ok", "card": ["3", "spades"]}'


def test_list_that_is_forwarded_already_in_part_is_not_rewritten() -> None:
    table = Table()
    assert table.answers(0, LIST[:20]) == LIST[:20].encode()
    table.asks(0, '{"cmd": "join", "nick": "ann"}')
    assert table.answers(0, LIST[20:]) == LIST[20:].encode()


def test_bytes_that_are_no_list_are_not_held_back_for_ever() -> None:
    table = Table()
    table.asks(0, '{"cmd": "join", "nick": "ann"}')
    noise = "?" * MAX_INCOMPLETE_BYTES
    assert table.answers(0, noise[:-1]) == b""
    assert table.answers(0, "??") == noise.encode() + b"?"


def test_game_is_not_followed_after_a_request_without_answer() -> None:
    table = Table().seated()
    game = table.link(0).game
    assert game is not None
    table.asks(0, '{"cmd": "status"}')
    table.link(0).on_end_of_input(CLIENT, 2.0)
    assert game.referee is not None
    table.asks(1, '{"cmd": "draw"}')
    table.link(1).on_end_of_input(CLIENT, 3.0)
    assert game.referee is None, "the card may have been dealt"


def test_incomplete_message_is_forwarded_at_the_end() -> None:
    table = Table()
    table.asks(0, '{"cmd": "join", "nick": "ann"}')
    assert table.answers(0, '{"result": "o') == b""
    table.link(0).on_disconnect(HOUSE, 2.0)
    assert table.link(0).to_client(b"") == b'{"result": "o'


@pytest.mark.parametrize(
    ("answer", "clause"),
    [
        ('{"result": "ok", "card": ["1", "spades"]}', "oldmaid-2.4"),
        ('{"result": "last_card", "card": ["3", "spades"]}', "oldmaid-4.4"),
        ('{"result": "error", "message": "no"}', "oldmaid-4.2"),
        ('{"result": 3}', "oldmaid-2.3"),
    ],
)
def test_wrong_card_is_a_fault(answer: str, clause: str) -> None:
    table = Table().seated()
    table.asks(0, '{"cmd": "draw"}')
    table.answers(0, answer)
    assert table.broken(0) == [(HOUSE, clause)]


def test_list_in_another_order_is_a_fault_and_ends_the_following() -> None:
    table = Table()
    for player, nick in enumerate(("ann", "bob")):
        table.asks(player, f'{{"cmd": "join", "nick": "{nick}"}}')
    table.answers(0, LIST)
    table.answers(
        1, '{"result": "ok", "players": {"player1": [["10.0.0.9", 2], "bob"], "player2": [["10.0.0.9", 1], "ann"]}}'
    )
    for player in (1, 0):
        table.asks(player, '{"cmd": "draw"}')
        table.answers(player, '{"result": "ok", "card": ["3", "spades"]}')
    assert table.broken(0) == []
    assert table.broken(1) == [(HOUSE, "oldmaid-3.2")]


def test_card_dealt_twice_is_a_fault() -> None:
    table = Table().seated()
    for player in range(2):
        table.asks(player, '{"cmd": "draw"}')
        table.answers(player, '{"result": "ok", "card": ["3", "spades"]}')
    assert table.broken(0) == []
    assert table.broken(1) == [(HOUSE, "oldmaid-4.1")]


def test_overlapping_requests_are_not_judged() -> None:
    table = Table().seated()
    table.asks(0, '{"cmd": "draw"}')
    table.asks(1, '{"cmd": "draw"}')
    table.answers(1, '{"result": "ok", "card": ["3", "spades"]}')
    table.answers(0, '{"result": "ok", "card": ["4", "spades"]}')
    assert table.broken(0) == table.broken(1) == []


def test_table_may_notice_late_that_a_player_is_gone() -> None:
    """oldmaid-9.1"""
    table = Table().seated()
    table.link(0).on_end_of_input(CLIENT, 2.0)
    table.asks(1, '{"cmd": "status"}')
    table.answers(1, '{"in": ["ann", "bob"], "out": []}')
    assert table.broken(1) == []
    game = table.link(1).game
    assert game is not None
    assert game.referee is None


def test_table_that_has_noticed_that_a_player_is_gone_is_judged_again() -> None:
    """oldmaid-6.6"""
    table = Table().seated()
    table.link(0).on_end_of_input(CLIENT, 2.0)
    for standing in ('{"in": ["bob"], "out": ["ann"]}', '{"in": [], "out": ["ann", "bob"]}'):
        table.asks(1, '{"cmd": "status"}')
        table.answers(1, standing)
    assert table.broken(1) == [(HOUSE, "oldmaid-6.6")]


def test_table_that_lists_a_player_as_gone_is_judged_at_once() -> None:
    """oldmaid-6.6"""
    table = Table().seated()
    table.link(0).on_end_of_input(CLIENT, 2.0)
    table.asks(1, '{"cmd": "status"}')
    table.answers(1, '{"in": [], "out": ["bob", "ann"]}')
    assert table.broken(1) == [(HOUSE, "oldmaid-6.6")]


def test_table_may_list_a_loser_who_has_left_as_out() -> None:
    """oldmaid-6.6"""
    table = Table().seated()
    game = table.link(1).game
    assert game is not None
    game._gone.add("ann")
    table.asks(1, '{"cmd": "status"}')
    table.answers(1, '{"in": ["bob"], "out": ["ann"]}')
    assert table.broken(1) == []


def test_discard_is_accepted_with_the_message_ok() -> None:
    """oldmaid-2.3"""
    table = Table().seated()
    for player, card in ((0, "spades"), (1, "hearts"), (0, "clubs")):
        table.asks(player, '{"cmd": "draw"}')
        table.answers(player, f'{{"result": "ok", "card": ["3", "{card}"]}}')
    table.asks(0, '{"cmd": "discard", "cards": [["3", "spades"], ["3", "clubs"]], "last_cards": "false"}')
    table.answers(0, '{"result": "ok"}')
    assert table.broken(0) == [(HOUSE, "oldmaid-2.3")]


def test_player_faults_visible_to_the_table() -> None:
    table = Table().seated()
    table.asks(0, '{"cmd": "draw"}')
    table.answers(0, '{"result": "ok", "card": ["3", "spades"]}')
    table.asks(0, '{"cmd": "discard", "cards": [["3", "spades"], ["4", "clubs"]], "last_cards": "false"}')
    table.answers(0, '{"result": "error", "message": "no pair"}')
    ((side, clause),) = table.broken(0)
    assert (side, clause[:10]) == (CLIENT, "oldmaid-5.")
    table.asks(1, '{"cmd": "offer"}')
    assert table.broken(1) == [(CLIENT, "oldmaid-2.2")]


def test_game_with_players_outside_the_proxy_is_not_judged() -> None:
    table = Table()
    table.asks(0, '{"cmd": "join", "nick": "ann"}')
    table.answers(0, LIST.replace("bob", "eve"))
    table.asks(0, '{"cmd": "draw"}')
    table.answers(0, '{"result": "error", "message": "no"}')
    assert table.broken(0) == []


def test_silence_is_a_fault_unless_waiting_for_a_game() -> None:
    table = Table(answer_timeout=2.0)
    table.asks(0, '{"cmd": "join", "nick": "ann"}{"cmd": "draw"}')
    assert table.link(0).deadline is None
    table.asks(1, '{"cmd": "status"}')
    assert table.link(1).deadline == 3.0
    assert [fault.verdict.violation.clause for fault in table.link(1).on_timeout(3.0)] == ["oldmaid-1.4"]
    assert table.link(1).deadline is None
    table.link(1).on_end_of_input(CLIENT, 4.0)
    assert table.link(1).on_disconnect(HOUSE, 5.0) == []


def test_disconnect_before_an_answer_is_a_fault() -> None:
    table = Table().seated()
    table.asks(0, '{"cmd": "draw"}')
    assert [fault.verdict.violation.clause for fault in table.link(0).on_disconnect(HOUSE, 2.0)] == ["oldmaid-1.8"]


def test_an_answer_that_a_reset_has_cut_is_no_fault() -> None:
    table = Table()
    table.asks(0, '{"cmd": "status"}')
    table.link(0).on_data(HOUSE, b'{"in": [', 1.0)
    assert table.link(0).on_disconnect(HOUSE, 2.0, was_reset=True) == []


def test_memory_is_bounded() -> None:
    table = Table()
    for _ in range(MAX_PENDING_REQUESTS + 10):
        table.asks(0, '{"cmd": "status"}')
        table.link(0).forget()
    assert len(table.link(0)._pending) == 0
    for _ in range(3):
        table.seated()
    assert len(table.observed_table._games) <= 1
    for player in range(2):
        table.link(player).on_disconnect(CLIENT, 9.0)
    assert table.observed_table._games == table.observed_table.connections == []


def test_written_transcript_can_be_replayed() -> None:
    transcript = next(transcript for transcript in TABLE_TRANSCRIPTS if transcript.name == "oldmaid/game-of-two")
    harness = follow(transcript)
    head = {key: value for key, value in transcript.head.items() if key not in {"title", "clause", "fault"}}
    again = parse_transcript("".join(harness.lines.transcript("Again", head)), "again")
    play_json_transcript(again, table_harness(again))
