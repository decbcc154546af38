"""Screen of a hold'em table: what it shows, and what its keys do."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from math import ceil
from typing import Final, NamedTuple

from rich.console import RenderableType
from rich.constrain import Constrain
from rich.text import Text

from croupier.clients.holdem_api import MAX_TABLE_PLAYERS
from croupier.clients.holdem_seat import HoldemSeat
from croupier.rooms.holdem.engine.legal import FOLD, NO_MOVES, Legal, Move
from croupier.rooms.holdem.wire import Game, Player
from croupier.tui.cards import encodable_or
from croupier.tui.frame import SceneFrame, terminal_text
from croupier.tui.holdem.hand_history import LiveHandHistory, display_name, is_running
from croupier.tui.holdem.table_view import HoldemTableView
from croupier.tui.keys import ENTER, ESCAPE
from croupier.tui.number_input import NumberInput
from croupier.tui.scene import KEY_NAMES, SCENE_WIDTH_COLUMNS, Choice
from croupier.tui.table_action import TableAction

WELCOME: Final = "Welcome. The best five of seven cards win."


class PrefilledBet(NamedTuple):
    """A key's result that fills in a total for the player to confirm with Enter."""

    total: int


class HoldemScene:
    """State of the screen. `house` is the address of the server, `clock` returns its time in seconds since the epoch.

    Bets are entered as totals of the betting round: `raise to 60`.
    """

    def __init__(self, house: str, clock: Callable[[], float]) -> None:
        self._house = house
        self._clock = clock
        self._history = LiveHandHistory()
        self._table: HoldemSeat
        self._game: Game | None = None
        self._number_input = NumberInput()
        self._earlier_nets: list[int] = []
        self._nets: list[int] = []
        self._nets_shown = 0
        self._notice = ""
        self._is_action_pending = False
        self._is_confirming_leave = False
        self._was_to_act = False  # in the last state that was seen
        self._last_stack = 0  # in the last state that was seen, without bets
        self._has_lost_seat = False
        self._is_over = False
        self.is_seated = False

    # Events.

    def sit(self, table: HoldemSeat) -> None:
        """Start to show a seat, after joining or rejoining."""
        self._earlier_nets += self._nets
        self._table = table
        self._nets = table.nets
        self._nets_shown = 0
        self._history = LiveHandHistory(table.player.options.user)
        self._game = None
        self._notice = WELCOME
        self._is_action_pending = self._has_lost_seat = False
        self.is_seated = True

    def update(self, game: Game) -> None:
        """Show a new state of the game."""
        self._game = game
        self._history.update(game)
        self._show_net()
        own_player = self._own_player
        if own_player is not None:
            self._last_stack = own_player.wealth
            self._was_to_act = bool(self._table.player.legal)
        if not self._legal:
            self._number_input = NumberInput()
        if not self._chips_at_stake:
            self._is_confirming_leave = False

    def on_sent(self, move: Move) -> None:
        """Note that a move was sent; no other is possible until the server answers."""
        self._is_action_pending, self._was_to_act, self._notice = True, False, ""
        if isinstance(move, int):
            self._last_stack -= move

    def on_answered(self, refusal: str | None) -> None:
        """Note the server's answer to a move; `refusal` is None if it accepted the move."""
        self._is_action_pending = False
        if refusal:
            self._notice = f"The server answers: {refusal}"

    def on_seat_lost(self) -> None:
        """Explain how the seat was lost."""
        self._show_net()
        self._has_lost_seat = True
        if self._was_to_act:
            self._notice = "Your time ran out: you are out of the game."
        elif not self._last_stack:
            self._notice = "You have lost your last chip: you are out of the game."
        else:
            self._notice = "You no longer have a seat in this game."

    def on_ended(self, reason: str) -> None:
        """Show the reason why the session has ended."""
        self._notice = reason
        self._is_over = True

    def press(self, key: str) -> Move | TableAction | None:
        """Handle a key. Return the move or table action it means, None if there is nothing to do."""
        was_confirming, self._is_confirming_leave = self._is_confirming_leave, False
        if was_confirming and key == ESCAPE:
            self._notice = ""
            return None
        if self._legal.raise_range and self._number_input.accept_key(key):
            return None
        if self._number_input.digits and key == ENTER:
            return self._submit_total(self._number_input.pop_value())
        self._number_input = NumberInput()
        for choice in self._all_choices():
            if key.lower() in choice.keys:
                return self._apply_choice(choice.result, confirmed=was_confirming)
        self._notice = f"{KEY_NAMES.get(key) or (repr(key) if key.isprintable() else 'That key')} does nothing now."
        return None

    def draw(self) -> RenderableType:
        """Return the screen: table, turn, notice, results, history and keys."""
        above: list[RenderableType] = []
        if self._game is not None:
            above += [HoldemTableView(self._game, self._table.player.guid, self._history)]
        if self.is_seated and not self._is_over:
            above += [Text(self._status_text())]
        nets = self._earlier_nets + self._nets
        above += [
            Text(terminal_text(self._notice), style="bold"),
            Text(f"Hands: {len(nets)}   Chips won: {sum(nets):+d}"),
        ]
        below = [] if self._is_over else [Text(self._hint(), style="reverse")]
        return Constrain(
            SceneFrame(f"Hold'em at {self._house}", above, self._history.lines, below), SCENE_WIDTH_COLUMNS
        )

    # State.

    @property
    def _own_player(self) -> Player | None:
        """The player's own entry at the table, None without a seat."""
        table = () if self._game is None else self._game.table
        return next((one for one in table if one.player_id == self._table.player.guid), None)

    @property
    def _legal(self) -> Legal:
        """The legal moves; none while a move awaits its answer."""
        legal = self._table.player.legal
        return legal if isinstance(legal, Legal) and not self._is_action_pending else NO_MOVES

    @property
    def _chips_at_stake(self) -> int:
        """The chips in the pots that the player would lose by leaving now."""
        player, game = self._own_player, self._game
        if player is None or game is None or player.state == "folded" or not is_running(game):
            return 0
        return max(player.bet_so_far, self._history.stacks_before.get(player.player_id, 0) - player.wealth)

    def _show_net(self) -> None:
        """Show the result of a hand that has just ended."""
        if len(self._nets) > self._nets_shown:
            net = self._nets[-1]
            self._nets_shown = len(self._nets)
            self._notice = f"You {'win' if net > 0 else 'lose'} {abs(net)}." if net else "You neither win nor lose."

    def _status_text(self) -> str:
        """Return a line that says what the game is waiting for."""
        game = self._game
        dots = encodable_or("…", "...")
        if self._has_lost_seat or game is None:
            return "You are not seated at this table." if self._has_lost_seat else f"Waiting for the server {dots}"
        if self._own_player is None:
            is_full = self._table.joined_game.is_queued or len(game.table) >= MAX_TABLE_PLAYERS
            return f"Waiting for a free seat {dots}" if is_full else f"You will be dealt in with the next hand {dots}"
        if len(game.table) == 1:
            return f"Waiting for another player {dots}"
        if not is_running(game):
            return f"The next hand is about to begin {dots}"
        turn = game.turn
        left = seconds_left(turn.expiry, self._clock())
        time = "" if left is None else f", {left} s left"
        if turn.player_id == self._table.player.guid:
            to_call = self._legal.call
            if not self._legal:
                return f"Waiting for the server {dots}"
            return f"It is your turn: {f'{to_call} to call' if to_call else 'nothing to call'}{time}."
        to_act = next((display_name(one) for one in game.table if one.player_id == turn.player_id), "another player")
        return f"It is {to_act}'s turn{time}."

    # Choices.

    def _all_choices(self) -> Iterator[Choice[Move | PrefilledBet]]:
        """Yield the choices with their keys."""
        legal = self._legal
        if self._has_lost_seat:
            yield Choice(f"j{ENTER}", "join again", TableAction.REJOIN)
        if legal:
            yield Choice("f", "fold", FOLD)
            yield Choice(
                "c", f"call {legal.call}{self._all_in_suffix(legal.call)}" if legal.call else "check", legal.call
            )
            yield from self._raise_choices(legal)
        yield Choice("q", "leave", TableAction.LEAVE)

    def _raise_choices(self, legal: Legal) -> Iterator[Choice[Move | PrefilledBet]]:
        """Yield the bets and raises that have keys."""
        if legal.raise_range is None:
            return
        low, high = legal.raise_range
        if low < high:
            total = self._own_bet + low
            yield Choice(self._bet_verb[0], f"{self._bet_verb} {total}", PrefilledBet(total))
        for key, label, chips in (("h", "half the pot", legal.pot_sized(1, 2)), ("p", "the pot", legal.pot_sized())):
            if chips is not None and low < chips < high:
                yield Choice(key, f"{label}: {self._own_bet + chips}", PrefilledBet(self._own_bet + chips))
        yield Choice("a", f"all-in: {self._own_bet + high}", PrefilledBet(self._own_bet + high))

    @property
    def _own_bet(self) -> int:
        """The player's bet of this betting round."""
        return 0 if self._game is None else self._game.turn.bet_so_far

    @property
    def _bet_verb(self) -> str:
        return "raise to" if self._game is not None and self._game.turn.bet_to_player else "bet"

    def _all_in_suffix(self, chips: int) -> str:
        player = self._own_player
        return ", all-in" if player is not None and chips == player.wealth else ""

    def _apply_choice(self, result: Move | PrefilledBet | TableAction, *, confirmed: bool) -> Move | TableAction | None:
        """Apply a choice and return its move or action. A player with chips in the pot must confirm to leave."""
        if isinstance(result, PrefilledBet):
            self._number_input.digits = str(result.total)
            return None
        if result is TableAction.LEAVE and self._chips_at_stake and not confirmed:
            self._is_confirming_leave = True
            self._notice = f"Your {self._chips_at_stake} chips in the pot are lost if you leave."
            return None
        return result

    def _submit_total(self, total: int) -> Move | None:
        """Return the chips to add for a total that was entered, None with a notice if they are not legal."""
        legal = self._legal
        chips = total - self._own_bet
        if chips in legal:
            return chips
        assert legal.raise_range is not None, "totals are entered only if a raise is legal"
        low, high = (self._own_bet + chips for chips in legal.raise_range)
        allowed = f"{low} to {high}" if low < high else f"{high}"
        self._notice = f"You cannot {self._bet_verb} {total}; allowed: {allowed}."
        return None

    def _hint(self) -> str:
        """Return the line of keys that do something now."""
        if self._is_confirming_leave:
            return "[q] leave anyway  [Esc] stay"
        *choices, leave = [
            f"[{'/'.join(KEY_NAMES.get(key, key) for key in keys)}] {label}" for keys, label, _ in self._all_choices()
        ]
        if self._number_input.digits:
            choices = [
                f"{self._bet_verb} {self._number_input.digits}_".capitalize(),
                "[Enter] confirm",
                "[Esc] cancel",
            ]
        elif self._legal.raise_range:
            choices.append(f"[0-9] {self._bet_verb} another total")
        return "  ".join([*choices, leave])


def seconds_left(expiry: str, now: float) -> int | None:
    """Return the whole seconds from `now` (seconds since the epoch) to an expiry time, None if it cannot be parsed.

    The format is RFC 3339 (holdem-5.11), or that of the document's example.

    >>> seconds_left("1970-01-01T00:01:00Z", 45.0)
    15
    >>> seconds_left("2014-09-24 15:14:53.021303798 -0400 EDT", 1411586000.0)
    94
    """
    date, *rest = expiry.split() or [""]
    try:
        end = datetime.fromisoformat(f"{date}T{''.join(rest[:2])}" if rest else date)
        end = end if end.tzinfo else end.replace(tzinfo=UTC)
        return max(0, ceil(end.timestamp() - now))
    except (ValueError, OverflowError):
        return None
