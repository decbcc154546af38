"""What a person sees of a hold'em table, and what the keys mean there."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from math import ceil
from typing import Final, NamedTuple

from rich.console import RenderableType
from rich.constrain import Constrain
from rich.text import Text

from croupier.clients.holdem import HoldemSeat
from croupier.clients.holdem_api import MAX_TABLE_PLAYERS
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
    """Puts a total where totals are typed: Enter makes it a bet."""

    total: int


class HoldemScene:
    """What is shown and what may be pressed, made with the address of the server.

    Sizes are totals of the betting round, as players say them: `raise to 60`. `clock` tells the server's time in
    seconds since 1970.
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
        self._was_to_act = False  # for a decision, when last seen
        self._last_stack = 0  # behind, as far as we know
        self._has_lost_seat = False
        self._is_over = False
        self.is_seated = False

    # What the table tells the scene.

    def sit(self, table: HoldemSeat) -> None:
        """We have joined, for the first time or once more."""
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
        """The game is like this now."""
        self._game = game
        self._history.update(game)
        self._show_net()
        us = self._own_player
        if us is not None:
            self._last_stack = us.wealth
            self._was_to_act = bool(self._table.player.legal)
        if not self._legal:
            self._number_input = NumberInput()
        if not self._chips_at_stake:
            self._is_confirming_leave = False

    def on_sent(self, move: Move) -> None:
        """We act; nothing else can be done until the server has answered."""
        self._is_action_pending, self._was_to_act, self._notice = True, False, ""
        if isinstance(move, int):
            self._last_stack -= move

    def on_answered(self, refusal: str) -> None:
        """The server has taken an act, or has told something else."""
        self._is_action_pending = False
        if refusal:
            self._notice = f"The server says: {refusal}"

    def on_seat_lost(self) -> None:
        """We have no seat any more."""
        self._show_net()
        self._has_lost_seat = True
        if self._was_to_act:
            self._notice = "Your time was over: you are out of the game."
        elif not self._last_stack:
            self._notice = "You have lost your last chip: you are out of the game."
        else:
            self._notice = "You have no seat in this game any more."

    def on_ended(self, reason: str) -> None:
        """Everything is over; `reason` is for the person."""
        self._notice = reason
        self._is_over = True

    def press(self, key: str) -> Move | TableAction | None:
        """What a key says, None when it says nothing."""
        leaving, self._is_confirming_leave = self._is_confirming_leave, False
        if leaving and key == ESCAPE:
            self._notice = ""
            return None
        if self._legal.raise_range and self._number_input.accept_key(key):
            return None
        if self._number_input.digits and key == ENTER:
            return self._submit_total(self._number_input.pop_value())
        self._number_input = NumberInput()
        for choice in self._all_choices():
            if key.lower() in choice.keys:
                return self._apply_choice(choice.result, sure=leaving)
        self._notice = f"{KEY_NAMES.get(key) or (repr(key) if key.isprintable() else 'That key')} does nothing now."
        return None

    def draw(self) -> RenderableType:
        """The table as it is now, whose turn it is, what was told, what was won, and what may be done."""
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

    # What there is.

    @property
    def _own_player(self) -> Player | None:
        """Ourselves at the table, if we are there."""
        table = () if self._game is None else self._game.table
        return next((one for one in table if one.player_id == self._table.player.guid), None)

    @property
    def _legal(self) -> Legal:
        """What may be done now; nothing while an act is under way."""
        legal = self._table.player.legal
        return legal if isinstance(legal, Legal) and not self._is_action_pending else NO_MOVES

    @property
    def _chips_at_stake(self) -> int:
        """The chips that we would leave in the pots if we left now."""
        us, game = self._own_player, self._game
        if us is None or game is None or us.state == "folded" or not is_running(game):
            return 0
        return max(us.bet_so_far, self._history.stacks_before.get(us.player_id, 0) - us.wealth)

    def _show_net(self) -> None:
        """Tell what a hand has brought that is over."""
        if len(self._nets) > self._nets_shown:
            net = self._nets[-1]
            self._nets_shown = len(self._nets)
            self._notice = f"You {'win' if net > 0 else 'lose'} {abs(net)}." if net else "You neither win nor lose."

    def _status_text(self) -> str:
        """What everybody waits for."""
        game = self._game
        dots = encodable_or("…", "...")
        if self._has_lost_seat or game is None:
            return "You do not sit at this table." if self._has_lost_seat else f"Waiting for the server {dots}"
        if self._own_player is None:
            full = self._table.joined_game.is_queued or len(game.table) >= MAX_TABLE_PLAYERS
            return f"Waiting for a free seat {dots}" if full else f"You will be dealt in with the next hand {dots}"
        if len(game.table) == 1:
            return f"Waiting for somebody to play with {dots}"
        if not is_running(game):
            return f"The next hand is about to begin {dots}"
        turn = game.turn
        left = seconds_left(turn.expiry, self._clock())
        time = "" if left is None else f", {left} s left"
        if turn.player_id == self._table.player.guid:
            owed = self._legal.call
            if not self._legal:
                return f"Your act is on its way {dots}"
            return f"It is your turn: {f'{owed} to call' if owed else 'nothing to call'}{time}."
        asked = next((display_name(one) for one in game.table if one.player_id == turn.player_id), "somebody")
        return f"It is {asked}'s turn{time}."

    # What may be done.

    def _all_choices(self) -> Iterator[Choice[Move | PrefilledBet]]:
        """Everything that may be done, and its keys."""
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
        """The raises that have keys of their own."""
        if legal.raise_range is None:
            return
        low, high = legal.raise_range
        if low < high:
            total = self._own_bet + low
            yield Choice(self._bet_verb[0], f"{self._bet_verb} {total}", PrefilledBet(total))
        for key, told, chips in (("h", "half the pot", legal.pot_sized(1, 2)), ("p", "the pot", legal.pot_sized())):
            if chips is not None and low < chips < high:
                yield Choice(key, f"{told}: {self._own_bet + chips}", PrefilledBet(self._own_bet + chips))
        yield Choice("a", f"all-in: {self._own_bet + high}", PrefilledBet(self._own_bet + high))

    @property
    def _own_bet(self) -> int:
        """Our bet of this round."""
        return 0 if self._game is None else self._game.turn.bet_so_far

    @property
    def _bet_verb(self) -> str:
        return "raise to" if self._game is not None and self._game.turn.bet_to_player else "bet"

    def _all_in_suffix(self, chips: int) -> str:
        us = self._own_player
        return ", all-in" if us is not None and chips == us.wealth else ""

    def _apply_choice(self, says: Move | PrefilledBet | TableAction, *, sure: bool) -> Move | TableAction | None:
        """What a choice says. Who has chips in the pot is asked whether he is sure that he wants to leave."""
        if isinstance(says, PrefilledBet):
            self._number_input.digits = str(says.total)
            return None
        if says is TableAction.LEAVE and self._chips_at_stake and not sure:
            self._is_confirming_leave = True
            self._notice = f"Your {self._chips_at_stake} chips in the pot are lost if you leave."
            return None
        return says

    def _submit_total(self, total: int) -> Move | None:
        """The chips that make a total that has been typed to its end."""
        legal = self._legal
        chips = total - self._own_bet
        if chips in legal:
            return chips
        assert legal.raise_range is not None, "a total is only typed where there are raises"
        low, high = (self._own_bet + chips for chips in legal.raise_range)
        allowed = f"{low} to {high}" if low < high else f"{high}"
        self._notice = f"You cannot {self._bet_verb} {total}; allowed: {allowed}."
        return None

    def _hint(self) -> str:
        """The keys that do something now."""
        if self._is_confirming_leave:
            return "[q] leave all the same  [Esc] stay"
        *choices, leave = [
            f"[{'/'.join(KEY_NAMES.get(key, key) for key in keys)}] {told}" for keys, told, _ in self._all_choices()
        ]
        if self._number_input.digits:
            choices = [
                f"{self._bet_verb} {self._number_input.digits}_".capitalize(),
                "[Enter] do it",
                "[Esc] never mind",
            ]
        elif self._legal.raise_range:
            choices.append(f"[0-9] {self._bet_verb} another total")
        return "  ".join([*choices, leave])


def seconds_left(expiry: str, now: float) -> int | None:
    """The whole seconds from `now` (since 1970) to an expiry, None where it cannot be read.

    It is in RFC 3339 (holdem-5.11), or as the document's example has it: `2014-09-24 15:14:53.021303798 -0400 EDT`.
    """
    date, *rest = expiry.split() or [""]
    try:
        end = datetime.fromisoformat(f"{date}T{''.join(rest[:2])}" if rest else date)
        end = end if end.tzinfo else end.replace(tzinfo=UTC)
        return max(0, ceil(end.timestamp() - now))
    except (ValueError, OverflowError):
        return None
