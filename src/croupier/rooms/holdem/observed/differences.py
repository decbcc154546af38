"""Comparison of a displayed hold'em game with the state required by the rules, as violations with their clauses."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

from croupier.core.errors import Violation
from croupier.core.rules import Seat
from croupier.rooms.holdem.engine.awards import Pot
from croupier.rooms.holdem.observed.bet_clauses import INVALID_BET_CLAUSES, KEPT_SEAT_CLAUSE
from croupier.rooms.holdem.observed.hand import ObservedHand
from croupier.rooms.holdem.wire import Game, Guid


def compare(observed: ObservedHand, game: Game, cause_clause: str, clause_counts: Counter[str]) -> Iterator[Violation]:
    """Yield the violations in a displayed game of which a hand is running.

    `cause_clause` is the clause of the latest change, which is blamed for wrong chips and states. `clause_counts`
    counts each clause that was checked. After a `fatal` violation the hand cannot be followed any further.
    """
    hand = observed.hand
    if not isinstance(hand.turn, int):
        yield Violation("holdem-6.7", f"{len(observed.board)} cards on the board", "the next cards: the round is over")
        return
    shown = {player.player_id: player for player in game.table}
    present = [(seat, player) for seat, player in enumerate(observed.players) if player not in observed.left_players]
    if missing := [player for _, player in present if player not in shown]:
        clause = _missing_clause(observed, missing, cause_clause)
        yield Violation(clause, f"a table without {', '.join(missing)}", "all players of the hand", fatal=True)
        return
    if unexpected := shown.keys() - {player for _, player in present}:
        clause = "holdem-3.10" if unexpected & observed.left_players else "holdem-5.20"
        yield Violation(clause, f"{', '.join(unexpected)} at the table", "only players of the hand")
    order = [player.player_id for player in game.table if player.player_id not in unexpected]
    seated = [player for _, player in present]
    if rotated(order, lambda player: player == seated[0]) != seated:
        yield Violation("holdem-5.3", f"the table {', '.join(order)}", "the players in the order of their seats")
    clause_counts.update(f"holdem-{number}" for number in ("5.8", "5.9", "5.10", "5.17", "5.20", "6.7"))
    total = sum(shown[player].wealth for _, player in present) + sum(pot.size for pot in game.pots)
    due = sum(hand.paid) + sum(hand.stacks[seat] for seat, _ in present)
    chips = [
        (seat, player)
        for seat, player in present
        if (shown[player].wealth, shown[player].bet_so_far) != (hand.stacks[seat], hand.bets[seat])
    ]
    for seat, player in chips:
        displayed = shown[player]
        found = f"a stack of {displayed.wealth} and a bet of {displayed.bet_so_far} of {displayed.handle or player}"
        is_shown_wrong = displayed.wealth == hand.stacks[seat] and cause_clause != "holdem-6.3"
        clause = "holdem-5.7" if is_shown_wrong else cause_clause
        allowed = f"a stack of {hand.stacks[seat]} and a bet of {hand.bets[seat]}"
        if cause_clause == "holdem-6.3":
            allowed = f"{allowed}: {_blind_of(observed, seat)}"
        yield Violation(clause, found, allowed)
    if not chips and total != due:
        lacks_bets = total + sum(shown[player].bet_so_far for _, player in present) == due
        found = f"{total} chips: the pots lack the bets of this round" if lacks_bets else f"{total} chips"
        yield Violation("holdem-5.17", found, f"{due}")
    has_other_turn = game.turn.player_id != observed.players[hand.turn]
    for seat, player in present:
        # The document does not define the state of a player who is all in.
        if hand.stacks[seat] and shown[player].state != observed.status(seat):
            is_about_fold = "folded" in {shown[player].state, observed.status(seat)}
            if is_about_fold or not has_other_turn:  # the other states follow from the turn
                clause = cause_clause if is_about_fold else "holdem-5.9"
                found = f"{shown[player].handle or player} {shown[player].state}"
                yield Violation(clause, found, observed.status(seat))
        if shown[player].small_blind != (seat == hand.small_blind):
            found = f"small_blind {str(shown[player].small_blind).lower()} of {shown[player].handle or player}"
            allowed = "true for the player who has posted it, and for no other"
            yield Violation("holdem-5.7", found, allowed, about="small_blind")
    yield from _compare_turn(observed, game, hand.turn, cause_clause, clause_counts)
    yield from _compare_pots(observed, game, clause_counts)


def _missing_clause(observed: ObservedHand, missing: Sequence[Guid], cause_clause: str) -> str:
    """The clause that is violated if players of the hand are not displayed."""
    if cause_clause in INVALID_BET_CLAUSES and missing == [observed.last_to_act]:
        return KEPT_SEAT_CLAUSE
    return cause_clause if cause_clause.startswith("holdem-4") else "holdem-5.8"


def rotated[Value](circle: Sequence[Value], is_first: Callable[[Value], bool]) -> Sequence[Value]:
    """Return the values of a circle from the first one that fits on; as they are if none does."""
    at = next((index for index, value in enumerate(circle) if is_first(value)), 0)
    return [*circle[at:], *circle[:at]]


def _blind_of(observed: ObservedHand, seat: Seat) -> str:
    """Return which blind a seat posts."""
    names = ("the small blind", "the big blind", "the straddle")
    return next(
        (name for name, (poster, _) in zip(names, observed.hand.blinds, strict=False) if poster == seat), "no blind"
    )


def _join_new_pots(pots: list[Pot], bets: Sequence[int], count: int) -> list[Pot]:
    """Join the last pots until there are `count`, as far as all-ins of this round divide them (holdem-5.15)."""
    while len(pots) > count and all(bets[seat] for seat in {*pots[-2].seats} - {*pots[-1].seats}):
        *others, below, last = pots
        pots = [*others, Pot(below.size + last.size, below.seats, below.payers)]
    return pots


def _compare_turn(
    observed: ObservedHand, game: Game, seat: Seat, cause_clause: str, clause_counts: Counter[str]
) -> Iterator[Violation]:
    hand, turn = observed.hand, game.turn
    player = observed.players[seat]
    if turn.player_id != player:
        shown, due = (_describe_turn(observed, one) for one in (turn.player_id, player))
        yield Violation(_turn_clause(observed, cause_clause), shown, due)
        return
    for clause, key, found, allowed in (
        ("holdem-5.10", "bet_so_far", turn.bet_so_far, hand.bets[seat]),
        ("holdem-5.10", "bet_to_player", turn.bet_to_player, hand.to_match),
        ("holdem-6.8", "minimum_raise", turn.minimum_raise, hand.min_raise),
    ):
        clause_counts[clause] += 1
        if found != allowed and not (key == "minimum_raise" and found in _smallest_raises(observed, seat)):
            is_short_blind = key == "bet_to_player" and not observed.board and found == max(hand.bets) < allowed
            yield Violation("holdem-6.10" if is_short_blind else clause, f"{key} {found}", f"{allowed}", about=key)


def _smallest_raises(observed: ObservedHand, seat: Seat) -> Collection[int]:
    """Return what may stand for the smallest raise of the player to act in place of the full one (holdem P38).

    That is what its chips allow beyond the call, and 0 where it cannot raise, or nobody can call it.
    """
    hand, legal = observed.hand, observed.hand.legal
    smallest = max(0, min(hand.min_raise, hand.stacks[seat] - legal.to_call))
    return {smallest} if legal.raise_range and legal.can_be_answered else {smallest, 0}


def _describe_turn(observed: ObservedHand, player: Guid) -> str:
    """Return whose turn it is and, as that decides between two players, which blind that one has posted (6.4)."""
    seat = observed.seat_of(player)
    blind = f", who has posted {_blind_of(observed, seat)}" if seat is not None and len(observed.players) == 2 else ""
    return f"the turn of {player or 'no player'}{blind}"


def _turn_clause(observed: ObservedHand, cause_clause: str) -> str:
    """Return the clause that determines the player to act."""
    latest = next(kind for kind, *_ in reversed(observed.hand.log) if kind in {"deal", "bet"})
    if latest == "bet":  # a player has checked, called or raised in this round
        return cause_clause if cause_clause.startswith("holdem-4.1") else "holdem-6.7"
    return "holdem-6.4" if len(observed.players) == 2 else "holdem-6.6"


def _compare_pots(observed: ObservedHand, game: Game, clause_counts: Counter[str]) -> Iterator[Violation]:
    """Yield the violations in the pots, unless they follow from wrong stacks."""
    stacks = dict(zip(observed.players, observed.hand.stacks, strict=True))
    if any(stacks.get(player.player_id, player.wealth) != player.wealth for player in game.table):
        return
    clause_counts.update(("holdem-5.13", "holdem-5.15", "holdem-5.19"))
    shown = [pot for pot in game.pots if pot.size]
    if len(shown) < len(game.pots):
        yield Violation("holdem-5.19", "an empty pot", "only pots with chips")
    due = observed.hand.pots
    if len(due) > 1:
        clause_counts["holdem-6.12"] += 1
        due = _join_new_pots(due, observed.hand.bets, max(1, len(shown)))
    if [pot.size for pot in shown] != [pot.size for pot in due]:
        clause = "holdem-6.12" if len(due) > 1 else "holdem-5.15"
        yield Violation(clause, f"pots of {[pot.size for pot in shown]}", f"pots of {[pot.size for pot in due]}")
        return
    for pot, own in zip(shown, due, strict=True):
        payers = {observed.players[seat] for seat in own.payers}
        folded = {observed.players[seat] for seat in own.payers if observed.hand.folded[seat]}
        if folded:
            clause_counts["holdem-5.14"] += 1
        if {*pot.players} != payers:
            clause = "holdem-5.14" if {*pot.players} == payers - folded else "holdem-5.13"
            found, allowed = (", ".join(sorted(players)) or "nobody" for players in (pot.players, payers))
            yield Violation(clause, f"a pot of {found}", f"a pot of {allowed}")
