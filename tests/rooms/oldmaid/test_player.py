"""Player of Old Maid beyond the transcripts: effects, events and options."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.bots import RandomBot
from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.core.errors import IllegalMove, Violation
from croupier.core.session import (
    Closing,
    Connect,
    Drop,
    Effect,
    Event,
    Joined,
    Left,
    Malformed,
    Notify,
    Received,
    Send,
    Submitted,
    TimedOut,
)
from croupier.rooms.oldmaid.cards import CARD_NUMBERS, JOKER
from croupier.rooms.oldmaid.player import TABLE, Options, Player
from croupier.rooms.oldmaid.ring.member import MAX_HELD_MESSAGES
from croupier.rooms.oldmaid.ring.player_events import (
    CardDrawn,
    CardGiven,
    CardPicked,
    HandEmptied,
    NeighbourSkipped,
    OfferMade,
    OfferReceived,
    OfferWithdrawn,
    PairDiscarded,
    PairRefused,
    PlaceAnnounced,
    PlayerEvent,
    PlayerFinished,
    PlayerResult,
    SeatTaken,
    StandingChanged,
)
from croupier.rooms.oldmaid.ring.turns import LOST_TURN_SECONDS, Neighbour, TurnStage, TurnTracker
from croupier.rooms.oldmaid.wire import (
    OK,
    OUT,
    Discard,
    Draw,
    Join,
    ListedPlayer,
    Message,
    Offer,
    OutOfCards,
    Pick,
    Reply,
    Standing,
    Status,
    YourTurn,
)
from tests.rooms.oldmaid.vocabulary import VOCABULARY

LEFT, RIGHT = -1, 1
LUCK = FairDealer(derive_server_seed(1, "oldmaid", 1)).luck
SEATED: dict[str, ListedPlayer] = {
    "me": (("192.0.2.10", 4010), "me"),
    "left": (("192.0.2.2", 4002), "left"),
    "next": (("192.0.2.3", 4003), "next"),
    "right": (("192.0.2.9", 4009), "right"),
}
THROWN = Reply("ok", "ok")


def card(name: str, result: str = "ok") -> Reply:
    value, suit = name.split()
    return Reply(result, card=(value, suit))


class PlayerFixture:
    """A player `me`; `sent`, `events`, `drops` and `connects` are taken from the effects of the last event."""

    def __init__(self, *nicks: str, **options: object) -> None:
        self.player = Player(Options(nick="me", **options), LUCK)  # type: ignore[arg-type]
        self.now = 0.0
        self.effects: Sequence[Effect[Message | PlayerEvent]] = ()
        self.on(Joined(TABLE))
        if nicks:
            self.table(Reply("ok", players=tuple(SEATED[nick] for nick in nicks)))
            self.on(Joined(LEFT))

    def on(self, event: Event[Message]) -> "PlayerFixture":
        self.effects = self.player.on(event, self.now)
        return self

    def table(self, message: Message) -> "PlayerFixture":
        return self.on(Received(TABLE, message))

    def left(self, message: Message) -> "PlayerFixture":
        return self.on(Received(LEFT, message))

    def right(self, message: Message) -> "PlayerFixture":
        return self.on(Received(RIGHT, message))

    def wait(self) -> "PlayerFixture":
        """Advance to the next deadline."""
        assert self.player.deadline is not None
        self.now = self.player.deadline
        return self.on(TimedOut())

    def draw_card(self, name: str, result: str = "ok") -> "PlayerFixture":
        """Give the player the turn to draw, and answer its draw with a card."""
        self.right(YourTurn())
        return self.table(card(name, result))

    @property
    def sent(self) -> list[tuple[int, Message]]:
        return [(effect.peer, effect.message) for effect in self.effects if isinstance(effect, Send)]  # type: ignore[misc]

    @property
    def events(self) -> list[object]:
        return [effect.notice for effect in self.effects if isinstance(effect, Notify)]

    @property
    def drops(self) -> list[int]:
        return [effect.peer for effect in self.effects if isinstance(effect, Drop)]

    @property
    def connects(self) -> list[Connect]:
        return [effect for effect in self.effects if isinstance(effect, Connect)]


def ring() -> PlayerFixture:
    """The second of three players, with the right neighbour connected."""
    fixture = PlayerFixture("right", "me", "left", pause=0.0)
    return fixture.on(Joined(RIGHT))


# The beginning.


def test_player_joins_when_connected_to_the_table() -> None:
    fixture = PlayerFixture(port=4711)
    assert fixture.sent == [(TABLE, Join("me", 4711))]
    assert (fixture.player.seat, fixture.player.players, fixture.player.left_nick, fixture.player.deadline) == (
        None,
        (),
        None,
        None,
    )


def test_list_seats_the_player_and_it_connects_to_the_left() -> None:
    fixture = PlayerFixture()
    players = (SEATED["right"], SEATED["me"], SEATED["left"])
    fixture.table(Reply("ok", players=players))
    assert fixture.events == [SeatTaken(players, 1)]
    assert fixture.connects == [Connect(LEFT, SEATED["left"][0])]
    assert (fixture.player.seat, fixture.player.players, fixture.player.left_nick) == (1, players, "left")


def test_refused_join_ends_the_game_with_the_reason() -> None:
    fixture = PlayerFixture().table(Reply("error", "oldmaid-3.8: there is one of that name"))
    result = PlayerResult("ended", None, "the table does not let me in: oldmaid-3.8: there is one of that name")
    assert fixture.events == [PlayerFinished(result)]
    assert (fixture.drops, fixture.player.result, fixture.player.is_exhausted) == ([TABLE], result, True)


def test_finished_player_drops_new_connections() -> None:
    fixture = PlayerFixture().on(Closing())
    assert fixture.player.result == PlayerResult("ended", None, "we have left")
    assert fixture.on(Joined(RIGHT)).drops == [RIGHT]
    assert fixture.table(OK).effects == []
    assert fixture.player.deadline is None


def test_pick_without_an_offer_is_illegal() -> None:
    fixture = ring()
    assert fixture.player.legal == ()
    assert fixture.player.decide(RandomBot(), LUCK) is None
    for message in (Pick(0), OK):
        with pytest.raises(IllegalMove):
            fixture.on(Submitted(message))


# Cards.


def test_hand_is_in_random_order() -> None:
    orders = set()
    for _ in range(60):
        fixture = ring()
        for name in ("3 spades", "4 spades", "5 spades"):
            fixture.draw_card(name)
            fixture.left(OK)
        orders.add(tuple(fixture.player.hand))
    assert len(orders) == 6


def test_pair_is_discarded_with_an_event() -> None:
    fixture = ring().draw_card("3 clubs")
    assert fixture.events == [CardDrawn(CARD_NUMBERS["3", "clubs"], is_last=False)]
    fixture.left(OK).draw_card("3 spades")
    assert fixture.sent == [(TABLE, Discard((("3", "spades"), ("3", "clubs")), "false"))]
    fixture.table(THROWN)
    assert fixture.events == [PairDiscarded(CARD_NUMBERS["3", "spades"], CARD_NUMBERS["3", "clubs"])]
    assert fixture.player.view.discarded_pairs == ((CARD_NUMBERS["3", "spades"], CARD_NUMBERS["3", "clubs"]),)
    assert fixture.sent == [(LEFT, YourTurn())]


def test_refused_pair_is_kept() -> None:
    fixture = ring().draw_card("3 clubs").left(OK).draw_card("3 spades").table(Reply("error", "oldmaid-6.9: over"))
    assert fixture.events == [PairRefused(CARD_NUMBERS["3", "spades"], CARD_NUMBERS["3", "clubs"], "oldmaid-6.9: over")]
    assert sorted(fixture.player.hand) == [CARD_NUMBERS["3", "spades"], CARD_NUMBERS["3", "clubs"]]
    assert fixture.sent == [(LEFT, YourTurn())]


def test_card_already_held_is_not_accepted_from_the_table() -> None:
    fixture = ring().draw_card("3 clubs").left(OK).draw_card("3 clubs")
    assert fixture.player.result is not None
    assert fixture.player.result.reason.startswith("oldmaid-8.11: found ")
    assert fixture.drops == [TABLE, LEFT, RIGHT]


def test_refused_draw_is_retried_until_a_turn_arrives() -> None:
    fixture = ring().right(YourTurn())
    asked = 0
    refusal = Reply("error", "oldmaid-4.3: found draw out of order; allowed: one by 'right'")
    while fixture.table(refusal).player.deadline is not None:
        assert fixture.wait().sent == [(TABLE, Draw())]
        asked += 1
    assert (asked, fixture.now) == (20, 5.0)
    fixture.draw_card("3 clubs")
    assert fixture.sent == [(LEFT, YourTurn())]
    fixture.left(OK).right(YourTurn())
    fixture.table(refusal).right(YourTurn())
    assert (fixture.sent, fixture.player.deadline) == ([(RIGHT, OK), (TABLE, Draw())], None)


# Offers.


def test_chosen_pick_is_sent_after_the_pause() -> None:
    fixture = PlayerFixture("right", "me", "left").on(Joined(RIGHT)).draw_card("3 clubs").left(OK).right(Offer(3))
    assert (fixture.sent, fixture.events) == ([(RIGHT, OK)], [OfferReceived(3)])
    assert (fixture.player.offer_size, fixture.player.legal) == (3, (Pick(0), Pick(1), Pick(2)))
    with pytest.raises(IllegalMove):
        fixture.on(Submitted(Pick(3)))
    assert fixture.on(Submitted(Pick(2))).sent == []
    assert (fixture.player.legal, fixture.player.deadline) == ((), 0.05)
    assert fixture.wait().sent == [(RIGHT, Pick(2))]
    assert fixture.player.deadline is None
    fixture.right(card("9 hearts"))
    assert fixture.events == [CardPicked(CARD_NUMBERS["9", "hearts"]), OfferMade("left", 2)]
    assert (fixture.player.offer_size, fixture.sent) == (None, [(LEFT, Offer(2))])


def test_pick_chosen_after_the_pause_is_sent_at_once() -> None:
    fixture = PlayerFixture("right", "me", "left").on(Joined(RIGHT)).draw_card("3 clubs").left(OK).right(Offer(3))
    fixture.now = 60.0
    assert fixture.on(Submitted(Pick(1))).sent == [(RIGHT, Pick(1))]


def test_offer_size_is_limited_to_the_pack() -> None:
    fixture = ring().draw_card("3 clubs").left(OK).right(Offer(10**12))
    assert len(fixture.player.legal) == 53
    assert fixture.events == [OfferReceived(10**12)]


def test_view_has_the_hand_and_the_offer_size() -> None:
    fixture = ring().draw_card("3 clubs").left(OK).right(Offer(3))
    view = fixture.player.view
    assert (view.hand, view.discarded_pairs, view.out_seats, view.offer_size) == (
        (CARD_NUMBERS["3", "clubs"],),
        (),
        (),
        3,
    )
    assert fixture.player.decide(RandomBot(), LUCK) in fixture.player.legal


def test_given_cards_and_the_empty_hand_have_events() -> None:
    fixture = ring().draw_card("3 clubs", "last_card").left(OK).left(Pick(0))
    given = CARD_NUMBERS["3", "clubs"]
    assert fixture.events == [CardGiven(given, "left"), HandEmptied()]
    assert fixture.sent == [(LEFT, Reply("ok", card=("3", "clubs"))), (TABLE, OutOfCards())]


def test_player_that_floods_while_the_table_is_awaited_is_dropped() -> None:
    fixture = ring().draw_card("3 clubs", "last_card").left(OK).left(Pick(0))
    for _ in range(MAX_HELD_MESSAGES):
        assert fixture.right(Offer(2)).effects == []
    assert fixture.right(Offer(2)).drops == [RIGHT]
    assert fixture.table(Reply("ok")).sent == [], "the messages of a dropped player are forgotten"


def test_offer_is_withdrawn_when_its_giver_is_gone() -> None:
    fixture = ring().draw_card("3 clubs").left(OK).right(Offer(2)).on(Left(RIGHT))
    assert fixture.events == [OfferWithdrawn(), OfferMade("left", 1)]
    assert (fixture.player.offer_size, fixture.player.legal) == (None, ())


def test_giver_with_an_invalid_answer_is_dropped() -> None:
    for wrong in (Reply("out"), Reply("ok"), card("1 spades"), Standing((), ())):
        fixture = ring().draw_card("3 clubs").left(OK).right(Offer(2)).on(Submitted(Pick(0))).right(wrong)
        assert (fixture.drops, fixture.sent) == ([RIGHT], [(LEFT, Offer(1))])


def test_standing_from_a_player_is_refused() -> None:
    fixture = ring().right(Standing((), ()))
    ((peer, answer),) = fixture.sent
    assert isinstance(answer, Reply)
    assert (peer, answer.result, (answer.message or "")[:12]) == (RIGHT, "error", "oldmaid-8.5:")


def test_offer_during_a_turn_to_draw_is_accepted() -> None:
    fixture = PlayerFixture("right", "me", "left", pause=0.0)
    fixture.on(Joined(RIGHT)).draw_card("3 clubs")
    fixture.draw_card("4 clubs")  # the answer of the left neighbour is still pending
    assert fixture.right(Offer(1)).sent == [(RIGHT, OK)]


# The end.


def finished() -> PlayerFixture:
    """A player that has given its only card away."""
    return ring().draw_card("3 clubs", "last_card").left(OK).left(Pick(0)).table(OK)


def test_player_out_polls_until_one_player_is_left() -> None:
    fixture = finished()
    assert (fixture.now, fixture.player.deadline) == (0.0, 1.0)
    assert fixture.wait().sent == [(TABLE, Status())]
    standing = Standing(("right", "left"), ("me",))
    fixture.table(standing)
    assert fixture.events == [StandingChanged(standing), PlaceAnnounced(1)]
    assert (fixture.player._table.standing, fixture.player.view.out_seats) == (standing, (1,))
    assert fixture.wait().table(standing).events == []
    fixture.wait().table(Standing(("left",), ("me", "right")))
    assert fixture.events == [
        StandingChanged(Standing(("left",), ("me", "right"))),
        PlayerFinished(PlayerResult("out", 1)),
    ]
    assert fixture.drops == [TABLE, LEFT]
    assert (fixture.player.view.out_seats, fixture.player.is_exhausted) == ((1, 0), False)


def test_player_out_stays_connected_for_a_moment() -> None:
    fixture = finished().on(Left(RIGHT)).wait().table(Standing(("left",), ("me", "right")))
    assert fixture.on(Joined(2)).on(Received(2, Offer(1))).sent == [(2, OUT)]
    assert fixture.on(Left(TABLE)).effects == []
    assert fixture.on(Left(2)).wait().effects == []
    assert (fixture.now, fixture.player.is_exhausted, fixture.player.result) == (2.0, True, PlayerResult("out", 1))


def test_player_out_waits_longer_for_the_offer_of_a_player_that_is_connected() -> None:
    fixture = finished().wait().table(Standing(("right",), ("me", "left")))
    assert [fixture.wait().drops for _ in range(4)] == [[]] * 4
    assert fixture.on(Received(RIGHT, Offer(1))).sent == [(RIGHT, OUT)]
    assert fixture.wait().drops == [RIGHT]
    assert (fixture.now, fixture.player.is_exhausted) == (6.0, True)


def test_player_out_waits_again_after_a_stall_in_which_an_offer_may_have_come() -> None:
    fixture = finished().on(Left(RIGHT)).wait().table(Standing(("right",), ("me", "left")))
    fixture.now = 2.8  # the deadline was 2.0
    assert fixture.on(TimedOut()).drops == []
    assert fixture.on(Joined(2)).on(Received(2, Offer(1))).sent == [(2, OUT)]
    assert fixture.on(Left(2)).wait().player.is_exhausted
    assert fixture.now == 3.8


def test_player_out_may_have_no_known_place() -> None:
    fixture = finished().wait().on(Left(TABLE, "closed"))
    assert fixture.player.result == PlayerResult("ended", None, "the server closed the connection: closed")


def test_player_loses_when_all_others_are_out() -> None:
    fixture = ring().draw_card("joker maid", "last_card").left(OUT)
    assert (fixture.events, fixture.drops) == ([NeighbourSkipped("left", "out")], [LEFT])
    assert fixture.connects == [Connect(-2, SEATED["right"][0])]
    fixture.on(Joined(-2)).on(Received(-2, OUT))
    assert fixture.events == [NeighbourSkipped("right", "out"), PlayerFinished(PlayerResult("lost", 3))]
    assert fixture.player.hand == [JOKER]
    assert fixture.player.view.out_seats == (2, 0)


def left_alone(name: str) -> PlayerFixture:
    """A player that holds one card and can reach nobody: one player has answered out, the other one has left."""
    return ring().draw_card(name, "last_card").left(OUT).on(Joined(-2)).on(Left(-2))


def test_player_left_alone_by_a_disconnect_has_not_lost() -> None:
    assert left_alone("3 spades").player.result == PlayerResult("ended", None, "nobody is left to play with")


def test_player_left_alone_with_the_old_maid_has_lost_if_the_table_lists_the_others_as_out() -> None:
    fixture = left_alone("joker maid")
    assert (fixture.player.result, fixture.sent) == (None, [(TABLE, Status())])
    fixture.table(Standing(("me",), ("left", "right")))
    assert fixture.player.result == PlayerResult("lost")


def test_player_left_alone_with_the_old_maid_has_not_lost_if_the_table_lists_another_one_as_in() -> None:
    fixture = left_alone("joker maid").table(Standing(("right", "me"), ("left",)))
    assert fixture.player.result == PlayerResult("ended", None, "nobody is left to play with")
    assert fixture.player.is_exhausted


def test_player_left_alone_while_it_discards_its_last_pair_may_have_lost() -> None:
    fixture = PlayerFixture("right", "me", pause=0.0).on(Joined(RIGHT)).draw_card("joker maid").left(OK)
    fixture.draw_card("3 spades").left(OK).right(Offer(1)).on(Submitted(Pick(0))).right(card("3 clubs"))
    assert fixture.sent == [(TABLE, Discard((("3", "spades"), ("3", "clubs")), "false"))]
    assert fixture.on(Left(RIGHT)).on(Left(LEFT)).player.result is None
    assert fixture.table(THROWN).sent == [(TABLE, Status())]
    assert fixture.table(Standing(("me",), ("right",))).player.result == PlayerResult("lost")


def test_last_table_error_is_the_reason() -> None:
    fixture = ring().table(Reply("error", "oldmaid-6.10: found nothing")).on(Left(TABLE, "hung up"))
    assert fixture.player.result == PlayerResult(
        "ended", None, "the server closed the connection: oldmaid-6.10: found nothing"
    )
    assert fixture.drops == [LEFT, RIGHT]


def test_request_from_the_table_is_not_accepted() -> None:
    fixture = ring().right(YourTurn()).table(YourTurn())
    assert fixture.player.result is not None
    assert fixture.player.result.reason.startswith(
        'oldmaid-8.11: found {"cmd":"your_turn"} as the answer to {"cmd":"draw"}'
    )


# Disconnects.


def test_left_neighbour_is_retried_and_then_skipped() -> None:
    fixture = PlayerFixture()
    fixture.table(Reply("ok", players=(SEATED["right"], SEATED["me"], SEATED["left"])))
    calls = 1
    while not fixture.on(Left(-calls, "refused")).events:
        assert fixture.wait().connects == [Connect(-calls - 1, SEATED["left"][0])]
        calls += 1
    assert (calls, fixture.now, fixture.events) == (21, 5.0, [NeighbourSkipped("left", "gone")])
    assert fixture.connects == [Connect(-22, SEATED["right"][0])]


def test_retry_timeout_zero_means_one_attempt() -> None:
    neighbour = Neighbour((SEATED["left"], SEATED["right"]), 0.0)
    assert neighbour.connect(7.0) == Connect(-1, SEATED["left"][0])
    assert neighbour.connect(7.0) is None
    assert not neighbour.connect_failed(7.0)


def test_late_connection_is_dropped() -> None:
    fixture = ring().on(Left(LEFT))
    assert fixture.connects == [Connect(-2, SEATED["right"][0])]
    assert fixture.on(Joined(-7)).drops == [-7]


def test_last_player_resumes_the_first_turn_if_the_first_is_gone() -> None:
    fixture = PlayerFixture("left", "next", "me").on(Left(LEFT))
    assert fixture.connects == [Connect(-2, SEATED["next"][0])]
    assert fixture.on(Joined(-2)).sent == [(-2, YourTurn())]


def test_player_out_connects_only_to_pass_a_turn_on() -> None:
    fixture = finished()
    fixture.right(Offer(2)).on(Left(LEFT))
    assert (fixture.sent, fixture.connects, fixture.player.deadline) == ([], [], 1.0)
    fixture = finished().on(Left(LEFT))  # with the given card and the turn
    assert fixture.connects == [Connect(-2, SEATED["right"][0])]
    assert fixture.on(Joined(-2)).sent == [(-2, Offer(0))]
    assert fixture.on(Received(-2, OUT)).drops == [-2]
    assert (fixture.player.result, fixture.player.left_nick) == (None, None)


def test_player_out_answers_others_once_the_table_knows() -> None:
    """oldmaid-7.12"""
    fixture = ring().draw_card("joker maid", "last_card").left(OK).left(Pick(0))
    assert fixture.sent[-1] == (TABLE, OutOfCards())
    assert fixture.right(Offer(2)).sent == []
    malformed = Violation("oldmaid-8.7", "num_cards 'x'", "an integer, 0 or more")
    assert fixture.on(Malformed(RIGHT, malformed)).sent == []
    assert fixture.table(OK).sent == [(RIGHT, OUT), (RIGHT, Reply("error", str(malformed)))]


def test_player_out_answers_no_player_that_has_hung_up() -> None:
    fixture = ring().draw_card("joker maid", "last_card").left(OK).left(Pick(0))
    fixture.right(Offer(2)).on(Left(RIGHT))
    assert fixture.table(Reply("error", "oldmaid-6.9: no")).sent == []


def test_refused_offer_resumes_the_turn_after_denying_another() -> None:
    fixture = ring().draw_card("joker maid", "last_card")
    ((peer, answer),) = fixture.right(Offer(2)).sent
    assert (peer, isinstance(answer, Reply) and answer.result) == (RIGHT, "error")
    fixture.left(Reply("error", "oldmaid-7.13: not now"))
    assert (fixture.sent, fixture.player.deadline) == ([], 0.5)
    assert fixture.wait().sent == [(LEFT, Offer(1))]
    fixture.right(Offer(2)).left(Reply("error", "oldmaid-7.13: not now")).right(Offer(2))
    assert (fixture.sent, fixture.player.deadline) == ([(RIGHT, OK)], None)


def test_refused_offer_ends_the_turn() -> None:
    fixture = ring().draw_card("joker maid", "last_card").left(Reply("error", "oldmaid-7.13: not now"))
    assert (fixture.sent, fixture.player.deadline) == ([], None)
    assert fixture.right(Offer(1)).sent == [(RIGHT, OK)]


def test_denied_turn_to_draw_is_resumed_with_a_draw() -> None:
    fixture = ring().right(YourTurn()).right(YourTurn())
    assert isinstance(fixture.sent[0][1], Reply)
    assert fixture.table(card("3 clubs")).sent == [(LEFT, YourTurn())]
    assert fixture.wait().sent == [(TABLE, Draw())]


def test_turn_that_does_not_come_from_a_right_neighbour_that_is_gone_is_resumed() -> None:
    """oldmaid-9.9: the player before it may not have noticed."""
    fixture = ring().draw_card("3 spades").draw_card("4 hearts", "last_card").left(OK).left(OK).left(Pick(0))
    assert (fixture.on(Left(RIGHT)).sent, fixture.player.deadline) == ([], LOST_TURN_SECONDS)
    assert fixture.wait().sent == [(LEFT, Offer(1))]


def test_turn_to_draw_that_does_not_come_is_asked_for() -> None:
    fixture = ring().draw_card("3 spades").left(OK).on(Left(RIGHT))
    assert fixture.wait().sent == [(TABLE, Draw())]
    assert fixture.now == LOST_TURN_SECONDS


def test_turn_that_comes_from_another_player_in_time_is_not_resumed() -> None:
    fixture = ring().draw_card("3 spades").left(OK).on(Left(RIGHT)).on(Joined(2)).on(Received(2, YourTurn()))
    assert (fixture.sent, fixture.player.deadline) == ([(2, OK), (TABLE, Draw())], None)


def test_turn_is_not_resumed_after_a_new_one() -> None:
    turn = TurnTracker(5.0)
    turn.on_refused(0.0, 0, is_deck_empty=False)
    turn.is_passed_on = True
    turn.recall()
    assert (turn.stage, turn.resumes_at, turn.take_resumption(9.0)) == (TurnStage.PASSING, None, False)


# Whatever comes.

WORDS: list[Message] = [
    *VOCABULARY,
    Reply("last_card", card=("Q", "hearts")),
    Reply("error", "no"),
    Standing(("me",), ()),
]
CLAUSES = ["oldmaid-8.3", "oldmaid-8.7", "oldmaid-8.11"]
PEERS = st.sampled_from([TABLE, LEFT, -2, -3, RIGHT, 2])
EVENTS: st.SearchStrategy[Event[Message]] = st.one_of(
    st.builds(Received, PEERS, st.sampled_from(WORDS)),
    st.builds(Malformed, PEERS, st.sampled_from([Violation(clause, "x", "y") for clause in CLAUSES])),
    st.builds(Left, PEERS),
    st.builds(Joined, PEERS),
    st.just(TimedOut()),
)


def comes(event: Event[Message], there: set[int]) -> bool:
    """Whether an event is possible with these connected peers; if so, update them."""
    match event:
        case Joined(peer):
            possible = peer != TABLE and peer not in there
            there |= {peer} if possible else set()
            return possible
        case Left(peer):  # a failed connection was not open
            possible = peer in there or peer < TABLE
            there.discard(peer)
            return possible
        case Received(peer) | Malformed(peer):
            return peer in there
    return True


@given(events=st.lists(EVENTS, max_size=60), seats=st.sampled_from([("me", "left", "next"), ("right", "me", "left")]))
def test_player_sends_only_to_connected_peers_one_request_at_a_time(
    events: list[Event[Message]], seats: Sequence[str]
) -> None:
    fixture = PlayerFixture(*seats, pause=0.0)
    there, owing = {TABLE, LEFT}, {TABLE} if seats[0] == "me" else set()
    for event in events:
        if not comes(event, there):
            continue
        effects = [*fixture.on(event).effects]
        if picked := fixture.player.decide(RandomBot(), LUCK):
            effects += fixture.on(Submitted(picked)).effects
        if isinstance(event, Left) or (isinstance(event, Received | Malformed) and not requests(event)):
            owing.discard(event.peer)
        for effect in effects:
            if isinstance(effect, Send):
                assert effect.peer in there, f"{effect.message} is sent to an unconnected peer"
                if not isinstance(effect.message, Reply):
                    assert effect.peer not in owing, f"{effect.message} is asked before an answer has come"
                    owing.add(effect.peer)
            elif isinstance(effect, Drop):
                there.discard(effect.peer)
                owing.discard(effect.peer)
        fixture.now += 0.1
        assert len({*fixture.player.hand}) == len(fixture.player.hand)
        assert fixture.player.result is not None or not fixture.player.is_exhausted


def requests(event: Received[Message] | Malformed) -> bool:
    """Whether an event is a request, or may be one."""
    if isinstance(event, Malformed):
        return event.violation.clause == "oldmaid-8.7"
    return not isinstance(event.message, Reply | Standing)
