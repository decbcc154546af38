"""The end of a hold'em hand before all have acted, as a displayed game shows it."""

from collections.abc import Sequence

from croupier.core.errors import Violation
from croupier.rooms.holdem.engine.stakes import Stakes
from croupier.rooms.holdem.observed.hand import ObservedHand
from croupier.rooms.holdem.observed.shown_chips import shown_chips
from croupier.rooms.holdem.wire import Game


def find_early_end(observed: ObservedHand, game: Game, unseen: Sequence[int], stakes: Stakes) -> Violation | None:
    """Return the violation if the pots have been paid out after a bet, although there is more betting to come.

    The players have all their chips then, and the pots hold less than before the `unseen` bets, which no right game
    has shown, or only the blinds of another hand.
    """
    hand, players = observed.hand, observed.players
    if not unseen or observed.is_over():
        return None
    small_blinds = {player.player_id for player in game.table if player.small_blind}
    is_other_hand = bool(small_blinds) and players[hand.small_blind] not in small_blinds
    is_paid_out = sum(pot.size for pot in game.pots) < sum(hand.paid) - sum(unseen) + is_other_hand
    present = [seat for seat, player in enumerate(players) if player not in observed.left_players]
    shown = shown_chips(game, stakes)
    total = sum(shown.get(players[seat], 0) for seat in present)
    if not is_paid_out or total != sum(hand.paid) + sum(hand.stacks[seat] for seat in present):
        return None
    allowed = "the next cards: the round is over"
    if isinstance(hand.turn, int):
        allowed = f"the turn of {players[hand.turn]}: the round is not over"
    return Violation("holdem-6.7", "the end of the hand", allowed)
