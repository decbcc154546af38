"""The player of Old Maid on his own: what the papers do not show of his session, his news and his options."""

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
from croupier.rooms.oldmaid.ring.neighbour import Neighbour
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
from croupier.rooms.oldmaid.ring.turn import TurnStage, TurnTracker
from croupier.rooms.oldmaid.wire import (
    OK,
    OUT,
    VOCABULARY,
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


class Circle:
    """A player `me`, and what he does: `says` and `news` of the last event are what there was of each in its order."""

    def __init__(self, *nicks: str, **options: object) -> None:
        self.player = Player(Options(nick="me", **options), LUCK)  # type: ignore[arg-type]
        self.now = 0.0
        self.effects: Sequence[Effect[Message | PlayerEvent]] = ()
        self.on(Joined(TABLE))
        if nicks:
            self.table(Reply("ok", players=tuple(SEATED[nick] for nick in nicks)))
            self.on(Joined(LEFT))

    def on(self, event: Event[Message]) -> "Circle":
        self.effects = self.player.on(event, self.now)
        return self

    def table(self, message: Message) -> "Circle":
        return self.on(Received(TABLE, message))

    def left(self, message: Message) -> "Circle":
        return self.on(Received(LEFT, message))

    def right(self, message: Message) -> "Circle":
        return self.on(Received(RIGHT, message))

    def wait(self) -> "Circle":
        """Until the next alarm."""
        assert self.player.deadline is not None
        self.now = self.player.deadline
        return self.on(TimedOut())

    def draws(self, name: str, result: str = "ok") -> "Circle":
        """It is our turn, by the right neighbour, and this is the card."""
        self.right(YourTurn())
        return self.table(card(name, result))

    @property
    def says(self) -> list[tuple[int, Message]]:
        return [(effect.peer, effect.message) for effect in self.effects if isinstance(effect, Send)]  # type: ignore[misc]

    @property
    def news(self) -> list[object]:
        return [effect.notice for effect in self.effects if isinstance(effect, Notify)]

    @property
    def drops(self) -> list[int]:
        return [effect.peer for effect in self.effects if isinstance(effect, Drop)]

    @property
    def calls(self) -> list[Connect]:
        return [effect for effect in self.effects if isinstance(effect, Connect)]


def ring() -> Circle:
    """Three players, and we are the second; the right neighbour is connected."""
    circle = Circle("right", "me", "left", pause=0.0)
    return circle.on(Joined(RIGHT))


# The beginning.


def test_a_player_joins_as_soon_as_he_has_the_table() -> None:
    circle = Circle(port=4711)
    assert circle.says == [(TABLE, Join("me", 4711))]
    assert (circle.player.seat, circle.player.players, circle.player.left_nick, circle.player.deadline) == (
        None,
        (),
        None,
        None,
    )


def test_the_list_seats_him_and_makes_him_call_his_left_neighbour() -> None:
    circle = Circle()
    players = (SEATED["right"], SEATED["me"], SEATED["left"])
    circle.table(Reply("ok", players=players))
    assert circle.news == [SeatTaken(players, 1)]
    assert circle.calls == [Connect(LEFT, SEATED["left"][0])]
    assert (circle.player.seat, circle.player.players, circle.player.left_nick) == (1, players, "left")


def test_a_refused_join_ends_it_with_the_reason() -> None:
    circle = Circle().table(Reply("error", "oldmaid-3.8: there is one of that name"))
    result = PlayerResult("ended", None, "the table does not let us in: oldmaid-3.8: there is one of that name")
    assert circle.news == [PlayerFinished(result)]
    assert (circle.drops, circle.player.result, circle.player.is_exhausted) == ([TABLE], result, True)


def test_who_has_ended_takes_no_connection_any_more() -> None:
    circle = Circle().on(Closing())
    assert circle.player.result == PlayerResult("ended", None, "we have left")
    assert circle.on(Joined(RIGHT)).drops == [RIGHT]
    assert circle.table(OK).effects == []
    assert circle.player.deadline is None


def test_nobody_picks_who_is_offered_nothing() -> None:
    circle = ring()
    assert circle.player.legal == ()
    assert circle.player.decide(RandomBot(), LUCK) is None
    for message in (Pick(0), OK):
        with pytest.raises(IllegalMove):
            circle.on(Submitted(message))


# Cards.


def test_cards_are_put_where_only_luck_knows() -> None:
    orders = set()
    for _ in range(60):
        circle = ring()
        for name in ("3 spades", "4 spades", "5 spades"):
            circle.draws(name)
            circle.left(OK)
        orders.add(tuple(circle.player.hand))
    assert len(orders) == 6


def test_a_pair_is_thrown_away_and_told_of() -> None:
    circle = ring().draws("3 clubs")
    assert circle.news == [CardDrawn(CARD_NUMBERS["3", "clubs"], is_last=False)]
    circle.left(OK).draws("3 spades")
    assert circle.says == [(TABLE, Discard((("3", "spades"), ("3", "clubs")), "false"))]
    circle.table(THROWN)
    assert circle.news == [PairDiscarded(CARD_NUMBERS["3", "spades"], CARD_NUMBERS["3", "clubs"])]
    assert circle.player.view.discarded_pairs == ((CARD_NUMBERS["3", "spades"], CARD_NUMBERS["3", "clubs"]),)
    assert circle.says == [(LEFT, YourTurn())]


def test_a_pair_that_the_table_does_not_take_is_kept() -> None:
    circle = ring().draws("3 clubs").left(OK).draws("3 spades").table(Reply("error", "oldmaid-6.9: over"))
    assert circle.news == [PairRefused(CARD_NUMBERS["3", "spades"], CARD_NUMBERS["3", "clubs"], "oldmaid-6.9: over")]
    assert sorted(circle.player.hand) == [CARD_NUMBERS["3", "spades"], CARD_NUMBERS["3", "clubs"]]
    assert circle.says == [(LEFT, YourTurn())]


def test_a_card_that_he_has_already_is_none_of_the_table() -> None:
    circle = ring().draws("3 clubs").left(OK).draws("3 clubs")
    assert circle.player.result is not None
    assert circle.player.result.reason.startswith("oldmaid-8.11: found ")
    assert circle.drops == [TABLE, LEFT, RIGHT]


def test_who_is_refused_a_card_asks_again_for_a_while_unless_he_hears_of_the_turn() -> None:
    circle = ring().right(YourTurn())
    asked = 0
    refusal = Reply("error", "oldmaid-4.3: found draw out of order; allowed: one by 'right'")
    while circle.table(refusal).player.deadline is not None:
        assert circle.wait().says == [(TABLE, Draw())]
        asked += 1
    assert (asked, circle.now) == (20, 5.0)
    circle.draws("3 clubs")
    assert circle.says == [(LEFT, YourTurn())]
    circle.left(OK).right(YourTurn())
    circle.table(refusal).right(YourTurn())
    assert (circle.says, circle.player.deadline) == ([(RIGHT, OK), (TABLE, Draw())], None)


# Offers.


def test_he_picks_what_is_decided_when_the_pause_is_over() -> None:
    circle = Circle("right", "me", "left").on(Joined(RIGHT)).draws("3 clubs").left(OK).right(Offer(3))
    assert (circle.says, circle.news) == ([(RIGHT, OK)], [OfferReceived(3)])
    assert (circle.player.offer_size, circle.player.legal) == (3, (Pick(0), Pick(1), Pick(2)))
    with pytest.raises(IllegalMove):
        circle.on(Submitted(Pick(3)))
    assert circle.on(Submitted(Pick(2))).says == []
    assert (circle.player.legal, circle.player.deadline) == ((), 0.05)
    assert circle.wait().says == [(RIGHT, Pick(2))]
    assert circle.player.deadline is None
    circle.right(card("9 hearts"))
    assert circle.news == [CardPicked(CARD_NUMBERS["9", "hearts"]), OfferMade("left", 2)]
    assert (circle.player.offer_size, circle.says) == (None, [(LEFT, Offer(2))])


def test_who_decides_after_the_pause_picks_at_once() -> None:
    circle = Circle("right", "me", "left").on(Joined(RIGHT)).draws("3 clubs").left(OK).right(Offer(3))
    circle.now = 60.0
    assert circle.on(Submitted(Pick(1))).says == [(RIGHT, Pick(1))]


def test_nobody_can_be_made_to_count_more_cards_than_there_are() -> None:
    circle = ring().draws("3 clubs").left(OK).right(Offer(10**12))
    assert len(circle.player.legal) == 53
    assert circle.news == [OfferReceived(10**12)]


def test_a_mind_sees_the_hand_and_how_many_cards_it_is_offered() -> None:
    circle = ring().draws("3 clubs").left(OK).right(Offer(3))
    view = circle.player.view
    assert (view.hand, view.discarded_pairs, view.out_seats, view.offer_size) == (
        (CARD_NUMBERS["3", "clubs"],),
        (),
        (),
        3,
    )
    assert circle.player.decide(RandomBot(), LUCK) in circle.player.legal


def test_a_card_that_was_picked_is_told_of_and_so_is_the_last_one() -> None:
    circle = ring().draws("3 clubs", "last_card").left(OK).left(Pick(0))
    given = CARD_NUMBERS["3", "clubs"]
    assert circle.news == [CardGiven(given, "left"), HandEmptied()]
    assert circle.says == [(LEFT, Reply("ok", card=("3", "clubs"))), (TABLE, OutOfCards())]


def test_an_offer_whose_offerer_is_gone_is_withdrawn() -> None:
    circle = ring().draws("3 clubs").left(OK).right(Offer(2)).on(Left(RIGHT))
    assert circle.news == [OfferWithdrawn(), OfferMade("left", 1)]
    assert (circle.player.offer_size, circle.player.legal) == (None, ())


def test_an_offerer_who_says_what_is_no_answer_to_a_pick_is_gone() -> None:
    for wrong in (Reply("out"), Reply("ok"), card("1 spades"), Standing((), ())):
        circle = ring().draws("3 clubs").left(OK).right(Offer(2)).on(Submitted(Pick(0))).right(wrong)
        assert (circle.drops, circle.says) == ([RIGHT], [(LEFT, Offer(1))])


def test_a_status_from_another_player_is_no_request_when_nothing_was_asked() -> None:
    circle = ring().right(Standing((), ()))
    ((peer, answer),) = circle.says
    assert isinstance(answer, Reply)
    assert (peer, answer.result, (answer.message or "")[:12]) == (RIGHT, "error", "oldmaid-8.5:")


def test_who_has_a_turn_to_draw_takes_an_offer_for_all_cards_are_drawn() -> None:
    circle = Circle("right", "me", "left", pause=0.0)
    circle.on(Joined(RIGHT)).draws("3 clubs")
    circle.draws("4 clubs")  # the left neighbour still owes an answer
    assert circle.right(Offer(1)).says == [(RIGHT, OK)]


# The end.


def finished() -> Circle:
    """We have given our only card away."""
    return ring().draws("3 clubs", "last_card").left(OK).left(Pick(0)).table(OK)


def test_who_is_out_looks_how_it_stands_until_one_is_left() -> None:
    circle = finished()
    assert (circle.now, circle.player.deadline) == (0.0, 1.0)
    assert circle.wait().says == [(TABLE, Status())]
    standing = Standing(("right", "left"), ("me",))
    circle.table(standing)
    assert circle.news == [StandingChanged(standing), PlaceAnnounced(1)]
    assert (circle.player.standing, circle.player.view.out_seats) == (standing, (1,))
    assert circle.wait().table(standing).news == []
    circle.wait().table(Standing(("left",), ("me", "right")))
    assert circle.news == [
        StandingChanged(Standing(("left",), ("me", "right"))),
        PlayerFinished(PlayerResult("out", 1)),
    ]
    assert (circle.drops, circle.player.view.out_seats, circle.player.is_exhausted) == ([TABLE], (1, 0), False)


def test_he_who_is_out_is_there_for_a_moment_for_whoever_has_to_ask_him() -> None:
    circle = finished().wait().table(Standing(("left",), ("me", "right")))
    assert circle.on(Joined(2)).on(Received(2, Offer(1))).says == [(2, OUT)]
    assert circle.on(Left(TABLE)).effects == []
    assert circle.wait().drops == [LEFT, RIGHT, 2]
    assert (circle.now, circle.player.is_exhausted, circle.player.result) == (2.0, True, PlayerResult("out", 1))


def test_who_is_out_may_never_learn_his_place() -> None:
    circle = finished().wait().on(Left(TABLE, "closed"))
    assert circle.player.result == PlayerResult("ended", None, "the table hung up: closed")


def test_whom_all_others_have_told_that_they_are_out_has_lost() -> None:
    circle = ring().draws("joker maid", "last_card").left(OUT)
    assert (circle.news, circle.drops) == ([NeighbourSkipped("left", "out")], [LEFT])
    assert circle.calls == [Connect(-2, SEATED["right"][0])]
    circle.on(Joined(-2)).on(Received(-2, OUT))
    assert circle.news == [NeighbourSkipped("right", "out"), PlayerFinished(PlayerResult("lost", 3))]
    assert circle.player.hand == [JOKER]
    assert circle.player.view.out_seats == (2, 0)


def test_who_is_left_alone_by_one_who_is_gone_has_not_lost() -> None:
    circle = ring().draws("joker maid", "last_card").left(OUT).on(Joined(-2)).on(Left(-2))
    assert circle.player.result == PlayerResult("ended", None, "nobody is left to play with")


def test_the_last_word_of_the_table_is_the_reason() -> None:
    circle = ring().table(Reply("error", "oldmaid-6.10: found nothing")).on(Left(TABLE, "hung up"))
    assert circle.player.result == PlayerResult("ended", None, "the table hung up: oldmaid-6.10: found nothing")
    assert circle.drops == [LEFT, RIGHT]


def test_a_request_of_the_table_is_none_that_it_can_have() -> None:
    circle = ring().right(YourTurn()).table(YourTurn())
    assert circle.player.result is not None
    assert circle.player.result.reason.startswith(
        'oldmaid-8.11: found {"cmd":"your_turn"} as the answer to {"cmd":"draw"}'
    )


# Who is gone.


def test_the_left_neighbour_is_called_again_for_a_while_and_then_skipped() -> None:
    circle = Circle()
    circle.table(Reply("ok", players=(SEATED["right"], SEATED["me"], SEATED["left"])))
    calls = 1
    while not circle.on(Left(-calls, "refused")).news:
        assert circle.wait().calls == [Connect(-calls - 1, SEATED["left"][0])]
        calls += 1
    assert (calls, circle.now, circle.news) == (21, 5.0, [NeighbourSkipped("left", "gone")])
    assert circle.calls == [Connect(-22, SEATED["right"][0])]


def test_without_patience_there_is_one_call() -> None:
    neighbour = Neighbour((SEATED["left"], SEATED["right"]), 0.0)
    assert neighbour.connect(7.0) == Connect(-1, SEATED["left"][0])
    assert neighbour.connect(7.0) is None
    assert not neighbour.connect_failed(7.0)


def test_a_call_that_is_answered_too_late_is_hung_up_on() -> None:
    circle = ring().on(Left(LEFT))
    assert circle.calls == [Connect(-2, SEATED["right"][0])]
    assert circle.on(Joined(-7)).drops == [-7]


def test_the_last_in_the_list_takes_up_the_first_turn_if_the_first_player_is_gone() -> None:
    circle = Circle("left", "next", "me").on(Left(LEFT))
    assert circle.calls == [Connect(-2, SEATED["next"][0])]
    assert circle.on(Joined(-2)).says == [(-2, YourTurn())]


def test_who_is_out_calls_nobody_until_he_has_a_turn_to_pass_on() -> None:
    circle = finished()
    circle.right(Offer(2)).on(Left(LEFT))
    assert (circle.says, circle.calls, circle.player.deadline) == ([], [], 1.0)
    circle = finished().on(Left(LEFT))  # with the card that we gave him, and the turn
    assert circle.calls == [Connect(-2, SEATED["right"][0])]
    assert circle.on(Joined(-2)).says == [(-2, Offer(0))]
    assert circle.on(Received(-2, OUT)).drops == [-2]
    assert (circle.player.result, circle.player.left_nick) == (None, None)


def test_whose_offer_is_refused_takes_the_turn_up_if_he_has_denied_somebody_his() -> None:
    circle = ring().draws("joker maid", "last_card")
    ((peer, answer),) = circle.right(Offer(2)).says
    assert (peer, isinstance(answer, Reply) and answer.result) == (RIGHT, "error")
    circle.left(Reply("error", "oldmaid-7.13: not now"))
    assert (circle.says, circle.player.deadline) == ([], 0.5)
    assert circle.wait().says == [(LEFT, Offer(1))]
    circle.right(Offer(2)).left(Reply("error", "oldmaid-7.13: not now")).right(Offer(2))
    assert (circle.says, circle.player.deadline) == ([(RIGHT, OK)], None)


def test_whose_offer_is_refused_has_no_turn() -> None:
    circle = ring().draws("joker maid", "last_card").left(Reply("error", "oldmaid-7.13: not now"))
    assert (circle.says, circle.player.deadline) == ([], None)
    assert circle.right(Offer(1)).says == [(RIGHT, OK)]


def test_who_has_denied_somebody_his_turn_to_draw_lets_the_table_tell_whose_it_is() -> None:
    circle = ring().right(YourTurn()).right(YourTurn())
    assert isinstance(circle.says[0][1], Reply)
    assert circle.table(card("3 clubs")).says == [(LEFT, YourTurn())]
    assert circle.wait().says == [(TABLE, Draw())]


def test_a_turn_that_has_come_meanwhile_is_not_taken_up_twice() -> None:
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
    """Whether this can happen when these peers are there; if so they are or are not there behind it."""
    match event:
        case Joined(peer):
            possible = peer != TABLE and peer not in there
            there |= {peer} if possible else set()
            return possible
        case Left(peer):  # a call that fails was not there
            possible = peer in there or peer < TABLE
            there.discard(peer)
            return possible
        case Received(peer) | Malformed(peer):
            return peer in there
    return True


@given(events=st.lists(EVENTS, max_size=60), seats=st.sampled_from([("me", "left", "next"), ("right", "me", "left")]))
def test_whatever_comes_he_speaks_to_who_is_there_and_asks_one_thing_at_a_time(
    events: list[Event[Message]], seats: Sequence[str]
) -> None:
    circle = Circle(*seats, pause=0.0)
    there, owing = {TABLE, LEFT}, {TABLE} if seats[0] == "me" else set()
    for event in events:
        if not comes(event, there):
            continue
        effects = [*circle.on(event).effects]
        if picked := circle.player.decide(RandomBot(), LUCK):
            effects += circle.on(Submitted(picked)).effects
        if isinstance(event, Left) or (isinstance(event, Received | Malformed) and not requests(event)):
            owing.discard(event.peer)
        for effect in effects:
            if isinstance(effect, Send):
                assert effect.peer in there, f"{effect.message} is said to nobody"
                if not isinstance(effect.message, Reply):
                    assert effect.peer not in owing, f"{effect.message} is asked before an answer has come"
                    owing.add(effect.peer)
            elif isinstance(effect, Drop):
                there.discard(effect.peer)
                owing.discard(effect.peer)
        circle.now += 0.1
        assert len({*circle.player.hand}) == len(circle.player.hand)
        assert circle.player.result is not None or not circle.player.is_exhausted


def requests(event: Received[Message] | Malformed) -> bool:
    """Whether this is a request, or may only be one."""
    if isinstance(event, Malformed):
        return event.violation.clause == "oldmaid-8.7"
    return not isinstance(event.message, Reply | Standing)
