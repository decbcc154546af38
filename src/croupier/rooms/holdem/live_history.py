"""What happens at a hold'em table, in sentences: bets, folds, board cards and wins.

A server shows states, not actions, and a client may miss states. The actions between two states are inferred from
their difference and the order of play.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from croupier.core.card_names import FRENCH_CARDS
from croupier.core.presentation import Text, counted, listed, text, verbatim
from croupier.rooms.holdem.engine.streets import split_board
from croupier.rooms.holdem.wire import Game, Guid, Player

ACTIONS: Final = {
    "fold": (text("You fold."), text("{name} folds.")),
    "check": (text("You check."), text("{name} checks.")),
    "call": (text("You call {chips}."), text("{name} calls {chips}.")),
    "call all-in": (text("You call {chips}, all-in."), text("{name} calls {chips}, all-in.")),
    "bet": (text("You bet {chips}."), text("{name} bets {chips}.")),
    "bet all-in": (text("You bet {chips}, all-in."), text("{name} bets {chips}, all-in.")),
    "raise": (text("You raise to {chips}."), text("{name} raises to {chips}.")),
    "raise all-in": (text("You raise to {chips}, all-in."), text("{name} raises to {chips}, all-in.")),
    "win": (text("You win {chips}."), text("{name} wins {chips}.")),
    "win with": (text("You win {chips} with {cards}."), text("{name} wins {chips} with {cards}.")),
    "sit": (text("You sit down."), text("{name} sits down.")),
}
"""Sentences about the person who looks at the table, and about another player."""
LEAVES: Final = text("{name} leaves.")
STREETS: Final = (text("Flop: {cards}."), text("Turn: {cards}."), text("River: {cards}."))


class LiveHistory:
    """Follows one table with each Game that the viewer sees.

    `hands_seen` counts the hands. `button` and `big_blind` are players of the latest hand, "" if unknown.
    `stacks_before` maps its players to their chips before the hand, as far as known. `winners` are the
    players who have won chips, with the chips, if the last update has ended a hand.
    """

    def __init__(self, hands_seen: int = 0) -> None:
        self.hands_seen = hands_seen
        self.button: Guid = ""
        self.big_blind: Guid = ""
        self.stacks_before: Mapping[Guid, int] = {}
        self.winners: list[tuple[Text, int]] = []
        self._own: Guid = ""
        self._small_blind: Guid = ""
        self._last_game: Game | None = None
        self._texts: list[Text] = []

    def update(self, game: Game, own: Guid = "", nets: Sequence[int] = ()) -> tuple[Text, ...]:
        """Return what has happened since the last Game, oldest first.

        `own` is the player who looks at the table, and `nets` are its results of the hands that have ended since then,
        in chips, as far as the player itself has counted them.
        """
        self._own, self._texts, self.winners = own, [], []
        before, self._last_game = self._last_game, game
        is_new_hand = before is None or not is_running(before) or self._is_new_hand(before, game)
        if before is not None and is_running(before):
            if is_running(game) and not is_new_hand:
                self._add_actions(before, game)
            else:
                self._end_hand(before, game, is_own_known=bool(nets))
        self._texts += map(outcome, nets)
        if before is not None and (is_new_hand or not is_running(game)):
            self._add_seat_changes(before, game)
        if is_running(game) and is_new_hand:
            self._begin_hand(game)
        return tuple(self._texts)

    # From one hand to the next.

    def _is_new_hand(self, before: Game, game: Game) -> bool:
        """Return whether `game` shows another hand: other cards, another small blind, or chips paid out."""
        board, holes = before.cards.board, [one for one in (before.cards.hole, game.cards.hole) if one]
        if game.cards.board[: len(board)] != board or (len(holes) == 2 and holes[0] != holes[1]):
            return True
        seen = {one.player_id: one for one in before.table}
        small_blind = next((one.player_id for one in game.table if one.small_blind), self._small_blind)
        paid_out = any(_has_gained(seen.get(one.player_id, one), one) for one in game.table)
        return paid_out or small_blind != self._small_blind

    def _begin_hand(self, game: Game) -> None:
        at = next((at for at, one in enumerate(game.table) if one.small_blind), None)
        self.hands_seen += 1
        self.stacks_before = stacks_before_hand(game)
        self.button = self.big_blind = self._small_blind = ""
        if at is None:
            self._texts.append(text("Hand {number} begins.", number=self.hands_seen))
        else:
            button = game.table[at if len(game.table) == 2 else at - 1]
            self.button, self._small_blind = button.player_id, game.table[at].player_id
            self.big_blind = game.table[(at + 1) % len(game.table)].player_id
            self._texts.append(
                text("Hand {number}: you have the button.", number=self.hands_seen)
                if self.button == self._own
                else text("Hand {number}: {name} has the button.", number=self.hands_seen, name=player_name(button))
            )
        self._add_board_cards((), game.cards.board)

    def _end_hand(self, before: Game, game: Game, *, is_own_known: bool) -> None:
        """Add the end of a hand, with its winners, but without the viewer's result if it `is_own_known`.

        `game` may show the next hand already.
        """
        stacks = stacks_before_hand(game) if is_running(game) else {one.player_id: one.wealth for one in game.table}
        for one in before.table:
            if one.player_id == before.turn.player_id and self._has_folded(one, before, game, stacks):
                self._add(one, "fold")
        if not is_running(game):
            self._add_board_cards(before.cards.board, game.cards.board)
        shown = {one.player_id: one.hand for one in game.last_winners or ()}
        for one in before.table:
            chips = stacks.get(one.player_id, 0)
            net = chips - self.stacks_before.get(one.player_id, chips)
            if net > 0 and not (is_own_known and one.player_id == self._own):
                self.winners.append((player_name(one), net))
                cards = shown.get(one.player_id, ())
                if cards and all(card in FRENCH_CARDS for card in cards):
                    self._add(one, "win with", chips=net, cards=cards_text(cards))
                else:
                    self._add(one, "win", chips=net)

    def _has_folded(self, to_act: Player, before: Game, game: Game, stacks: Mapping[Guid, int]) -> bool:
        """Return whether the last player to act has folded.

        If the end of the hand is not shown, an unchanged stack means a fold.
        """
        final_states = [one for one in game.table if one.state != "active"]
        if final_states and not is_running(game):
            return any(one.player_id == to_act.player_id and one.state == "folded" for one in final_states)
        decided = to_act.bet_so_far < before.turn.bet_to_player or before.cards.river is None
        return decided and stacks.get(to_act.player_id) == to_act.wealth

    def _add_seat_changes(self, before: Game, game: Game) -> None:
        """Add the players who left or sat down between two hands."""
        old, new = ({one.player_id for one in table} for table in (before.table, game.table))
        for one in before.table:
            if one.player_id not in new:
                self._add_leaver(one)
        for one in game.table:
            if one.player_id not in old:
                self._add(one, "sit")

    # Within a hand.

    def _add_actions(self, before: Game, game: Game) -> None:
        """Add the actions of the betting round of `before`, new board cards, and the actions after them."""
        board, cards = before.cards.board, game.cards.board
        is_round_over = len(cards) > len(board)
        now = {one.player_id: one for one in game.table}
        top = before.turn.bet_to_player
        for one in clockwise(before.table, before.turn.player_id):
            then = now.get(one.player_id)
            if then is None:
                self._add_leaver(one)
                continue
            added = one.wealth - then.wealth - (then.bet_so_far if is_round_over else 0)
            could_check = one.state == "active" and one.wealth > 0 and one.bet_so_far == top
            if added > 0:
                top = self._add_bet(one, added, top)
            elif could_check and (then.state == "called" or (is_round_over and then.state != "folded")):
                self._add(one, "check")
            if then.state == "folded" != one.state:
                self._add(one, "fold")
        if is_round_over:
            self._add_board_cards(board, cards)
            self._add_new_round_actions(game)

    def _add_new_round_actions(self, game: Game) -> None:
        """Add the actions of a betting round of which only this state was seen."""
        top = 0
        for one in clockwise(game.table, self.button, 1):
            if one.bet_so_far:
                at_start = Player(one.player_id, one.handle, "active", one.wealth + one.bet_so_far, 0, one.small_blind)
                top = self._add_bet(at_start, one.bet_so_far, top)
            elif one.state == "called" and one.wealth:
                self._add(one, "check")

    def _add_bet(self, player: Player, added: int, top: int) -> int:
        """Add a call, bet or raise of `added` chips; `top` is the bet to match. Return the new bet to match."""
        total = player.bet_so_far + added
        all_in = "" if added < player.wealth else " all-in"
        if total <= top:
            self._add(player, f"call{all_in}", chips=added)
        else:
            self._add(player, f"{'raise' if top else 'bet'}{all_in}", chips=total)
        return max(top, total)

    def _add_board_cards(self, board: Sequence[str], cards: Sequence[str]) -> None:
        """Add a sentence for each street in `cards` that is not in `board`."""
        for street, old, new in zip(STREETS, split_board(board), split_board(cards), strict=True):
            if new and new != old:
                self._texts.append(street.fill(cards=cards_text(new)))

    def _add_leaver(self, player: Player) -> None:
        """Add a player who has left. The presenter describes the loss of the viewer's own seat."""
        if player.player_id != self._own:
            self._texts.append(LEAVES.fill(name=player_name(player)))

    def _add(self, player: Player, action: str, **args: Text | int) -> None:
        own, other = ACTIONS[action]
        if player.player_id == self._own:
            self._texts.append(own.fill(**args))
        else:
            self._texts.append(other.fill(name=player_name(player), **args))


def _has_gained(before: Player, now: Player) -> bool:
    """Return whether a player has more chips, with or without the bets of the round: within a hand, nobody has."""
    return now.wealth > before.wealth or now.wealth + now.bet_so_far > before.wealth + before.bet_so_far


def outcome(net: int) -> Text:
    """Return the viewer's result of a hand as a sentence."""
    if net > 0:
        return counted("You win {count} chip.", "You win {count} chips.", net)
    if net < 0:
        return counted("You lose {count} chip.", "You lose {count} chips.", -net)
    return text("You neither win nor lose.")


def is_running(game: Game) -> bool:
    """Return whether a hand is being played, that is, whether it is a player's turn."""
    return bool(game.turn.player_id)


def stacks_before_hand(game: Game) -> dict[Guid, int]:
    """Return each player's chips before the hand; empty if the pots do not show how much each player has paid.

    In earlier betting rounds all players have paid the same, except all-in players, who have paid their share of each
    of their pots. This does not hold if a player folded on an earlier street or left: then the result is empty.
    """
    here = {one.player_id for one in game.table}
    payers = {guid for one in game.pots for guid in one.players} or here
    if payers - here or (game.cards.flop is not None and any(one.state == "folded" for one in game.table)):
        return {}
    earlier = {
        one.player_id: sum(each.size // len(each.players) for each in game.pots if one.player_id in each.players)
        for one in game.table
        if not one.wealth and not one.bet_so_far
    }
    rest = pot_total(game) - sum(one.bet_so_far for one in game.table) - sum(earlier.values())
    share = max(0, rest) // max(1, len(payers - {*earlier}))
    return {one.player_id: one.wealth + one.bet_so_far + earlier.get(one.player_id, share) for one in game.table}


def pot_total(game: Game) -> int:
    """Return the chips in all pots."""
    return sum(one.size for one in game.pots)


def clockwise(table: Sequence[Player], first: Guid, offset: int = 0) -> Sequence[Player]:
    """Return the players of a table, beginning `offset` seats after the player `first`."""
    at = next((at + offset for at, one in enumerate(table) if one.player_id == first), 0)
    return [*table[at:], *table[:at]]


def player_name(player: Player) -> Text:
    """Return the name of a player as a text."""
    return verbatim(player.handle or player.player_id)


def cards_text(cards: Iterable[str]) -> Text:
    """Return the names of cards."""
    return listed(FRENCH_CARDS[card].name for card in cards)
