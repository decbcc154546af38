"""Hand history of a hold'em table as text lines: bets, folds, board cards and wins.

A server shows states, not actions, and a client may miss states. The actions between two states are inferred from
their difference and the order of play.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rich.cells import cell_len, set_cell_size

from croupier.rooms.holdem.cards import CARD_NUMBERS
from croupier.rooms.holdem.engine.streets import STREET_NAMES, split_board
from croupier.rooms.holdem.wire import Game, Guid, Player
from croupier.tui.cards import french_face
from croupier.tui.frame import terminal_text

MAX_LINES: Final = 12
MAX_NAME_COLUMNS: Final = 16


class LiveHandHistory:
    """The hand history of one table, updated with each Game; `lines` has the latest events.

    `hands_seen` counts the hands. `button` and `big_blind` are players of the latest hand, "" if unknown.
    `stacks_before` maps its players to their chips before the hand, as far as known.
    """

    def __init__(self, own_handle: str = "") -> None:
        self.lines: deque[str] = deque(maxlen=MAX_LINES)
        self.hands_seen = 0
        self.button: Guid = ""
        self.big_blind: Guid = ""
        self.stacks_before: Mapping[Guid, int] = {}
        self._own_handle = own_handle
        self._small_blind: Guid = ""
        self._last_game: Game | None = None

    def update(self, game: Game) -> None:
        """Add lines for what happened since the last Game."""
        before, self._last_game = self._last_game, game
        if before is not None and is_running(before):
            if is_running(game) and not self._is_new_hand(before, game):
                self._add_actions(before, game)
                return
            self._end_hand(before, game)
        if before is not None:
            self._add_seat_changes(before, game)
        if is_running(game):
            self._begin_hand(game)

    # From one hand to the next.

    def _is_new_hand(self, before: Game, game: Game) -> bool:
        """Return whether `game` shows another hand: other cards, another small blind, or chips paid out."""
        board, holes = before.cards.board, [one for one in (before.cards.hole, game.cards.hole) if one]
        if game.cards.board[: len(board)] != board or (len(holes) == 2 and holes[0] != holes[1]):
            return True
        stacks = {one.player_id: one.wealth for one in before.table}
        small_blind = next((one.player_id for one in game.table if one.small_blind), self._small_blind)
        paid_out = any(one.wealth > stacks.get(one.player_id, one.wealth) for one in game.table)
        return paid_out or small_blind != self._small_blind

    def _begin_hand(self, game: Game) -> None:
        at = next((at for at, one in enumerate(game.table) if one.small_blind), None)
        self.hands_seen += 1
        self.stacks_before = stacks_before_hand(game)
        self.button = self.big_blind = self._small_blind = ""
        if at is None:
            self.lines.append(f"Hand {self.hands_seen}")
        else:
            button = game.table[at if len(game.table) == 2 else at - 1]
            self.button, self._small_blind = button.player_id, game.table[at].player_id
            self.big_blind = game.table[(at + 1) % len(game.table)].player_id
            self.lines.append(
                f"Hand {self.hands_seen}: the button is {'yours' if self._is_own(button) else display_name(button)}"
            )
        self._add_board_cards((), game.cards.board)

    def _end_hand(self, before: Game, game: Game) -> None:
        """Add the end of a hand. `game` may show the next hand already."""
        stacks = stacks_before_hand(game) if is_running(game) else {one.player_id: one.wealth for one in game.table}
        for one in before.table:
            if one.player_id == before.turn.player_id and self._has_folded(one, before, game, stacks):
                self._add_line(one, "fold")
        if not is_running(game):
            self._add_board_cards(before.cards.board, game.cards.board)
        shown = {one.player_id: one.hand for one in game.last_winners or ()}
        for one in before.table:
            chips = stacks.get(one.player_id, 0)
            net = chips - self.stacks_before.get(one.player_id, chips)
            if net > 0:
                cards = shown.get(one.player_id, ())
                with_hand = (
                    f" with {cards_text(cards)}" if cards and all(card in CARD_NUMBERS for card in cards) else ""
                )
                self._add_line(one, "win", f"{with_hand}, {net:+d}")

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
                self._add_line(one, "leave")
        for one in game.table:
            if one.player_id not in old:
                self._add_line(one, "sit", " down")

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
                self._add_line(one, "leave")
                continue
            added = one.wealth - then.wealth - (then.bet_so_far if is_round_over else 0)
            could_check = one.state == "active" and one.wealth > 0 and one.bet_so_far == top
            if added > 0:
                top = self._add_bet(one, added, top)
            elif could_check and (then.state == "called" or (is_round_over and then.state != "folded")):
                self._add_line(one, "check")
            if then.state == "folded" != one.state:
                self._add_line(one, "fold")
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
                self._add_line(one, "check")

    def _add_bet(self, player: Player, added: int, top: int) -> int:
        """Add a call, bet or raise of `added` chips; `top` is the bet to match. Return the new bet to match."""
        total = player.bet_so_far + added
        all_in = "" if added < player.wealth else ", all-in"
        if total <= top:
            self._add_line(player, "call", f" {added}{all_in}")
        elif top:
            self._add_line(player, "raise", f" to {total}{all_in}")
        else:
            self._add_line(player, "bet", f" {total}{all_in}")
        return max(top, total)

    def _add_board_cards(self, board: Sequence[str], cards: Sequence[str]) -> None:
        """Add a line for each street in `cards` that is not in `board`."""
        for street, old, new in zip(STREET_NAMES[1:], split_board(board), split_board(cards), strict=True):
            if new and new != old:
                self.lines.append(f"{street.capitalize()}: {cards_text(new)}")

    def _add_line(self, player: Player, verb: str, more: str = "") -> None:
        self.lines.append(f"You {verb}{more}" if self._is_own(player) else f"{display_name(player)} {verb}s{more}")

    def _is_own(self, player: Player) -> bool:
        return player.handle == self._own_handle


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


def display_name(player: Player) -> str:
    """Return a player's name, shortened and safe to print."""
    return truncate(terminal_text(player.handle or player.player_id), MAX_NAME_COLUMNS)


def truncate(text: str, columns: int) -> str:
    """Return a text in at most `columns` columns; a shortened text ends with `~`.

    >>> truncate("christopher", 6)
    'chris~'
    """
    return text if cell_len(text) <= columns else f"{set_cell_size(text, columns - 1)}~"


def cards_text(cards: Iterable[str]) -> str:
    """Return cards as text, separated by spaces."""
    return " ".join(f"{face.rank}{face.suit}" for face in map(french_face, cards))
