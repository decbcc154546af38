"""What is shown of a hand of hold'em beside what it should be by the rules: every difference, and its clause."""

from collections import Counter
from collections.abc import Iterator

from croupier.core.errors import Violation
from croupier.core.rules import Seat
from croupier.rooms.holdem.observed.hand import ObservedHand
from croupier.rooms.holdem.wire import Game


def compare(observed: ObservedHand, game: Game, cause_clause: str, clause_counts: Counter[str]) -> Iterator[Violation]:
    """What is wrong with what is shown of a running hand.

    `why` is the clause by which it stands as it does. What was looked at is counted in `judged`. A violation that is
    `lost` is one by which the hand cannot be followed any more.
    """
    hand = observed.hand
    if not isinstance(hand.turn, int):
        yield Violation("holdem-6.7", f"{len(observed.board)} cards on the board", "the next cards: the round is over")
        return
    shown = {one.player_id: one for one in game.table}
    here = [(seat, player) for seat, player in enumerate(observed.players) if player not in observed.left_players]
    if missing := [player for _, player in here if player not in shown]:
        clause = cause_clause if cause_clause.startswith("holdem-4") else "holdem-5.8"
        yield Violation(clause, f"a table without {', '.join(missing)}", "everybody who plays the hand", fatal=True)
        return
    if others := shown.keys() - {player for _, player in here}:
        gone = others & observed.left_players
        yield Violation("holdem-3.10" if gone else "holdem-5.8", f"{', '.join(others)} at the table", "who plays")
    clause_counts.update(("holdem-5.8", "holdem-5.17", "holdem-5.9", "holdem-5.10", "holdem-6.7"))
    total = sum(shown[player].wealth for _, player in here) + sum(pot.size for pot in game.pots)
    due = sum(hand.paid) + sum(hand.stacks[seat] for seat, _ in here)
    chips = [
        (seat, player)
        for seat, player in here
        if (shown[player].wealth, shown[player].bet_so_far) != (hand.stacks[seat], hand.bets[seat])
    ]
    for seat, player in chips:
        one = shown[player]
        found = f"{one.wealth} behind and a bet of {one.bet_so_far} of {one.handle or player}"
        yield Violation(cause_clause, found, f"{hand.stacks[seat]} and {hand.bets[seat]}")
    if not chips and total != due:
        yield Violation("holdem-5.17", f"{total} chips", f"{due}")
    for seat, player in here:
        if hand.stacks[seat] and shown[player].state != observed.status(seat):  # of all-ins the document says nothing
            clause = (
                cause_clause if shown[player].state == "folded" or observed.status(seat) == "folded" else "holdem-5.9"
            )
            yield Violation(clause, f"{shown[player].handle or player} {shown[player].state}", observed.status(seat))
    yield from _compare_turn(observed, game, hand.turn, cause_clause, clause_counts)
    yield from _compare_pots(observed, game, clause_counts)


def _compare_turn(running: ObservedHand, game: Game, seat: Seat, why: str, judged: Counter[str]) -> Iterator[Violation]:
    """Whose turn it is, and what it tells."""
    hand, turn = running.hand, game.turn
    player = running.players[seat]
    if turn.player_id != player:
        yield Violation(_turn_clause(running, why), f"the turn of {turn.player_id or 'nobody'}", player)
        return
    for clause, what, found, allowed in (
        ("holdem-5.10", "bet_so_far", turn.bet_so_far, hand.bets[seat]),
        ("holdem-5.10", "bet_to_player", turn.bet_to_player, hand.to_match),
        ("holdem-6.8", "minimum_raise", turn.minimum_raise, hand.min_raise),
    ):
        judged[clause] += 1
        if found != allowed:
            yield Violation(clause, f"{what} {found}", f"{allowed}")


def _turn_clause(running: ObservedHand, why: str) -> str:
    """The clause that says whose turn it is now."""
    if running.acted_seats:
        return why if why.startswith("holdem-4.1") else "holdem-6.7"
    return "holdem-6.4" if len(running.players) == 2 else "holdem-6.6"


def _compare_pots(running: ObservedHand, game: Game, judged: Counter[str]) -> Iterator[Violation]:
    """Which pots there are, and who has paid into them."""
    judged.update(("holdem-5.13", "holdem-5.15"))
    shown = [pot for pot in game.pots if pot.size]
    if len(shown) < len(game.pots):
        yield Violation("holdem-5.15", "an empty pot", "none that is empty")
    due = running.hand.pots
    if len(due) > 1:
        judged["holdem-6.12"] += 1
    if [pot.size for pot in shown] != [pot.size for pot in due]:
        clause = "holdem-6.12" if len(due) > 1 else "holdem-5.15"
        yield Violation(clause, f"pots of {[pot.size for pot in shown]}", f"{[pot.size for pot in due]}")
        return
    for pot, own in zip(shown, due, strict=True):
        payers = {running.players[seat] for seat in own.payers}
        out = {running.players[seat] for seat in own.payers if running.hand.folded[seat]}
        if out:
            judged["holdem-5.14"] += 1
        if {*pot.players} != payers:
            clause = "holdem-5.14" if {*pot.players} == payers - out else "holdem-5.13"
            yield Violation(clause, f"the players {sorted(pot.players)}", f"{sorted(payers)}")
