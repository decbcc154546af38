"""Old Maid is overheard at its table: ours is right about everything that is on paper, and others are found out."""

from collections.abc import Sequence
from io import StringIO
from typing import Any

import pytest

from croupier.conformance.conversation import Fault
from croupier.conformance.proxy.follow_oldmaid import (
    MAX_PENDING_REQUESTS,
    ObservedTable,
    TableConnection,
    rewrite_addresses,
)
from croupier.conformance.proxy.transcript_writer import OldMaidTranscriptWriter
from croupier.conformance.tap.connection import ConnectionOpened, TappedConnection
from croupier.core.json_transcript import play_json_transcript
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Drop, Effect, Event, Joined, Left, Send
from croupier.core.transcript import Harness, Transcript, is_strict, parse_transcript, peer_addresses
from croupier.rooms.oldmaid.wire import Wire
from tests.rooms.oldmaid.tables import TABLE_TRANSCRIPTS, house, settings, table_harness
from tests.sampling import sampled


class Overheard(Harness[Any, Any]):
    """A stage on which every byte between a table and its players is overheard."""

    def __init__(self, paper: Transcript, chunk_size: int = 0) -> None:
        dialect = settings(paper).dialect
        self.parlour = ObservedTable(dialect, strict=is_strict(paper))
        self.passages: dict[int, TappedConnection] = {}
        self.faults: list[Fault] = []
        self.games = 0
        self.lines = OldMaidTranscriptWriter(StringIO())
        self._ours = Wire("table", strict=is_strict(paper), dialect=dialect)
        super().__init__(
            house(paper),
            lambda: Wire("table", strict=is_strict(paper), dialect=dialect),
            chunk_size,
            (self._tap,),
            peer_addresses(paper),
        )

    def found(self, side: int) -> set[str]:
        return {fault.verdict.violation.clause for fault in self.faults if fault.verdict.end == side}

    def send(self, peer: str, data: bytes) -> None:
        passage = self.passages[self._peer_number(peer)]
        passage.conversation.on_data(CLIENT, data, self.now)
        self.take(passage)
        super().send(peer, data)

    def _tap(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:
        match event:
            case Joined(peer, address):
                passage = self.passages[peer] = TappedConnection(peer, address, self.parlour.new_connection(), now)
                self.parlour.on_event(ConnectionOpened(passage, now))
            case Left(peer):
                self.end(self.passages[peer], CLIENT)
            case _:
                pass
        for effect in effects:
            match effect:
                case Send(peer, message):
                    self.passages[peer].conversation.on_data(HOUSE, self._ours.encode(message), now)
                    self.take(self.passages[peer])
                case Drop(peer):
                    self.end(self.passages[peer], HOUSE)
                case _:
                    pass

    def end(self, passage: TappedConnection, side: int) -> None:
        passage.closed_sides.append(side)
        passage.conversation.on_disconnect(side, self.now)
        self.take(passage)

    def take(self, passage: TappedConnection) -> None:
        conversation = passage.conversation
        self.lines.add_lines(passage, [*conversation.lines], [*conversation.faults])
        self.faults += conversation.faults
        self.games = sum(each.conversation.games for each in self.passages.values())
        conversation.forget()


def listened(paper: Transcript, chop: int = 0) -> Overheard:
    stage = Overheard(paper, chop)
    play_json_transcript(paper, stage)
    return stage


@pytest.mark.parametrize("chop", [0, 1], ids=["whole", "byte-by-byte"])
@pytest.mark.parametrize("paper", sampled(TABLE_TRANSCRIPTS, 4), ids=lambda paper: paper.name)
def test_our_table_is_right_about_every_paper(paper: Transcript, chop: int) -> None:
    assert listened(paper, chop).found(HOUSE) == set()


class Table:
    """Two players at a table that says what the test wants."""

    def __init__(self, **own: Any) -> None:
        self.parlour = ObservedTable(**own)
        self.passages = [
            TappedConnection(number, ("192.0.2.1", 40_000 + number), self.parlour.new_connection(), 0.0)
            for number in (1, 2)
        ]
        for passage in self.passages:
            self.parlour.on_event(ConnectionOpened(passage, 0.0))

    def link(self, who: int) -> TableConnection:
        found = self.passages[who].conversation
        assert isinstance(found, TableConnection)
        return found

    def asks(self, who: int, text: str) -> None:
        self.link(who).on_data(CLIENT, text.encode(), 1.0)

    def answers(self, who: int, text: str) -> bytes:
        self.link(who).on_data(HOUSE, text.encode(), 1.0)
        return rewrite_addresses(self.passages[who], text.encode())

    def seated(self) -> "Table":
        for who, nick in enumerate(("ann", "bob")):
            self.asks(who, f'{{"cmd": "join", "nick": "{nick}"}}')
        for who in range(2):
            self.answers(who, LIST)
        return self

    def broken(self, who: int) -> list[tuple[int, str]]:
        return [*self.link(who).violation_counts]


LIST = '{"result": "ok", "players": {"player1": [["10.0.0.9", 1], "ann"], "player2": [["10.0.0.9", 2], "bob"]}}\n'


def test_a_list_has_the_players_where_they_are_and_comes_whole() -> None:
    table = Table()
    table.asks(0, '{"cmd": "join", "nick": "ann"}{"cmd": "draw"}')
    table.asks(1, '{"cmd": "join", "nick": "bob", "port": 4711}')
    assert table.answers(0, LIST[:20]) == b""
    told = table.answers(0, LIST[20:] + '{"result"')
    assert told == (
        b'{"result":"ok","players":{"player1":[["192.0.2.1",40001],"ann"],"player2":[["192.0.2.1",4711],"bob"]}}'
        b'\n{"result"'
    )
    assert table.answers(0, ': "ok", "card": ["3", "spades"]}') == b': "ok", "card": ["3", "spades"]}'


def test_what_a_table_begins_to_say_is_passed_on_in_the_end() -> None:
    table = Table()
    table.asks(0, '{"cmd": "join", "nick": "ann"}')
    assert table.answers(0, '{"result": "o') == b""
    table.link(0).on_disconnect(HOUSE, 2.0)
    assert rewrite_addresses(table.passages[0], b"") == b'{"result": "o'


@pytest.mark.parametrize(
    ("said", "clause"),
    [
        ('{"result": "ok", "card": ["1", "spades"]}', "oldmaid-2.4"),
        ('{"result": "last_card", "card": ["3", "spades"]}', "oldmaid-4.4"),
        ('{"result": "error", "message": "no"}', "oldmaid-4.2"),
        ('{"result": 3}', "oldmaid-8.11"),
    ],
)
def test_a_table_that_is_wrong_about_a_card_is_found_out(said: str, clause: str) -> None:
    table = Table().seated()
    table.asks(0, '{"cmd": "draw"}')
    table.answers(0, said)
    assert table.broken(0) == [(HOUSE, clause)]


def test_a_table_that_deals_a_card_twice_is_found_out() -> None:
    table = Table().seated()
    for who in range(2):
        table.asks(who, '{"cmd": "draw"}')
        table.answers(who, '{"result": "ok", "card": ["3", "spades"]}')
    assert table.broken(0) == []
    assert table.broken(1) == [(HOUSE, "oldmaid-4.1")]


def test_a_table_is_not_blamed_for_what_others_have_asked_at_the_same_time() -> None:
    table = Table().seated()
    table.asks(0, '{"cmd": "draw"}')
    table.asks(1, '{"cmd": "draw"}')
    table.answers(1, '{"result": "ok", "card": ["3", "spades"]}')
    table.answers(0, '{"result": "ok", "card": ["4", "spades"]}')
    assert table.broken(0) == table.broken(1) == []


def test_a_player_is_blamed_for_what_a_table_can_see() -> None:
    table = Table().seated()
    table.asks(0, '{"cmd": "draw"}')
    table.answers(0, '{"result": "ok", "card": ["3", "spades"]}')
    table.asks(0, '{"cmd": "discard", "cards": [["3", "spades"], ["4", "clubs"]], "last_cards": "false"}')
    table.answers(0, '{"result": "error", "message": "no pair"}')
    ((side, clause),) = table.broken(0)
    assert (side, clause[:10]) == (CLIENT, "oldmaid-5.")
    table.asks(1, '{"cmd": "offer"}')
    assert table.broken(1) == [(CLIENT, "oldmaid-8.6")]


def test_a_game_that_not_all_play_through_the_relay_is_not_judged() -> None:
    table = Table()
    table.asks(0, '{"cmd": "join", "nick": "ann"}')
    table.answers(0, LIST.replace("bob", "eve"))
    table.asks(0, '{"cmd": "draw"}')
    table.answers(0, '{"result": "error", "message": "no"}')
    assert table.broken(0) == []


def test_silence_is_a_fault_but_while_a_game_has_not_begun() -> None:
    table = Table(answer_timeout=2.0)
    table.asks(0, '{"cmd": "join", "nick": "ann"}{"cmd": "draw"}')
    assert table.link(0).deadline is None
    table.asks(1, '{"cmd": "status"}')
    assert table.link(1).deadline == 3.0
    assert [fault.verdict.violation.clause for fault in table.link(1).on_timeout(3.0)] == ["oldmaid-1.4"]
    assert table.link(1).deadline is None
    table.link(1).on_end_of_input(CLIENT, 4.0)
    assert table.link(1).on_disconnect(HOUSE, 5.0) == []


def test_a_table_that_hangs_up_on_who_waits_for_an_answer_is_found_out() -> None:
    table = Table().seated()
    table.asks(0, '{"cmd": "draw"}')
    assert [fault.verdict.violation.clause for fault in table.link(0).on_disconnect(HOUSE, 2.0)] == ["oldmaid-1.8"]


def test_what_is_kept_is_bounded() -> None:
    table = Table()
    for _ in range(MAX_PENDING_REQUESTS + 10):
        table.asks(0, '{"cmd": "status"}')
        table.link(0).forget()
    assert len(table.link(0)._pending) == 0
    for _ in range(3):
        table.seated()
    assert len(table.parlour._games) <= 1
    for who in range(2):
        table.link(who).on_disconnect(CLIENT, 9.0)
    assert table.parlour._games == table.parlour.connections == []


def test_what_was_overheard_is_played_again() -> None:
    paper = next(paper for paper in TABLE_TRANSCRIPTS if paper.name == "oldmaid/game-of-two")
    stage = listened(paper)
    head = {key: value for key, value in paper.head.items() if key not in {"title", "clause", "fault"}}
    again = parse_transcript("".join(stage.lines.transcript("Again", head)), "again")
    play_json_transcript(again, table_harness(again))
