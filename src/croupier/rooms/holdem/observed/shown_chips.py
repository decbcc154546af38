"""The chips of the players in a displayed hold'em game, with their bets and antes."""

from collections.abc import Sequence

from croupier.rooms.holdem.engine.stakes import Stakes
from croupier.rooms.holdem.wire import Game, Guid


def shown_chips(game: Game, stakes: Stakes) -> dict[Guid, int]:
    """Return the chips of each player, bets and antes included.

    If the bets do not add up to the pots, but the blinds do, the blinds are counted in place of the bets.
    """
    antes = _paid_antes(game, stakes)
    chips = {one.player_id: one.wealth + one.bet_so_far + antes.get(one.player_id, 0) for one in game.table}
    in_pots = sum(pot.size for pot in game.pots) - sum(antes.values())
    blinds = (stakes.small_blind, stakes.big_blind)
    small_blinds = [seat for seat, player in enumerate(game.table) if player.small_blind]
    if in_pots == sum(player.bet_so_far for player in game.table) or in_pots != sum(blinds) or not small_blinds:
        return chips
    posted = {(small_blinds[0] + place) % len(chips): blind for place, blind in enumerate(blinds)}
    return {
        player.player_id: player.wealth + posted.get(seat, 0) + antes.get(player.player_id, 0)
        for seat, player in enumerate(game.table)
    }


def broke_by_ante(game: Game, stakes: Stakes) -> Sequence[Guid]:
    """Return the players of a hand whose last chips may have been an ante."""
    payers = {payer for pot in game.pots for payer in pot.players} if stakes.ante else ()
    return [one.player_id for one in game.table if not one.wealth + one.bet_so_far and one.player_id in payers]


def _paid_antes(game: Game, stakes: Stakes) -> dict[Guid, int]:
    """Return the antes in the pots of a hand that has begun. A player without other chips has paid the rest."""
    if not stakes.ante or not game.turn.player_id:
        return {}
    payers = {payer for pot in game.pots for payer in pot.players}
    antes = {player.player_id: stakes.ante for player in game.table if player.player_id in payers}
    if broke := broke_by_ante(game, stakes):
        others = sum(player.bet_so_far for player in game.table) + stakes.ante * (len(antes) - 1)
        antes[broke[0]] = sum(pot.size for pot in game.pots) - others
    return antes
