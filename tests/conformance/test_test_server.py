"""The test server without a socket: what the house sends, in which pieces, and what it observes."""

from collections.abc import Mapping
from typing import Any

import pytest

from croupier.conformance.channel.delivery import Delivery
from croupier.conformance.clients.connections import ClientConnections
from croupier.conformance.clients.kuhn import obligation
from croupier.conformance.clients.setup import ClientTimeouts, HouseAction, HouseSetup
from croupier.conformance.clients.test_server import MAX_SILENT_VISITS, ConversationEnd, HouseTestServer
from croupier.conformance.conversation import Conversation
from croupier.conformance.resources import transcripts
from croupier.conformance.responders import (
    LiveResponder,
    Mutation,
    TranscriptResponder,
    transcript_steps,
    unchanged,
)
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Drop, Joined, Left, Received, Send, TimedOut
from croupier.rooms.kuhn import ROOM, Settings
from croupier.rooms.kuhn.wire import Actn
from tests.conformance.suites import CLIENT_TEST_DATA

CALLS = {"bot": "script:CAL", "coins": 10}
TEST_DATA = CLIENT_TEST_DATA["kuhn"]
TIMES = ClientTimeouts(act_seconds=5.0, idle_seconds=1.0, close_seconds=0.5)


class ClientFixture:
    """A client connected to a test server, and a simulated clock."""

    def __init__(
        self,
        scene: HouseSetup,
        settings: Mapping[str, Any] = CALLS,
        habit: Mutation = unchanged,
        paper: str = "",
        *,
        strict: bool = False,
        joins: bool = True,
    ) -> None:
        own = Settings(**settings)
        house = LiveResponder(ROOM, own, habit, decks="Q K J")
        voice = (
            TranscriptResponder(
                transcript_steps(ROOM, own, {each.name: each for each in transcripts("kuhn")}[paper]), house
            )
            if paper
            else house
        )
        conversation = Conversation(ROOM, own, answer_timeout=1e9)
        self.stand = HouseTestServer(
            voice,
            scene,
            conversation,
            obligation=obligation,
            timeouts=TIMES,
            is_unforeseeable=TEST_DATA.is_unforeseeable,
            strict=strict,
        )
        self.now = 0.0
        self.heard: list[bytes] = []
        self.dropped = False
        if joins:
            self._do(Joined(1, ("192.0.2.1", 40_000)))

    def say(self, data: bytes) -> bytes:
        """Say something; what is answered at once."""
        before = len(self.heard)
        self._do(Received(1, data))
        return b"".join(self.heard[before:])

    def leave(self) -> None:
        self._do(Left(1, "hung up"))

    def wait(self) -> None:
        """Until the stand's alarm rings."""
        assert self.stand.deadline is not None
        self.now = self.stand.deadline
        self._do(TimedOut())

    def _do(self, event: Any) -> None:
        pieces = []
        for effect in self.stand.on(event, self.now):
            match effect:
                case Send(_, data):
                    pieces.append(data)
                case Drop():
                    self.dropped = True
        if pieces:
            self.heard.append(b"".join(pieces))


def played(games: int) -> HouseSetup:
    return HouseSetup(is_reached=lambda talk: talk.referee.finished_count >= games)


def test_a_client_plays_until_it_is_decided_and_then_hears_goodbye() -> None:
    guest = ClientFixture(played(1))
    assert guest.say(b"STRT P_1") == b"CARD C_Q"
    assert guest.say(b"ACTN BET") == b"CARD C_K"
    assert guest.stand.has_reached_state
    assert not guest.dropped
    guest.say(b"STRT P_1")
    assert guest.say(b"ACTN BET") == b"CARD C_KDISC"
    assert guest.dropped
    guest.leave()
    assert guest.stand.is_over
    assert (guest.stand.conversation_end, guest.stand.fault, guest.stand.house_fault) == (
        ConversationEnd.HOUSE,
        None,
        None,
    )


def test_messages_of_one_read_are_answered_one_after_the_other() -> None:
    guest = ClientFixture(played(9))
    assert guest.say(b"STRT P_1ACTN BETSTRT P_1") == b"CARD C_QCARD C_KCARD C_Q"
    assert guest.stand.conversation.faults == []
    assert [line.side for line in guest.stand.conversation.lines] == 3 * [CLIENT] + 3 * [HOUSE]


def test_a_message_that_is_sent_ahead_of_a_missing_coin_is_no_fault() -> None:
    guest = ClientFixture(played(9), {"coins": 0})
    assert guest.say(b"STRT P_1ACTN BET") == b"FAIL N_CFAIL W_A"
    assert (guest.stand.fault, guest.stand.has_sent_ahead) == (None, True)


def test_a_message_after_a_missing_coin_is_a_fault() -> None:
    guest = ClientFixture(played(9), {"coins": 0})
    guest.say(b"STRT P_1")
    guest.say(b"ACTN BET")
    assert guest.stand.fault is not None
    assert (guest.stand.fault.verdict.violation.clause, guest.stand.has_sent_ahead) == ("kuhn-6.2", False)


def test_a_fault_that_is_sent_ahead_is_that_of_its_own_line() -> None:
    guest = ClientFixture(played(9))
    guest.say(b"STRT P_1ACTN CALACTN BET")
    assert guest.stand.fault is not None
    assert guest.stand.conversation.lines[guest.stand.fault.sent_index].data == b"ACTN CAL"


def test_a_client_that_leaves_before_the_state_may_connect_again() -> None:
    guests = []
    connections = ClientConnections(
        lambda _: guests.append(ClientFixture(played(2), joins=False)) or guests[-1].stand,
        reconnect_seconds=1.0,
        max_connections=3,
    )
    for peer in (1, 2, 3):
        connections.on(Joined(peer), 0.0)
        connections.on(Received(peer, b"STRT P_1ACTN BETDISC"), 0.0)
        connections.on(Left(peer, "closed"), 0.0)
        assert connections.closed.is_set()
        assert connections.finished.is_set() == (peer == 3)
    assert connections.server is guests[-1].stand
    assert connections.server.referee.finished_count == 1


def test_a_client_that_does_not_connect_again_is_not_waited_for_any_longer() -> None:
    connections = ClientConnections(
        lambda _: ClientFixture(played(2), joins=False).stand, reconnect_seconds=1.0, max_connections=3
    )
    connections.on(Joined(1), 0.0)
    connections.on(Received(1, b"STRT P_1ACTN BETDISC"), 0.0)
    connections.on(Left(1, "closed"), 2.0)
    assert (connections.deadline, connections.finished.is_set()) == (3.0, False)
    connections.on(TimedOut(), 3.0)
    assert connections.finished.is_set()


def test_a_client_that_connects_while_it_is_stopped_has_not_connected() -> None:
    connections = ClientConnections(
        lambda _: ClientFixture(played(2), joins=False).stand, reconnect_seconds=1.0, max_connections=3
    )
    connections.finished.set()
    assert connections.on(Joined(1), 0.0) == [Drop(1)]
    assert connections.on(Left(1, "closed"), 0.0) == []
    assert not connections.server.has_connected


def test_a_client_that_connects_for_ever_without_a_message_is_not_served_any_longer() -> None:
    connections = ClientConnections(
        lambda _: ClientFixture(played(2), joins=False).stand, reconnect_seconds=1.0, max_connections=3
    )
    connections.on(Joined(0), 0.0)
    connections.on(Received(0, b"STRT P_1ACTN BETDISC"), 0.0)
    connections.on(Left(0, "closed"), 0.0)
    for peer in range(1, MAX_SILENT_VISITS + 1):
        assert not connections.finished.is_set()
        connections.on(Joined(peer), 0.0)
        connections.on(Left(peer, "closed"), 0.0)
    assert connections.finished.is_set()
    assert connections.server.referee.finished_count == 1


def test_answers_leave_in_pieces_of_the_size_that_was_asked_for() -> None:
    guest = ClientFixture(
        HouseSetup(is_reached=lambda _: False, delivery=Delivery(max_piece_bytes=3, delay_seconds=0.01))
    )
    guest.say(b"STRT P_1")
    while b"".join(guest.heard) != b"CARD C_Q":
        guest.wait()
    assert guest.heard == [b"CAR", b"D C", b"_Q"]


def test_a_client_is_not_silent_while_the_stand_sleeps() -> None:
    guest = ClientFixture(played(9))
    guest.say(b"STRT P_1")
    assert guest.stand.deadline == TIMES.act_seconds
    guest.now = TIMES.act_seconds + 0.5
    guest._do(TimedOut())
    assert guest.stand.conversation_end is ConversationEnd.RUNNING
    assert guest.stand.deadline == TIMES.act_seconds + 1.0
    assert guest.say(b"ACTN BET") == b"CARD C_K"
    guest.wait()
    assert guest.stand.conversation_end is ConversationEnd.SILENCE


def test_messages_that_stand_apart_are_reads_of_their_own() -> None:
    guest = ClientFixture(HouseSetup(is_reached=lambda _: False, message_gap_seconds=0.01), {"bot": "script:BET"})
    guest.say(b"STRT P_2")
    guest.wait()
    assert guest.heard == [b"CARD C_K", b"ACTN BET"]


def test_answers_to_two_messages_stand_apart_too() -> None:
    guest = ClientFixture(HouseSetup(is_reached=lambda _: False, message_gap_seconds=0.01))
    assert guest.say(b"STRT P_1ACTN BET") == b"CARD C_Q"
    guest.wait()
    assert guest.heard == [b"CARD C_Q", b"CARD C_K"]


def test_messages_of_games_are_not_counted_as_idle() -> None:
    guest = ClientFixture(HouseSetup(is_reached=lambda talk: talk.referee.game is not None, min_games=3))
    for _ in range(2):
        guest.say(b"STRT P_1")
        guest.say(b"ACTN BET")
    assert not guest.dropped
    guest.say(b"STRT P_1")
    assert guest.say(b"ACTN BET").endswith(b"DISC")


def test_without_that_they_leave_in_one_piece() -> None:
    assert ClientFixture(played(9), {"bot": "script:BET"}).say(b"STRT P_2") == b"CARD C_KACTN BET"


def test_the_first_fault_of_the_client_ends_the_conversation() -> None:
    guest = ClientFixture(played(9))
    guest.say(b"ACTN BET")
    assert guest.dropped
    assert guest.stand.fault is not None
    assert guest.stand.fault.verdict.violation.clause == "kuhn-6.2"


def test_a_departure_ends_a_strict_run_only() -> None:
    easy = ClientFixture(played(9))
    easy.say(b'STRT "P_1"')
    assert not easy.dropped
    strict = ClientFixture(played(9), strict=True)
    strict.say(b'STRT "P_1"')
    assert strict.dropped


def test_a_house_leaves_where_the_case_wants_it_to() -> None:
    guest = ClientFixture(HouseSetup(is_reached=lambda talk: talk.referee.game is not None, action=HouseAction.LEAVE))
    assert guest.say(b"STRT P_1") == b"CARD C_QDISC"
    assert guest.dropped
    guest.wait()
    assert guest.stand.is_over
    assert guest.stand.close_delay_seconds is None
    guest.leave()
    assert guest.stand.close_delay_seconds is None, "it has not left by itself: nobody waits for it any more"


def test_when_a_client_has_closed_behind_the_goodbye_is_seen() -> None:
    guest = ClientFixture(HouseSetup(is_reached=lambda talk: talk.referee.game is not None, action=HouseAction.LEAVE))
    guest.say(b"STRT P_1")
    guest.now += 0.1
    guest.leave()
    assert guest.stand.is_over
    assert guest.stand.close_delay_seconds == pytest.approx(0.1)


def test_a_house_closes_with_the_end_of_the_game() -> None:
    guest = ClientFixture(HouseSetup(is_reached=lambda talk: talk.referee.game is not None, action=HouseAction.CLOSE))
    assert guest.say(b"STRT P_1") == b"CARD C_Q"
    assert guest.say(b"ACTN BET") == b"CARD C_KDISC"
    assert guest.dropped


def test_what_crosses_the_goodbye_is_nobodys_fault() -> None:
    guest = ClientFixture(HouseSetup(is_reached=lambda talk: talk.referee.game is not None, action=HouseAction.CLOSE))
    guest.say(b"STRT P_1")
    guest.say(b"ACTN BETDISC")
    assert (guest.stand.fault, guest.stand.house_fault) == (None, None)


def test_a_house_that_hangs_up_has_broken_a_clause() -> None:
    guest = ClientFixture(HouseSetup(is_reached=lambda talk: talk.referee.game is not None, action=HouseAction.HANG_UP))
    assert guest.say(b"STRT P_1") == b"CARD C_Q"
    assert guest.stand.house_fault is not None
    assert guest.stand.house_fault.verdict.violation.clause == "kuhn-8.2"


def test_behind_its_own_fault_the_house_waits_for_one_word() -> None:
    guest = ClientFixture(played(9), habit=lambda answers: [b"CARD C_A"])
    guest.say(b"STRT P_1")
    assert guest.stand.house_fault is not None
    assert not guest.dropped
    assert guest.say(b"ACTN BET") == b""
    assert guest.dropped
    assert guest.stand.reaction == Actn("BET")
    assert guest.stand.fault is None


def test_a_silence_in_a_game_is_waited_for_longer_than_one_between_games() -> None:
    guest = ClientFixture(played(9))
    guest.say(b"STRT P_1")
    assert guest.stand.deadline == 5.0
    guest.say(b"ACTN BET")
    assert guest.stand.deadline == 1.0
    guest.wait()
    assert (guest.stand.conversation_end, guest.stand.pending_obligation) == (ConversationEnd.SILENCE, "")


def test_single_bytes_do_not_extend_the_time() -> None:
    guest = ClientFixture(played(9))
    guest.say(b"STRT P_1")
    guest.now = 4.0
    guest.say(b"A")
    assert guest.stand.deadline == 5.0
    guest.wait()
    assert (guest.stand.conversation_end, guest.stand.pending_obligation) == (ConversationEnd.SILENCE, "kuhn-4.1")


def test_a_connection_without_data_is_not_the_client() -> None:
    guest = ClientFixture(played(9))
    guest.leave()
    assert not guest.stand.is_over
    guest._do(Joined(1))
    assert guest.say(b"STRT P_1") == b"CARD C_Q"


def test_a_second_connection_is_dropped() -> None:
    guest = ClientFixture(played(9))
    assert guest.stand.on(Joined(2), 0.0) == [Drop(2)]


def test_a_transcript_is_replayed_as_long_as_the_client_follows_it() -> None:
    guest = ClientFixture(HouseSetup(is_reached=lambda _: False), paper="house-answers-a-fold")
    assert guest.say(b"STRT P_2") == b"CARD C_QACTN BET"
    assert guest.say(b"ACTN FLD") == b"CARD C_K"
    assert guest.stand.house_fault is not None
    assert guest.stand.house_fault.verdict.violation.clause == "kuhn-4.7"


def test_our_house_plays_until_the_transcript_begins() -> None:
    guest = ClientFixture(HouseSetup(is_reached=lambda _: False), paper="house-answers-a-fold")
    assert guest.say(b"STRT P_1ACTN BET") == b"CARD C_QCARD C_K"
    assert guest.say(b"STRT P_2") == b"CARD C_QACTN BET"


def test_leaving_the_transcript_ends_with_a_goodbye() -> None:
    guest = ClientFixture(HouseSetup(is_reached=lambda _: False), paper="house-answers-a-fold")
    guest.say(b"STRT P_2")
    assert guest.say(b"ACTN CAL") == b"DISC"
    assert guest.stand.deviation == "the client sent ACTN CAL where ACTN FLD leads to the state"
    assert guest.stand.house_fault is None


def test_a_client_that_repeats_itself_for_ever_is_sent_away() -> None:
    guest = ClientFixture(played(9), {"coins": 0})
    for _ in range(3000):
        guest.say(b"STRT P_1")
    assert guest.dropped
