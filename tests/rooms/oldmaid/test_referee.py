"""The referee of Old Maid: honest players have nothing to fear, whoever is gone; and everybody who cheats is found out.

The cheats are made from honest games: up to some point everything is as it was, and then somebody says another thing.
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
from croupier.rooms.oldmaid.cards import JOKER, WIRE_CARDS, is_pair, to_wire
from croupier.rooms.oldmaid.referee import TABLE, Referee
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
from tests.rooms.oldmaid.network import in_order, jumbled
from tests.rooms.oldmaid.refereed_ring import Heard, Watched, told

type Scene = tuple[Referee, str, str, Any]
"""A referee, and who is about to say what to whom."""


def network(players: int, seed: int, order: int | None = None) -> Watched:
    """A ring; the order in which things arrive is that in which they are sent, or jumbled."""
    choose = in_order if order is None else jumbled(FairDealer(derive_server_seed(order, "order", 1)).luck)
    return Watched(players, seed, choose=choose)


@cache
def honest(players: int = 3, seed: int = 1) -> tuple[Heard, ...]:
    """All that is said in an honest game."""
    ring = network(players, seed)
    ring.run()
    return tuple(ring.past)


def scenes(kind: type[Message], *, strict: bool = False, game: tuple[Heard, ...] = ()) -> Iterator[Scene]:
    """Every time in an honest game at which something of a kind is about to be said."""
    referee = Referee(strict=strict)
    for heard in game or honest():
        if type(heard[2]) is kind:
            yield referee, *heard
        assert told(referee, heard) == []


def scene(kind: type[Message], when: Callable[..., bool] = lambda *_: True, **own: Any) -> Scene:
    """The first of those times at which something holds of the referee, who speaks, who listens, and what is said."""
    return next(found for found in scenes(kind, **own) if when(*found))


def clauses(referee: Referee, sender: str, receiver: str, said: Any) -> list[tuple[str, str]]:
    """Who breaks which clauses by saying something."""
    return [(verdict.nick, verdict.violation.clause) for verdict in told(referee, (sender, receiver, said))]


def discard(*cards: int) -> Discard:
    one, other = map(to_wire, cards)
    return Discard((one, other), "false")


def drawn(referee: Referee, *_: object) -> bool:
    """Whether all cards are drawn."""
    return referee.game is not None and referee.game.drawn_count == len(WIRE_CARDS)


def over(referee: Referee, sender: str, *_: object) -> bool:
    """Whether somebody speaks to others when all cards are drawn."""
    return drawn(referee) and sender != TABLE


# Honest games.


@pytest.mark.parametrize("order", [None, 1, 2])
@pytest.mark.parametrize("players", range(2, 9))
def test_an_honest_game_has_no_verdicts(players: int, order: int | None) -> None:
    ring = network(players, players, order)
    ring.run()
    assert ring.verdicts == []
    referee = ring.referee
    if referee.loser is not None:  # a game in which nobody threw anything away for long may be void
        assert referee.loser == referee.joker_holder
        assert referee.holders == {nick: {JOKER} if nick == referee.loser else set() for nick in referee.players}


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
        assert ring.referee.loser == ring.referee.joker_holder


DEATHS = st.lists(st.tuples(st.integers(0, 700), st.integers(0, 4)), min_size=1, max_size=3)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 5), st.integers(0, 99), st.none() | st.integers(0, 99), DEATHS)
def test_who_is_gone_makes_nobody_a_cheat(
    players: int, seed: int, order: int | None, deaths: list[tuple[int, int]]
) -> None:
    """A card that was on its way to somebody, or held by him, is gone with him."""
    check_with_somebody_gone(players, seed, order, deaths)


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(st.integers(2, 8), st.integers(0, 999), st.none() | st.integers(0, 999), DEATHS)
def test_who_is_gone_makes_nobody_a_cheat_in_many_games(
    players: int, seed: int, order: int | None, deaths: list[tuple[int, int]]
) -> None:
    check_with_somebody_gone(players, seed, order, deaths)


def test_the_referee_knows_who_holds_what() -> None:
    referee = Referee()
    hands: dict[str, set[int]] = {nick: set() for nick in ("ann", "bob", "cyd")}
    for heard in honest():
        told(referee, heard)
        sender, receiver, said = heard
        if isinstance(said, Reply) and said.card is not None:
            card = WIRE_CARDS.index(said.card)
            hands[receiver].add(card)
            if sender != TABLE:
                hands[sender].remove(card)
        if said == Reply("ok", "ok"):
            hands[receiver] -= {card for card in hands[receiver] if card ^ 1 in hands[receiver]}
        if referee.players:
            assert referee.holders == hands
    assert referee.joker_holder == referee.loser


def test_a_card_that_was_lost_on_its_way_is_not_missed() -> None:
    """oldmaid-9.8: the offerer answers and is gone, and his answer with him."""
    referee, giver, picker, card = scene(Reply, lambda r, s, _, said: over(r, s) and said.card is not None)
    assert clauses(referee, giver, picker, card) == []
    held = {nick: len(hand) for nick, hand in referee.holders.items()}
    assert [*referee.on_connection_lost(picker, giver), *referee.on_connection_lost(TABLE, giver)] == []
    (other,) = {"ann", "bob", "cyd"} - {giver, picker}
    assert clauses(referee, picker, other, Offer(held[picker] - 1)) == []
    assert {nick: len(hand) for nick, hand in referee.holders.items()} == held | {
        picker: held[picker] - 1,
        giver: held[giver] + 1,
    }


def test_a_card_that_is_missed_without_anybody_gone_is_a_cheat() -> None:
    """oldmaid-7.2"""
    referee, giver, picker, card = scene(
        Reply, lambda r, s, p, said: over(r, s) and said.card and not pairs_with(r, p, said)
    )
    assert clauses(referee, giver, picker, card) == []
    (other,) = {"ann", "bob", "cyd"} - {giver, picker}
    held = len(referee.holders[picker])
    assert (picker, "oldmaid-7.2") in clauses(referee, picker, other, Offer(held - 1))


def pairs_with(referee: Referee, nick: str, said: Reply) -> bool:
    """Whether a card makes a pair with one that somebody has."""
    assert said.card is not None
    return any(is_pair(card, WIRE_CARDS.index(said.card)) for card in referee.holders[nick])


# Players who cheat while cards are drawn.


def test_who_draws_without_a_turn_is_found_out() -> None:
    """oldmaid-4.3"""
    referee, drawer, *_ = scene(Draw)
    (other, *_) = {"ann", "bob", "cyd"} - {drawer}
    assert clauses(referee, other, TABLE, Draw()) == [(other, "oldmaid-4.3")]


def test_who_passes_on_a_turn_that_he_has_not_is_found_out() -> None:
    """oldmaid-4.7"""
    referee, sender, receiver, _ = scene(YourTurn)
    assert clauses(referee, receiver, "cyd", YourTurn()) == [(receiver, "oldmaid-4.7")]
    assert clauses(referee, sender, receiver, YourTurn()) == []
    assert clauses(referee, sender, receiver, YourTurn()) == [(sender, "oldmaid-4.7")]


def test_who_passes_the_turn_to_somebody_else_is_found_out() -> None:
    """oldmaid-4.7"""
    referee, sender, *_ = scene(YourTurn)
    assert sender == "ann"
    assert clauses(referee, "ann", "cyd", YourTurn()) == [("ann", "oldmaid-4.7")]


def test_who_lets_others_draw_when_there_are_no_cards_is_found_out() -> None:
    """oldmaid-4.9"""
    referee, offerer, left, _ = scene(Offer)
    assert (offerer, "oldmaid-4.9") in clauses(referee, offerer, left, YourTurn())


def test_who_takes_a_turn_too_many_is_found_out() -> None:
    """oldmaid-4.11"""
    referee, offerer, left, _ = scene(Pick)
    told(referee, (left, offerer, YourTurn()))
    assert (offerer, "oldmaid-4.11") in clauses(referee, offerer, left, OK)


# Players who cheat with pairs.


def thrown(referee: Referee, nick: str, said: Discard, answer: Reply) -> list[tuple[str, str]]:
    return [*clauses(referee, nick, TABLE, said), *clauses(referee, TABLE, nick, answer)]


REFUSED = Reply("error", "no")
THROWN = Reply("ok", "ok")


def test_who_throws_away_what_is_no_pair_is_found_out() -> None:
    """oldmaid-5.3, oldmaid-5.4"""
    referee, nick, *_ = scene(Offer)
    assert thrown(referee, nick, discard(0, 2), REFUSED) == [(nick, "oldmaid-5.3")]
    strange = Discard((("0", "spades"), ("0", "clubs")), "false")
    assert thrown(referee, nick, strange, REFUSED) == [(nick, "oldmaid-5.4")]


def test_who_throws_away_a_pair_twice_is_found_out() -> None:
    """oldmaid-5.5"""
    referee, nick, _, said = scene(Discard)
    assert thrown(referee, nick, said, THROWN) == []
    assert thrown(referee, nick, said, REFUSED) == [(nick, "oldmaid-5.5")]


def test_who_throws_away_what_nobody_has_drawn_is_found_out() -> None:
    """oldmaid-5.6"""
    referee, nick, *_ = scene(Draw)
    assert thrown(referee, nick, discard(0, 1), REFUSED) == [(nick, "oldmaid-5.6")]


def test_who_throws_away_what_others_hold_is_found_out_though_the_table_believes_him() -> None:
    """oldmaid-5.7"""
    referee, nick, *_ = scene(Offer)
    strange = next(card for card in referee.holders[nick] if card != JOKER)
    assert thrown(referee, nick, discard(strange, strange ^ 1), THROWN) == [(nick, "oldmaid-5.7")]
    holder = next(other for other, hand in referee.holders.items() if strange ^ 1 in hand)
    assert holder != nick
    mine = [*referee.players].index(holder)
    assert referee.players[holder].seat == mine


def test_whoever_finds_his_pair_thrown_away_by_a_cheat_is_none_himself() -> None:
    """oldmaid-5.5: he keeps it, for nobody takes it from him."""
    referee, nick, _, said = scene(Discard, drawn)
    other = next(one for one in referee.players if one != nick)
    assert thrown(referee, other, said, THROWN) == [(other, "oldmaid-5.7")]
    assert thrown(referee, nick, said, REFUSED) == []
    held = len(referee.holders[nick])
    left = next(one for one in referee.players if referee.players[nick].may_ask(one, [*referee.players]))
    assert clauses(referee, nick, left, Offer(held)) == []


def test_who_keeps_a_pair_is_found_out_when_he_passes_the_turn_on() -> None:
    """oldmaid-5.11"""
    for when in (drawn, lambda *found: not drawn(*found)):
        referee, nick, *_ = scene(Discard, when)
        left = {"ann": "bob", "bob": "cyd", "cyd": "ann"}[nick]
        passes = Offer(len(referee.holders[nick])) if drawn(referee) else YourTurn()
        assert clauses(referee, nick, left, passes) == [(nick, "oldmaid-5.11")]


def test_who_says_that_he_is_out_and_has_cards_is_found_out() -> None:
    """oldmaid-7.12"""
    referee, nick, *_ = scene(Offer)
    assert clauses(referee, nick, TABLE, OutOfCards()) == []
    assert clauses(referee, TABLE, nick, OK) == [(nick, "oldmaid-7.12")]


def test_who_is_out_before_all_cards_are_drawn_or_twice_is_found_out() -> None:
    """oldmaid-6.2, oldmaid-6.3"""
    referee, nick, *_ = scene(YourTurn)
    told(referee, (nick, TABLE, OutOfCards()))
    assert clauses(referee, TABLE, nick, REFUSED) == [(nick, "oldmaid-6.2")]
    referee, nick, *_ = scene(OutOfCards)
    assert thrown_out(referee, nick, OK) == []
    assert thrown_out(referee, nick, REFUSED) == [(nick, "oldmaid-6.3")]


def test_a_table_may_refuse_that_a_player_is_out_who_must_still_hold_cards() -> None:
    """oldmaid-6.12"""
    referee, nick, *_ = scene(Offer, lambda referee, *_: all(len(hand) > 4 for hand in referee.holders.values()))
    assert thrown_out(referee, nick, REFUSED) == [(nick, "oldmaid-6.12")]


def thrown_out(referee: Referee, nick: str, answer: Reply) -> list[tuple[str, str]]:
    return [*clauses(referee, nick, TABLE, OutOfCards()), *clauses(referee, TABLE, nick, answer)]


# Players who cheat in the ring.


def test_who_offers_before_all_cards_are_drawn_is_found_out() -> None:
    """oldmaid-7.1"""
    referee, sender, receiver, _ = scene(YourTurn)
    assert clauses(referee, sender, receiver, Offer(1)) == [(sender, "oldmaid-7.1")]


def test_who_tells_another_number_of_cards_is_found_out() -> None:
    """oldmaid-7.2"""
    for wrong in (-1, 1):
        referee, offerer, left, said = scene(Offer)
        assert clauses(referee, offerer, left, Offer(said.num_cards + wrong)) == [(offerer, "oldmaid-7.2")]


def test_who_offers_out_of_turn_is_found_out() -> None:
    """oldmaid-7.8"""
    referee, offerer, left, said = scene(Offer)
    assert clauses(referee, offerer, left, said) == []
    (other,) = {"ann", "bob", "cyd"} - {offerer, left}
    held = len(referee.holders[other])
    assert clauses(referee, other, offerer, Offer(held)) == [(other, "oldmaid-7.8")]


def test_who_skips_his_left_neighbour_is_found_out() -> None:
    """oldmaid-7.9"""
    referee, offerer, left, said = scene(Offer)
    (other,) = {"ann", "bob", "cyd"} - {offerer, left}
    assert clauses(referee, offerer, other, said) == [(offerer, "oldmaid-7.9")]


def test_who_offers_his_hand_to_himself_is_found_out() -> None:
    """oldmaid-7.9"""
    referee, offerer, _, said = scene(Offer)
    assert clauses(referee, offerer, offerer, said) == [(offerer, "oldmaid-7.9")]


def test_who_cannot_reach_his_left_neighbour_may_skip_him() -> None:
    """oldmaid-9.5, oldmaid-9.6"""
    referee, offerer, left, said = scene(Offer)
    (other,) = {"ann", "bob", "cyd"} - {offerer, left}
    assert not referee.turn_lost
    assert list(referee.on_connection_lost(offerer, left)) == []
    assert referee.turn_lost
    assert clauses(referee, offerer, other, said) == []


def test_who_is_asked_again_when_he_was_out_is_asked_by_a_cheat() -> None:
    """oldmaid-7.9: for good"""
    referee, nick, offerer, _ = scene(Reply, lambda *found: found[3] == OUT)
    assert clauses(referee, nick, offerer, OUT) == []
    again = Offer(len(referee.holders[offerer]))
    assert clauses(referee, offerer, nick, again) == [(offerer, "oldmaid-7.9")]


def test_who_says_out_and_has_cards_is_found_out() -> None:
    """oldmaid-7.9"""
    referee, nick, offerer, _ = scene(Reply, lambda r, s, p, said: over(r, s) and p != TABLE and said == OK)
    assert clauses(referee, nick, offerer, OUT) == [(nick, "oldmaid-7.9")]


def test_who_takes_an_offer_and_has_no_cards_is_found_out() -> None:
    """oldmaid-7.9"""
    referee, nick, offerer, _ = scene(Reply, lambda *found: found[3] == OUT)
    assert clauses(referee, nick, offerer, OK) == [(nick, "oldmaid-7.9")]


def test_who_picks_and_was_offered_nothing_is_found_out() -> None:
    """oldmaid-7.7"""
    referee, picker, giver, said = scene(Pick)
    (other,) = {"ann", "bob", "cyd"} - {giver, picker}
    assert clauses(referee, other, giver, said) == [(other, "oldmaid-7.7")]
    assert clauses(referee, picker, giver, said) == []
    assert clauses(referee, picker, giver, said) == [(picker, "oldmaid-7.7")]
    referee, offerer, left, said = scene(Offer)
    told(referee, (offerer, left, said))
    assert clauses(referee, left, offerer, Pick(0)) == [(left, "oldmaid-7.7")], "he has not said that he is in"


def test_who_picks_a_card_that_is_not_offered_is_found_out() -> None:
    """oldmaid-7.4, oldmaid-7.6"""
    for strict, beyond in ((False, 1), (True, 0)):
        referee, picker, giver, _ = scene(Pick, strict=strict)
        offered = len(referee.holders[giver])
        assert clauses(referee, picker, giver, Pick(offered + beyond)) == [(picker, "oldmaid-7.4")]
        assert clauses(referee, giver, picker, REFUSED) == [], "he has to be refused"
        assert clauses(referee, picker, giver, Pick(-1)) == [(picker, "oldmaid-7.4")]
        told(referee, (giver, picker, REFUSED))
        assert clauses(referee, picker, giver, Pick(offered - 1)) == []
    referee, picker, giver, _ = scene(Pick)
    assert clauses(referee, picker, giver, Pick(len(referee.holders[giver]))) == []


def test_who_gives_a_card_that_he_does_not_hold_is_found_out() -> None:
    """oldmaid-7.5"""
    referee, picker, giver, said = scene(Pick)
    told(referee, (picker, giver, said))
    strange = next(card for card in referee.holders[picker])
    assert clauses(referee, giver, picker, Reply("ok", card=to_wire(strange))) == [(giver, "oldmaid-7.5")]


def test_who_gives_what_is_no_card_is_found_out() -> None:
    """oldmaid-7.5"""
    referee, picker, giver, said = scene(Pick)
    told(referee, (picker, giver, said))
    assert clauses(referee, giver, picker, Reply("ok", card=("1", "spades"))) == [(giver, "oldmaid-7.5")]


def test_who_does_not_give_what_was_picked_is_found_out() -> None:
    """oldmaid-7.5, oldmaid-7.15: and when he is gone for it, the turn is the other's."""
    referee, picker, giver, said = scene(Pick)
    for _ in range(2):
        assert clauses(referee, picker, giver, said) == []
        assert clauses(referee, giver, picker, REFUSED) == [(giver, "oldmaid-7.5")]
    referee.on_connection_lost(picker, giver)
    (other,) = {"ann", "bob", "cyd"} - {giver, picker}
    assert clauses(referee, picker, other, Offer(len(referee.holders[picker]))) == []


def test_who_has_no_cards_and_does_not_tell_the_table_is_found_out() -> None:
    """oldmaid-7.12"""
    referee, offerer, left, said = scene(Offer, lambda *found: found[3].num_cards == 0, game=empty_offer())
    referee.players[offerer].is_out = False
    assert clauses(referee, offerer, left, said) == [(offerer, "oldmaid-7.12")]


def empty_offer() -> tuple[Heard, ...]:
    """An honest game in which somebody has no cards when it is his turn to offer."""
    games = (honest(4, seed) for seed in range(50))
    return next(game for game in games if any(said == Offer(0) for *_, said in game))


@pytest.mark.parametrize(
    ("request_", "answer"),
    [(YourTurn, OUT), (Offer, Reply("last_card")), (Pick, OK), (Pick, OUT), (Offer, Standing((), ()))],
)
def test_who_answers_something_else_is_found_out(request_: type[Message], answer: Message) -> None:
    """oldmaid-2.3"""
    referee, asker, asked, said = scene(request_)
    told(referee, (asker, asked, said))
    assert clauses(referee, asked, asker, answer) == [(asked, "oldmaid-2.3")]


def test_who_asks_a_player_what_only_the_table_is_asked_is_found_out() -> None:
    """oldmaid-8.6"""
    referee, asker, asked, _ = scene(YourTurn)
    assert clauses(referee, asker, asked, Draw()) == [(asker, "oldmaid-8.6")]
    assert clauses(referee, asked, asker, REFUSED) == []


def test_what_cannot_be_read_is_its_senders_fault_and_is_answered() -> None:
    garbled = Violation("oldmaid-8.3", "this", "JSON")
    referee, nick, *_ = scene(Draw)
    assert clauses(referee, nick, TABLE, garbled) == [(nick, "oldmaid-8.3")]
    assert clauses(referee, TABLE, nick, REFUSED) == []
    referee, picker, giver, said = scene(Pick)
    told(referee, (picker, giver, said))
    assert clauses(referee, giver, picker, garbled) == [(giver, "oldmaid-8.3")]
    assert clauses(referee, giver, picker, REFUSED) == [], "nobody waits for it any more (oldmaid-2.11)"


# A table that cheats.


def dealt(when: Callable[..., bool] = lambda *_: True) -> Scene:
    """The table is about to deal a card."""
    return scene(Reply, lambda r, s, p, said: s == TABLE and said.card is not None and when(r, s, p, said))


def test_a_table_that_deals_a_card_twice_is_found_out() -> None:
    """oldmaid-4.1"""
    referee, _, nick, _ = dealt(lambda r, *_: r.game.drawn == 10)
    again = next(card for hand in referee.holders.values() for card in hand)
    assert clauses(referee, TABLE, nick, Reply("ok", card=to_wire(again))) == [(TABLE, "oldmaid-4.1")]


def test_a_table_that_deals_what_is_no_card_is_found_out() -> None:
    """oldmaid-2.4"""
    for card in (("T", "spades"), None):
        referee, _, nick, _ = dealt()
        assert clauses(referee, TABLE, nick, Reply("ok", card=card)) == [(TABLE, "oldmaid-2.4")]


def test_a_table_that_deals_out_of_order_is_found_out() -> None:
    """oldmaid-4.3"""
    referee, _, nick, said = dealt()
    (other, *_) = {"ann", "bob", "cyd"} - {nick}
    told(referee, (other, TABLE, Draw()))
    assert clauses(referee, TABLE, other, said) == [(TABLE, "oldmaid-4.3")]


def test_a_table_that_tells_the_last_card_at_another_time_is_found_out() -> None:
    """oldmaid-4.4"""
    referee, _, nick, said = dealt()
    assert clauses(referee, TABLE, nick, Reply("last_card", card=said.card)) == [(TABLE, "oldmaid-4.4")]
    referee, _, nick, said = dealt(lambda *found: found[3].result == "last_card")
    assert clauses(referee, TABLE, nick, Reply("ok", card=said.card)) == [(TABLE, "oldmaid-4.4")]


def test_a_table_that_refuses_what_is_right_is_found_out() -> None:
    """oldmaid-4.2, oldmaid-5.2, oldmaid-6.1, oldmaid-6.5"""
    kinds = {Draw: "oldmaid-4.2", Discard: "oldmaid-5.2", OutOfCards: "oldmaid-6.1", Status: "oldmaid-6.5"}
    for kind, clause in kinds.items():
        referee, nick, _, said = scene(kind)
        told(referee, (nick, TABLE, said))
        assert clauses(referee, TABLE, nick, REFUSED) == [(TABLE, clause)]


def test_a_table_that_accepts_what_is_wrong_is_found_out_with_who_asked_for_it() -> None:
    """oldmaid-5.3, oldmaid-6.2, oldmaid-4.5"""
    referee, nick, *_ = scene(YourTurn)
    assert thrown(referee, nick, discard(0, 2), THROWN) == [(TABLE, "oldmaid-5.3"), (nick, "oldmaid-5.3")]
    assert thrown_out(referee, nick, OK) == [(TABLE, "oldmaid-6.2"), (nick, "oldmaid-6.2")]


@pytest.mark.parametrize(
    ("request_", "answer"), [(Draw, Standing((), ())), (Status, OK), (OutOfCards, Standing((), ())), (Join, THROWN)]
)
def test_a_table_that_answers_something_else_is_found_out(request_: type[Message], answer: Message) -> None:
    """oldmaid-2.3"""
    referee, nick, *_ = scene(Draw)
    told(referee, (nick, TABLE, Join("zoe") if request_ is Join else request_()))
    assert clauses(referee, TABLE, nick, answer) == [(TABLE, "oldmaid-2.3")]


def test_what_the_table_refuses_is_no_fault_of_its_own() -> None:
    """oldmaid-3.14, oldmaid-4.3"""
    referee, nick, *_ = scene(YourTurn)
    told(referee, (nick, TABLE, Join(nick)))
    assert clauses(referee, TABLE, nick, REFUSED) == []
    assert clauses(referee, nick, TABLE, Draw()) == [(nick, "oldmaid-4.3")]
    assert clauses(referee, TABLE, nick, REFUSED) == []


def test_a_table_that_tells_the_wrong_standing_is_found_out() -> None:
    """oldmaid-6.6"""
    referee, _, nick, said = scene(Standing)
    wrong = Standing(said.inside[::-1] or ("ann",), said.outside[::-1])
    if wrong == said:
        wrong = Standing(said.inside, ())
    assert clauses(referee, TABLE, nick, wrong) == [(TABLE, "oldmaid-6.6")]


def test_a_table_that_tells_everybody_another_list_is_found_out() -> None:
    """oldmaid-3.2"""
    lists = [found for found in islice(honest(), 20) if isinstance(found[2], Reply)]
    referee = Referee()
    for nick in ("ann", "bob", "cyd"):
        told(referee, (nick, TABLE, Join(nick)))
    (_, first, listed), (_, second, _), *_ = lists
    assert clauses(referee, TABLE, first, listed) == []
    assert clauses(referee, TABLE, second, Reply("ok", players=listed.players[::-1])) == [(TABLE, "oldmaid-3.2")]


@pytest.mark.parametrize("nicks", [["ann"], ["ann", "bob", "ann"], ["ann", *"abcdefgh"], []])
def test_a_table_that_lists_no_ring_is_found_out(nicks: list[str]) -> None:
    """oldmaid-3.8, oldmaid-3.10, oldmaid-3.19"""
    referee = Referee()
    told(referee, ("ann", TABLE, Join("ann")))
    listed = Reply("ok", players=tuple((("192.0.2.1", port), nick) for port, nick in enumerate(nicks)))
    assert clauses(referee, TABLE, "ann", listed) == [(TABLE, "oldmaid-3.19")]
    assert list(referee.on_connection_lost(TABLE, "ann")) == []


def test_a_table_that_speaks_unasked_is_found_out() -> None:
    """oldmaid-1.8"""
    referee, nick, *_ = scene(Draw)
    assert clauses(referee, TABLE, nick, OK) == [(TABLE, "oldmaid-1.8")]


def test_a_table_that_plays_with_who_is_in_no_game_is_found_out() -> None:
    """oldmaid-4.6"""
    referee = Referee()
    assert clauses(referee, "ann", TABLE, Draw()) == []
    assert clauses(referee, TABLE, "ann", REFUSED) == []
    assert clauses(referee, "ann", TABLE, Draw()) == []
    assert clauses(referee, TABLE, "ann", Reply("ok", card=("3", "spades"))) == [(TABLE, "oldmaid-4.6")]


def test_a_game_that_the_table_ends_has_no_loser() -> None:
    """oldmaid-6.10"""
    referee, _, nick, _ = scene(Pick)
    assert clauses(referee, TABLE, nick, Reply("error", "oldmaid-6.10: stuck")) == []
    assert referee.game is not None
    assert (referee.game.is_void, referee.loser) == (True, None)


def test_who_joins_another_game_when_he_is_out_is_not_judged_in_this_one_any_more() -> None:
    """oldmaid-3.14"""
    referee, nick, *_ = scene(Status)
    told(referee, (nick, TABLE, Join("zoe")))
    listed = Reply("ok", players=((("192.0.2.1", 1), "zoe"), (("192.0.2.1", 2), "yan")))
    assert clauses(referee, TABLE, nick, listed) == []
    assert clauses(referee, nick, TABLE, Draw()) == []
    assert clauses(referee, TABLE, nick, Reply("ok", card=("3", "spades"))) == []
    assert list(referee.on_connection_lost(TABLE, nick)) == []


# Not everything is a fault.


def test_what_nobody_waits_for_is_nobodys_fault() -> None:
    """oldmaid-2.11"""
    referee, nick, other, _ = scene(YourTurn)
    assert referee.loser is None
    assert clauses(referee, other, nick, OUT) == []
    assert clauses(referee, nick, TABLE, OK) == []


def test_who_asks_for_something_when_the_others_are_gone_could_not_know() -> None:
    """oldmaid-6.9"""
    referee, nick, _, said = scene(OutOfCards, drawn)
    told(referee, (nick, TABLE, said))
    for other in {*referee.players} - {nick}:
        assert list(referee.on_connection_lost(TABLE, other)) == []
    assert referee.game is not None
    assert referee.game.is_over
    assert clauses(referee, TABLE, nick, REFUSED) == []
    assert referee.players[nick].is_out, "he has told it"


def test_what_comes_after_the_connection_was_lost_is_nobodys_fault() -> None:
    """oldmaid-9.6: who picks cannot know yet that he is not waited for."""
    referee, picker, giver, said = scene(Pick)
    assert list(referee.on_connection_lost(giver, picker)) == []
    assert clauses(referee, picker, giver, said) == []
    assert clauses(referee, giver, picker, REFUSED) == []
    referee, left, offerer, said = scene(Reply, lambda r, s, p, said: over(r, s) and p != TABLE and said == OK)
    assert list(referee.on_connection_lost(offerer, left)) == []
    assert clauses(referee, left, offerer, said) == []


def test_a_stranger_is_nobody_to_be_judged() -> None:
    referee, nick, *_ = scene(Offer)
    for said in (YourTurn(), Offer(3), Pick(0), OK):
        assert clauses(referee, "zoe", nick, said) == []
        assert clauses(referee, nick, "zoe", said) == []
    assert list(referee.on_connection_lost("zoe", nick)) == []
    assert list(referee.on_connection_lost(TABLE, "zoe")) == []
