"""The first displayed game of a hand: who has posted the blinds, and who only waits for the next hand."""

from collections.abc import Mapping, Sequence

from croupier.core.errors import Violation
from croupier.core.rules import Seat
from croupier.rooms.holdem.engine.stakes import Stakes
from croupier.rooms.holdem.observed.hand import ObservedHand
from croupier.rooms.holdem.wire import Game, Guid, Player


def check_small_blind(game: Game, stakes: Stakes) -> Violation | None:
    """Check that one of two or more players has the small blind, and that it is the one who has posted it."""
    table = game.table
    seats = len(table)
    blinds = [seat for seat, player in enumerate(table) if player.small_blind]
    if seats < 2 or len(blinds) != 1:
        is_posted = any(player.bet_so_far == stakes.small_blind for player in table)
        clause = "holdem-6.1" if seats < 2 else "holdem-5.7" if is_posted else "holdem-6.3"
        return Violation(clause, f"{len(blinds)} small blinds of {seats}", "one")
    posted = _posting_seats(game, stakes)
    if len(posted) == 1 and posted != blinds:
        found = f"small_blind of {table[blinds[0]].player_id}"
        allowed = f"of {table[posted[0]].player_id}, who has posted it"
        return Violation("holdem-5.7", found, allowed, about="small_blind")
    return None


def dealt_hand(table: Sequence[Player], small_blind: Player, chips: Mapping[Guid, int], stakes: Stakes) -> ObservedHand:
    """Return the hand of the players at a table, one of whom has the small blind, before anybody has acted."""
    players, small = [player.player_id for player in table], [*table].index(small_blind)
    button = small if len(players) == 2 else (small - 1) % len(players)
    return ObservedHand(players, [chips[player] for player in players], button, stakes)


def is_uninvolved(player: Player, game: Game) -> bool:
    """Whether a game shows neither a bet of a player nor the player's turn."""
    has_paid = player.bet_so_far or player.small_blind or any(player.player_id in pot.players for pot in game.pots)
    return player.player_id != game.turn.player_id and not has_paid


def _posting_seats(game: Game, stakes: Stakes) -> Sequence[Seat]:
    """Return the seats whose bet is the small blind, before one with the big blind, where more than two play."""
    bets = [player.bet_so_far for player in game.table]
    blinds = (stakes.small_blind, stakes.big_blind)
    pairs = zip(bets, bets[1:] + bets[:1], strict=True)
    return [seat for seat, pair in enumerate(pairs) if pair == blinds] if len(bets) > 2 else ()
