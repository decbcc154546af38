"""Referee of Old Maid: no verdicts on correct players, whichever disconnect, and a verdict on every fault.

Faults are made from correct games: up to some point all messages are the same, and then one is different.
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.core.errors import Violation
from croupier.core.referee import Disconnected, Sent
from croupier.rooms.oldmaid.cards import JOKER, WIRE_CARDS, is_pair, to_wire
from croupier.rooms.oldmaid.referee import TABLE, Referee
from croupier.rooms.oldmaid.ring.observed import Observed
from croupier.rooms.oldmaid.wire import (
    OK,
    OUT,
    Discard,
    Draw,
    Join,
    Message,
    Offer,
    OutOfCards,
    Pick,
    Reply,
    Standing,
    Status,
    YourTurn,
)
from tests.rooms.oldmaid.network import in_order, random_order
from tests.rooms.oldmaid.refereed_ring import ObservedMessage, RefereedNetwork, check_message
from tests.sampling import example_count

type GamePoint = tuple[Referee, str, str, Any]
"""A referee with the sender, receiver and message that come next."""


def network(players: int, seed: int, order: int | None = None) -> RefereedNetwork:
    """A ring whose deliveries are in the order of sending, or random."""
    choose = in_order if order is None else random_order(FairDealer(derive_server_seed(order, "order", 1)).luck)
    return RefereedNetwork(players, seed, choose=choose)


@cache
def correct_game(players: int = 3, seed: int = 1) -> tuple[ObservedMessage, ...]:
    """All messages of a correct game."""
    ring = network(players, seed)
    ring.run()
    return tuple(ring.observed)


def game_points(
    kind: type[Message], *, strict: bool = False, game: tuple[ObservedMessage, ...] = ()
) -> Iterator[GamePoint]:
    """Every point of a correct game before a message of a type."""
    referee = Referee(strict=strict)
    for received in game or correct_game():
        if type(received[2]) is kind:
            yield referee, *received
        assert check_message(referee, received) == []


def game_point(kind: type[Message], when: Callable[..., bool] = lambda *_: True, **own: Any) -> GamePoint:
    """The first of these points at which a condition on referee, sender, receiver and message holds."""
    return next(found for found in game_points(kind, **own) if when(*found))


def clauses(referee: Referee, sender: str, receiver: str, sent: Any) -> list[tuple[str, str]]:
    """The verdicts on a message, as pairs of nick and clause."""
    return [(verdict.party, verdict.violation.clause) for verdict in check_message(referee, (sender, receiver, sent))]


def discard(*cards: int) -> Discard:
    one, other = map(to_wire, cards)
    return Discard((one, other), "false")


def drawn(referee: Referee, *_: object) -> bool:
    """Whether the deck is empty."""
    return referee.game is not None and referee.game.drawn_count == len(WIRE_CARDS)


def joker_holder(referee: Referee) -> str | None:
    return next((nick for nick, cards in referee.holders.items() if JOKER in cards), None)


def over(referee: Referee, sender: str, *_: object) -> bool:
    """Whether the deck is empty and the sender is a player."""
    return drawn(referee) and sender != TABLE


# Honest games.


@pytest.mark.parametrize("order", [None, 1, 2])
@pytest.mark.parametrize("players", range(2, 9))
def test_an_honest_game_has_no_verdicts(players: int, order: int | None) -> None:
    ring = network(players, players, order)
    ring.run()
    assert ring.verdicts == []
    referee = ring.referee
    if referee.loser is not None:  # a game without a discard for long may be void
        assert referee.holders == {nick: {JOKER} if nick == referee.loser else set() for nick in referee.players}


@pytest.mark.parametrize("players", [2, 3, 5])
def test_requests_of_an_honest_game_are_legal(players: int) -> None:
    referee = Referee()
    for observed in correct_game(players, players):
        is_running = referee.game is not None and not referee.game.is_over  # players may not know yet that it is over
        if is_running and isinstance(observed[2], Draw | YourTurn | Offer | Pick):
            assert Sent(*observed) in referee.legal
        check_message(referee, observed)
    assert referee.legal == ()
    assert referee.last_game is referee.game
    assert referee.finished_count == 1


def check_with_somebody_gone(players: int, seed: int, order: int | None, deaths: list[tuple[int, int]]) -> None:
    ring = network(players, seed, order)
    due = sorted(deaths)
    for step, _ in enumerate(ring.walk()):
        while due and due[0][0] <= step and ring.referee.players:
            _, who = due.pop(0)
            if ring.players[who % players].alive:
                ring.kill(ring.players[who % players])
    assert ring.verdicts == []
    cards = [card for hand in ring.referee.holders.values() for card in hand]
    assert len(cards) == len({*cards})
    game = ring.referee.game
    assert game is None or game.is_over
    if ring.referee.loser is not None and not (game and game.departed_seats):
        assert joker_holder(ring.referee) == ring.referee.loser


DEATHS = st.lists(st.tuples(st.integers(0, 700), st.integers(0, 4)), min_size=1, max_size=3)


@settings(max_examples=example_count(25), deadline=None)
@given(st.integers(2, 5), st.integers(0, 99), st.none() | st.integers(0, 99), DEATHS)
def test_disconnects_cause_no_verdicts(
    players: int, seed: int, order: int | None, deaths: list[tuple[int, int]]
) -> None:
    """A card in transit to a player that disconnects, or held by it, is lost."""
    check_with_somebody_gone(players, seed, order, deaths)


@pytest.mark.slow
@settings(max_examples=example_count(500), deadline=None)
@given(st.integers(2, 8), st.integers(0, 999), st.none() | st.integers(0, 999), DEATHS)
def test_disconnects_cause_no_verdicts_in_many_games(
    players: int, seed: int, order: int | None, deaths: list[tuple[int, int]]
) -> None:
    check_with_somebody_gone(players, seed, order, deaths)


def test_referee_tracks_all_hands() -> None:
    referee = Referee()
    hands: dict[str, set[int]] = {nick: set() for nick in ("ann", "bob", "cyd")}
    for received in correct_game():
        check_message(referee, received)
        sender, receiver, sent = received
        if isinstance(sent, Reply) and sent.card is not None:
            card = WIRE_CARDS.index(sent.card)
            hands[receiver].add(card)
            if sender != TABLE:
                hands[sender].remove(card)
        if sent == Reply("ok", "ok"):
            hands[receiver] -= {card for card in hands[receiver] if card ^ 1 in hands[receiver]}
        if referee.players:
            assert referee.holders == hands
    assert joker_holder(referee) == referee.loser


def test_card_lost_in_transit_is_no_fault() -> None:
    """oldmaid-9.8: the giver answers and disconnects, and its answer is lost."""
    referee, giver, picker, card = game_point(Reply, lambda r, s, _, sent: over(r, s) and sent.card is not None)
    assert clauses(referee, giver, picker, card) == []
    held = {nick: len(hand) for nick, hand in referee.holders.items()}
    assert [*referee.on(Disconnected(picker, giver)), *referee.on(Disconnected(TABLE, giver))] == []
    (other,) = {"ann", "bob", "cyd"} - {giver, picker}
    assert clauses(referee, picker, other, Offer(held[picker] - 1)) == []
    assert {nick: len(hand) for nick, hand in referee.holders.items()} == held | {
        picker: held[picker] - 1,
        giver: held[giver] + 1,
    }


def test_missing_card_without_a_disconnect_is_a_fault() -> None:
    """oldmaid-7.2"""
    referee, giver, picker, card = game_point(
        Reply, lambda r, s, p, sent: over(r, s) and sent.card and not pairs_with(r, p, sent)
    )
    assert clauses(referee, giver, picker, card) == []
    (other,) = {"ann", "bob", "cyd"} - {giver, picker}
    held = len(referee.holders[picker])
    assert (picker, "oldmaid-7.2") in clauses(referee, picker, other, Offer(held - 1))


def pairs_with(referee: Referee, nick: str, sent: Reply) -> bool:
    """Whether the card of a reply makes a pair with one in a player's hand."""
    assert sent.card is not None
    return any(is_pair(card, WIRE_CARDS.index(sent.card)) for card in referee.holders[nick])


# Faults while cards are drawn.


def test_draw_without_a_turn() -> None:
    """oldmaid-4.3"""
    referee, drawer, *_ = game_point(Draw)
    (other, *_) = {"ann", "bob", "cyd"} - {drawer}
    assert clauses(referee, other, TABLE, Draw()) == [(other, "oldmaid-4.3")]


def test_your_turn_without_a_turn() -> None:
    """oldmaid-4.7"""
    referee, sender, receiver, _ = game_point(YourTurn)
    assert clauses(referee, receiver, "cyd", YourTurn()) == [(receiver, "oldmaid-4.7")]
    assert clauses(referee, sender, receiver, YourTurn()) == []
    assert clauses(referee, sender, receiver, YourTurn()) == [(sender, "oldmaid-4.7")]


def test_your_turn_to_the_wrong_player() -> None:
    """oldmaid-4.7"""
    referee, sender, *_ = game_point(YourTurn)
    assert sender == "ann"
    assert clauses(referee, "ann", "cyd", YourTurn()) == [("ann", "oldmaid-4.7")]


def test_your_turn_with_an_empty_deck() -> None:
    """oldmaid-4.9"""
    referee, offerer, left, _ = game_point(Offer)
    assert (offerer, "oldmaid-4.9") in clauses(referee, offerer, left, YourTurn())


def test_accepting_a_superfluous_turn() -> None:
    """oldmaid-4.11"""
    referee, offerer, left, _ = game_point(Pick)
    check_message(referee, (left, offerer, YourTurn()))
    assert (offerer, "oldmaid-4.11") in clauses(referee, offerer, left, OK)


# Faults with pairs.


def discard_verdicts(referee: Referee, nick: str, sent: Discard, answer: Reply) -> list[tuple[str, str]]:
    return [*clauses(referee, nick, TABLE, sent), *clauses(referee, TABLE, nick, answer)]


REFUSED = Reply("error", "no")
THROWN = Reply("ok", "ok")


def test_discard_of_no_pair() -> None:
    """oldmaid-5.3, oldmaid-5.4"""
    referee, nick, *_ = game_point(Offer)
    assert discard_verdicts(referee, nick, discard(0, 2), REFUSED) == [(nick, "oldmaid-5.3")]
    strange = Discard((("0", "spades"), ("0", "clubs")), "false")
    assert discard_verdicts(referee, nick, strange, REFUSED) == [(nick, "oldmaid-5.4")]


def test_discard_of_a_pair_twice() -> None:
    """oldmaid-5.5"""
    referee, nick, _, sent = game_point(Discard)
    assert discard_verdicts(referee, nick, sent, THROWN) == []
    assert discard_verdicts(referee, nick, sent, REFUSED) == [(nick, "oldmaid-5.5")]


def test_discard_of_undrawn_cards() -> None:
    """oldmaid-5.6"""
    referee, nick, *_ = game_point(Draw)
    assert discard_verdicts(referee, nick, discard(0, 1), REFUSED) == [(nick, "oldmaid-5.6")]


def test_accepted_discard_of_cards_of_others() -> None:
    """oldmaid-5.7"""
    referee, nick, *_ = game_point(Offer)
    strange = next(card for card in referee.holders[nick] if card != JOKER)
    assert discard_verdicts(referee, nick, discard(strange, strange ^ 1), THROWN) == [(nick, "oldmaid-5.7")]
    holder = next(other for other, hand in referee.holders.items() if strange ^ 1 in hand)
    assert holder != nick
    mine = [*referee.players].index(holder)
    assert referee.players[holder].seat == mine


def test_pair_discarded_by_another_player_is_no_fault_of_its_holder() -> None:
    """oldmaid-5.5: the pair stays in its holder's hand."""
    referee, nick, _, sent = game_point(Discard, drawn)
    other = next(one for one in referee.players if one != nick)
    assert discard_verdicts(referee, other, sent, THROWN) == [(other, "oldmaid-5.7")]
    assert discard_verdicts(referee, nick, sent, REFUSED) == []
    held = len(referee.holders[nick])
    left = next(one for one in referee.players if referee.players[nick].may_ask(one, [*referee.players]))
    assert clauses(referee, nick, left, Offer(held)) == []


def test_who_has_been_told_that_it_is_its_turn_may_draw_before_it_says_ok() -> None:
    """oldmaid-4.8"""
    referee, asker, nick, told = game_point(YourTurn)
    assert clauses(referee, asker, nick, told) == []
    assert clauses(referee, nick, TABLE, Draw()) == []
    card = next(card for card in WIRE_CARDS if card not in map(to_wire, referee.holders[asker]))
    assert clauses(referee, TABLE, nick, Reply("ok", card=card)) == []
    assert clauses(referee, nick, LEFT[nick], YourTurn()) == []
    assert clauses(referee, nick, asker, Reply("ok")) == []
    assert clauses(referee, nick, TABLE, Draw()) == [(nick, "oldmaid-4.3")]


LEFT = {"ann": "bob", "bob": "cyd", "cyd": "ann"}


def test_pair_kept_when_offering() -> None:
    """oldmaid-5.11, oldmaid-5.13"""
    referee, nick, *_ = game_point(Discard, drawn)
    assert clauses(referee, nick, LEFT[nick], Offer(len(referee.holders[nick]))) == [(nick, "oldmaid-5.11")]


def test_pair_that_the_table_has_not_heard_of_when_offering() -> None:
    """oldmaid-5.11 first, oldmaid-7.2"""
    referee, nick, *_ = game_point(Discard, drawn)
    untold = Offer(len(referee.holders[nick]) - 2)
    assert clauses(referee, nick, LEFT[nick], untold) == [(nick, "oldmaid-5.11"), (nick, "oldmaid-7.2")]


@pytest.mark.parametrize("draws", [False, True])
def test_pair_discarded_after_the_turn_was_passed_on(*, draws: bool) -> None:
    """oldmaid-5.8"""
    referee, nick, _, sent = game_point(Discard, lambda *found: not drawn(*found))
    assert clauses(referee, nick, LEFT[nick], YourTurn()) == []
    if draws:
        referee.players[nick].turn = "draw"
        assert clauses(referee, nick, TABLE, Draw()) == []
        check_message(referee, (TABLE, nick, REFUSED))
        assert referee.players[nick].keeps_pairs is not referee.players[nick].discards_early
    assert discard_verdicts(referee, nick, sent, THROWN) == []
    assert not referee.players[nick].keeps_pairs


def test_out_of_cards_with_cards() -> None:
    """oldmaid-7.12"""
    referee, nick, *_ = game_point(Offer)
    assert clauses(referee, nick, TABLE, OutOfCards()) == []
    assert clauses(referee, TABLE, nick, OK) == [(nick, "oldmaid-7.12")]


def test_out_of_cards_too_early_or_twice() -> None:
    """oldmaid-6.2, oldmaid-6.3"""
    referee, nick, *_ = game_point(YourTurn)
    check_message(referee, (nick, TABLE, OutOfCards()))
    assert clauses(referee, TABLE, nick, REFUSED) == [(nick, "oldmaid-6.2")]
    referee, nick, *_ = game_point(OutOfCards)
    assert out_verdicts(referee, nick, OK) == []
    assert out_verdicts(referee, nick, REFUSED) == [(nick, "oldmaid-6.3")]


def test_table_may_refuse_an_impossible_out_of_cards() -> None:
    """oldmaid-6.12"""
    referee, nick, *_ = game_point(Offer, lambda referee, *_: all(len(hand) > 4 for hand in referee.holders.values()))
    assert out_verdicts(referee, nick, REFUSED) == [(nick, "oldmaid-6.12")]


def out_verdicts(referee: Referee, nick: str, answer: Reply) -> list[tuple[str, str]]:
    return [*clauses(referee, nick, TABLE, OutOfCards()), *clauses(referee, TABLE, nick, answer)]


# Faults in the ring.


def test_offer_before_the_deck_is_empty() -> None:
    """oldmaid-7.1"""
    referee, sender, receiver, _ = game_point(YourTurn)
    assert clauses(referee, sender, receiver, Offer(1)) == [(sender, "oldmaid-7.1")]


def test_offer_with_a_wrong_number_of_cards() -> None:
    """oldmaid-7.2"""
    for wrong in (-1, 1):
        referee, offerer, left, sent = game_point(Offer)
        assert clauses(referee, offerer, left, Offer(sent.num_cards + wrong)) == [(offerer, "oldmaid-7.2")]


def test_offer_out_of_turn() -> None:
    """oldmaid-7.8"""
    referee, offerer, left, sent = game_point(Offer)
    assert clauses(referee, offerer, left, sent) == []
    (other,) = {"ann", "bob", "cyd"} - {offerer, left}
    held = len(referee.holders[other])
    assert clauses(referee, other, offerer, Offer(held)) == [(other, "oldmaid-7.8")]


def test_offer_that_skips_the_left_neighbour() -> None:
    """oldmaid-7.9"""
    referee, offerer, left, sent = game_point(Offer)
    (other,) = {"ann", "bob", "cyd"} - {offerer, left}
    assert clauses(referee, offerer, other, sent) == [(offerer, "oldmaid-7.9")]


def test_offer_to_oneself() -> None:
    """oldmaid-7.9"""
    referee, offerer, _, sent = game_point(Offer)
    assert clauses(referee, offerer, offerer, sent) == [(offerer, "oldmaid-7.9")]


def test_unreachable_left_neighbour_may_be_skipped() -> None:
    """oldmaid-9.5, oldmaid-9.6"""
    referee, offerer, left, sent = game_point(Offer)
    (other,) = {"ann", "bob", "cyd"} - {offerer, left}
    assert not referee.turn_lost
    assert list(referee.on(Disconnected(offerer, left))) == []
    assert referee.turn_lost
    assert clauses(referee, offerer, other, sent) == []


def test_repeated_offer_to_a_player_out() -> None:
    """oldmaid-7.9: in the same turn"""
    referee, nick, offerer, _ = game_point(Reply, lambda *found: found[3] == OUT)
    assert clauses(referee, nick, offerer, OUT) == []
    again = Offer(len(referee.holders[offerer]))
    assert clauses(referee, offerer, nick, again) == [(offerer, "oldmaid-7.9")]


def test_a_player_that_was_out_may_be_asked_again_in_the_next_turn() -> None:
    """oldmaid-7.9"""
    player = Observed("ann", 0, out_nicks={"bob"}, outs_in_turn={"bob"})
    nicks = ("ann", "bob", "cyd")
    assert [player.may_ask(nick, nicks) for nick in nicks] == [False, False, True]
    player.end_turn()
    assert [player.may_ask(nick, nicks) for nick in nicks] == [False, True, True]


def test_out_with_cards() -> None:
    """oldmaid-7.9"""
    referee, nick, offerer, _ = game_point(Reply, lambda r, s, p, sent: over(r, s) and p != TABLE and sent == OK)
    assert clauses(referee, nick, offerer, OUT) == [(nick, "oldmaid-7.9")]


def test_ok_to_an_offer_without_cards() -> None:
    """oldmaid-7.9"""
    referee, nick, offerer, _ = game_point(Reply, lambda *found: found[3] == OUT)
    assert clauses(referee, nick, offerer, OK) == [(nick, "oldmaid-7.9")]


def test_pick_without_an_offer() -> None:
    """oldmaid-7.7"""
    referee, picker, giver, sent = game_point(Pick)
    (other,) = {"ann", "bob", "cyd"} - {giver, picker}
    assert clauses(referee, other, giver, sent) == [(other, "oldmaid-7.7")]
    assert clauses(referee, picker, giver, sent) == []
    assert clauses(referee, picker, giver, sent) == [(picker, "oldmaid-7.7")]
    referee, offerer, left, sent = game_point(Offer)
    check_message(referee, (offerer, left, sent))
    assert clauses(referee, left, offerer, Pick(0)) == [(left, "oldmaid-7.7")], "the offer has not been accepted"


def test_pick_out_of_range() -> None:
    """oldmaid-7.4, oldmaid-7.6"""
    for strict, beyond in ((False, 1), (True, 0)):
        referee, picker, giver, _ = game_point(Pick, strict=strict)
        offered = len(referee.holders[giver])
        assert clauses(referee, picker, giver, Pick(offered + beyond)) == [(picker, "oldmaid-7.4")]
        assert clauses(referee, giver, picker, REFUSED) == [], "the table must refuse"
        assert clauses(referee, picker, giver, Pick(-1)) == [(picker, "oldmaid-7.4")]
        check_message(referee, (giver, picker, REFUSED))
        assert clauses(referee, picker, giver, Pick(offered - 1)) == []
    referee, picker, giver, _ = game_point(Pick)
    assert clauses(referee, picker, giver, Pick(len(referee.holders[giver]))) == []


def test_giving_a_card_not_held() -> None:
    """oldmaid-7.5"""
    referee, picker, giver, sent = game_point(Pick)
    check_message(referee, (picker, giver, sent))
    strange = next(card for card in referee.holders[picker])
    assert clauses(referee, giver, picker, Reply("ok", card=to_wire(strange))) == [(giver, "oldmaid-7.5")]


def test_giving_an_invalid_card() -> None:
    """oldmaid-7.5"""
    referee, picker, giver, sent = game_point(Pick)
    check_message(referee, (picker, giver, sent))
    assert clauses(referee, giver, picker, Reply("ok", card=("1", "spades"))) == [(giver, "oldmaid-7.5")]


def test_refusing_a_valid_pick() -> None:
    """oldmaid-7.5, oldmaid-7.15: if the giver is dropped for it, the picker has the turn."""
    referee, picker, giver, sent = game_point(Pick)
    for _ in range(2):
        assert clauses(referee, picker, giver, sent) == []
        assert clauses(referee, giver, picker, REFUSED) == [(giver, "oldmaid-7.5")]
    referee.on(Disconnected(picker, giver))
    (other,) = {"ann", "bob", "cyd"} - {giver, picker}
    assert clauses(referee, picker, other, Offer(len(referee.holders[picker]))) == []


def test_missing_out_of_cards() -> None:
    """oldmaid-7.12"""
    referee, offerer, left, sent = game_point(Offer, lambda *found: found[3].num_cards == 0, game=empty_offer())
    referee.players[offerer].is_out = False
    assert clauses(referee, offerer, left, sent) == [(offerer, "oldmaid-7.12")]


def empty_offer() -> tuple[ObservedMessage, ...]:
    """A correct game in which a player has no cards when it is to offer."""
    games = (correct_game(4, seed) for seed in range(50))
    return next(game for game in games if any(sent == Offer(0) for *_, sent in game))


@pytest.mark.parametrize(
    ("request_", "answer"),
    [(YourTurn, OUT), (Offer, Reply("last_card")), (Pick, OK), (Pick, OUT), (Offer, Standing((), ()))],
)
def test_player_answer_of_the_wrong_kind(request_: type[Message], answer: Message) -> None:
    """oldmaid-2.3"""
    referee, asker, asked, sent = game_point(request_)
    check_message(referee, (asker, asked, sent))
    assert clauses(referee, asked, asker, answer) == [(asked, "oldmaid-2.3")]


def test_table_request_to_a_player() -> None:
    """oldmaid-2.2"""
    referee, asker, asked, _ = game_point(YourTurn)
    assert clauses(referee, asker, asked, Draw()) == [(asker, "oldmaid-2.2")]
    assert clauses(referee, asked, asker, REFUSED) == []


def test_malformed_request_is_the_senders_fault_and_is_answered() -> None:
    garbled = Violation("oldmaid-8.3", "this", "JSON")
    referee, nick, *_ = game_point(Draw)
    assert clauses(referee, nick, TABLE, garbled) == [(nick, "oldmaid-1.3")]
    assert clauses(referee, TABLE, nick, REFUSED) == []
    referee, picker, giver, sent = game_point(Pick)
    check_message(referee, (picker, giver, sent))
    assert clauses(referee, giver, picker, garbled) == [(giver, "oldmaid-1.3")]
    assert clauses(referee, giver, picker, REFUSED) == [], "nobody waits for it any more (oldmaid-2.11)"


# A table that cheats.


def dealt(when: Callable[..., bool] = lambda *_: True) -> GamePoint:
    """A point before the table deals a card."""
    return game_point(Reply, lambda r, s, p, sent: s == TABLE and sent.card is not None and when(r, s, p, sent))


def test_table_deals_a_card_twice() -> None:
    """oldmaid-4.1"""
    referee, _, nick, _ = dealt(lambda r, *_: r.game.drawn_count == 10)
    again = next(card for hand in referee.holders.values() for card in hand)
    assert clauses(referee, TABLE, nick, Reply("ok", card=to_wire(again))) == [(TABLE, "oldmaid-4.1")]


def test_table_deals_an_invalid_card() -> None:
    """oldmaid-2.4"""
    for card in (("T", "spades"), None):
        referee, _, nick, _ = dealt()
        assert clauses(referee, TABLE, nick, Reply("ok", card=card)) == [(TABLE, "oldmaid-2.4")]


def test_table_deals_out_of_order() -> None:
    """oldmaid-4.3"""
    referee, _, nick, sent = dealt()
    (other, *_) = {"ann", "bob", "cyd"} - {nick}
    check_message(referee, (other, TABLE, Draw()))
    assert clauses(referee, TABLE, other, sent) == [(TABLE, "oldmaid-4.3")]


def test_table_sends_last_card_at_the_wrong_time() -> None:
    """oldmaid-4.4"""
    referee, _, nick, sent = dealt()
    assert clauses(referee, TABLE, nick, Reply("last_card", card=sent.card)) == [(TABLE, "oldmaid-4.4")]
    referee, _, nick, sent = dealt(lambda *found: found[3].result == "last_card")
    assert clauses(referee, TABLE, nick, Reply("ok", card=sent.card)) == [(TABLE, "oldmaid-4.4")]


def test_table_refuses_a_valid_request() -> None:
    """oldmaid-4.2, oldmaid-5.2, oldmaid-6.1, oldmaid-6.5"""
    kinds = {Draw: "oldmaid-4.2", Discard: "oldmaid-5.2", OutOfCards: "oldmaid-6.1", Status: "oldmaid-6.5"}
    for kind, clause in kinds.items():
        referee, nick, _, sent = game_point(kind)
        check_message(referee, (nick, TABLE, sent))
        assert clauses(referee, TABLE, nick, REFUSED) == [(TABLE, clause)]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (Discard, "ok, because {!r} holds both cards, and neither has been discarded in this game"),
        (OutOfCards, "ok, because all cards are drawn, and {!r} may have none left"),
    ],
)
def test_refused_request_is_shown_with_what_allows_it(kind: type[Message], reason: str) -> None:
    """oldmaid-5.2, oldmaid-6.1"""
    referee, nick, _, sent = game_point(kind)
    check_message(referee, (nick, TABLE, sent))
    (verdict,) = check_message(referee, (TABLE, nick, REFUSED))
    assert (verdict.violation.found, verdict.violation.allowed) == (f"an error to {sent}", reason.format(nick))


def test_table_accepts_an_invalid_request() -> None:
    """oldmaid-5.3, oldmaid-6.2, oldmaid-4.5"""
    referee, nick, *_ = game_point(YourTurn)
    assert discard_verdicts(referee, nick, discard(0, 2), THROWN) == [(TABLE, "oldmaid-5.3"), (nick, "oldmaid-5.3")]
    assert out_verdicts(referee, nick, OK) == [(TABLE, "oldmaid-6.2"), (nick, "oldmaid-6.2")]


@pytest.mark.parametrize(
    ("request_", "answer"), [(Draw, Standing((), ())), (Status, OK), (OutOfCards, Standing((), ())), (Join, THROWN)]
)
def test_table_answer_of_the_wrong_kind(request_: type[Message], answer: Message) -> None:
    """oldmaid-2.3"""
    referee, nick, *_ = game_point(Draw)
    check_message(referee, (nick, TABLE, Join("zoe") if request_ is Join else request_()))
    assert clauses(referee, TABLE, nick, answer) == [(TABLE, "oldmaid-2.3")]


def test_justified_refusals_are_no_fault() -> None:
    """oldmaid-3.14, oldmaid-4.3"""
    referee, nick, *_ = game_point(YourTurn)
    check_message(referee, (nick, TABLE, Join(nick)))
    assert clauses(referee, TABLE, nick, REFUSED) == []
    assert clauses(referee, nick, TABLE, Draw()) == [(nick, "oldmaid-4.3")]
    assert clauses(referee, TABLE, nick, REFUSED) == []


def test_table_sends_a_wrong_standing() -> None:
    """oldmaid-6.6"""
    referee, _, nick, sent = game_point(Standing)
    wrong = Standing(sent.inside[::-1] or ("ann",), sent.outside[::-1])
    if wrong == sent:
        wrong = Standing(sent.inside, ())
    assert clauses(referee, TABLE, nick, wrong) == [(TABLE, "oldmaid-6.6")]


@pytest.mark.parametrize(
    ("gone", "faults"), [(("cyd", "dan"), []), (("dan", "cyd"), []), (("dan", "bob"), [(TABLE, "oldmaid-6.5")])]
)
def test_table_may_notice_players_that_are_gone_in_any_order(
    gone: tuple[str, ...], faults: list[tuple[str, str]]
) -> None:
    """oldmaid-6.5, oldmaid-6.6"""
    referee, *_ = game_point(Draw, game=correct_game(4))
    for nick in ("cyd", "dan"):
        check_message(referee, (TABLE, nick, None))
    check_message(referee, ("ann", TABLE, Status()))
    assert clauses(referee, TABLE, "ann", Standing(("ann", "bob"), gone)) == faults


def test_table_sends_different_lists() -> None:
    """oldmaid-3.2"""
    lists = [found for found in islice(correct_game(), 20) if isinstance(found[2], Reply)]
    referee = Referee()
    for nick in ("ann", "bob", "cyd"):
        check_message(referee, (nick, TABLE, Join(nick)))
    (_, first, listed), (_, second, _), *_ = lists
    assert clauses(referee, TABLE, first, listed) == []
    assert clauses(referee, TABLE, second, Reply("ok", players=listed.players[::-1])) == [(TABLE, "oldmaid-3.2")]


@pytest.mark.parametrize("nicks", [["ann"], ["ann", "bob", "ann"], ["ann", *"abcdefgh"], []])
def test_table_sends_an_invalid_list(nicks: list[str]) -> None:
    """oldmaid-3.8, oldmaid-3.10, oldmaid-3.19"""
    referee = Referee()
    check_message(referee, ("ann", TABLE, Join("ann")))
    listed = Reply("ok", players=tuple((("192.0.2.1", port), nick) for port, nick in enumerate(nicks)))
    assert clauses(referee, TABLE, "ann", listed) == [(TABLE, "oldmaid-3.19")]
    assert list(referee.on(Disconnected(TABLE, "ann"))) == []


def test_unsolicited_message_of_the_table() -> None:
    """oldmaid-1.8"""
    referee, nick, *_ = game_point(Draw)
    assert clauses(referee, TABLE, nick, OK) == [(TABLE, "oldmaid-1.8")]


def test_table_deals_to_a_client_without_a_game() -> None:
    """oldmaid-4.6"""
    referee = Referee()
    assert clauses(referee, "ann", TABLE, Draw()) == []
    assert clauses(referee, TABLE, "ann", REFUSED) == []
    assert clauses(referee, "ann", TABLE, Draw()) == []
    assert clauses(referee, TABLE, "ann", Reply("ok", card=("3", "spades"))) == [(TABLE, "oldmaid-4.6")]


def test_game_voided_by_the_table_has_no_loser() -> None:
    """oldmaid-6.10"""
    referee, _, nick, _ = game_point(Pick)
    assert clauses(referee, TABLE, nick, Reply("error", "oldmaid-6.10: stuck")) == []
    assert referee.game is not None
    assert (referee.game.is_void, referee.loser) == (True, None)


def test_player_out_that_joins_again_is_no_longer_checked() -> None:
    """oldmaid-3.14"""
    referee, nick, *_ = game_point(Status)
    check_message(referee, (nick, TABLE, Join("zoe")))
    listed = Reply("ok", players=((("192.0.2.1", 1), "zoe"), (("192.0.2.1", 2), "yan")))
    assert clauses(referee, TABLE, nick, listed) == []
    assert clauses(referee, nick, TABLE, Draw()) == []
    assert clauses(referee, TABLE, nick, Reply("ok", card=("3", "spades"))) == []
    assert list(referee.on(Disconnected(TABLE, nick))) == []


# Not everything is a fault.


def test_unrequested_answers_between_players_are_no_fault() -> None:
    """oldmaid-2.11"""
    referee, nick, other, _ = game_point(YourTurn)
    assert referee.loser is None
    assert clauses(referee, other, nick, OUT) == []
    assert clauses(referee, nick, TABLE, OK) == []


def test_requests_after_the_end_are_no_fault() -> None:
    """oldmaid-6.9"""
    referee, nick, _, sent = game_point(OutOfCards, drawn)
    check_message(referee, (nick, TABLE, sent))
    for other in {*referee.players} - {nick}:
        assert list(referee.on(Disconnected(TABLE, other))) == []
    assert referee.game is not None
    assert referee.game.is_over
    assert clauses(referee, TABLE, nick, REFUSED) == []
    assert referee.players[nick].is_out, "the player declared it"


def test_messages_after_a_lost_connection_are_no_fault() -> None:
    """oldmaid-9.6: the picker cannot know yet that its pick is no longer expected."""
    referee, picker, giver, sent = game_point(Pick)
    assert list(referee.on(Disconnected(giver, picker))) == []
    assert clauses(referee, picker, giver, sent) == []
    assert clauses(referee, giver, picker, REFUSED) == []
    referee, left, offerer, sent = game_point(Reply, lambda r, s, p, sent: over(r, s) and p != TABLE and sent == OK)
    assert list(referee.on(Disconnected(offerer, left))) == []
    assert clauses(referee, left, offerer, sent) == []


def test_unknown_players_are_ignored() -> None:
    referee, nick, *_ = game_point(Offer)
    for sent in (YourTurn(), Offer(3), Pick(0), OK):
        assert clauses(referee, "zoe", nick, sent) == []
        assert clauses(referee, nick, "zoe", sent) == []
    assert list(referee.on(Disconnected("zoe", nick))) == []
    assert list(referee.on(Disconnected(TABLE, "zoe"))) == []
