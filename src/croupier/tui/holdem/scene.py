"""Screen of a hold'em table: what it shows, and what its keys do."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.console import RenderableType

from croupier.clients.holdem_api import MAX_TABLE_PLAYERS, Refusal
from croupier.clients.holdem_seat import HoldemSeat
from croupier.core.errors import IllegalMove, Violation
from croupier.rooms.holdem.engine.legal import FOLD, NO_MOVES, Legal, Move
from croupier.rooms.holdem.wire import Game, Player
from croupier.tui.cards import encodable_or
from croupier.tui.holdem.clock import seconds_left
from croupier.tui.holdem.hand_history import LiveHandHistory, display_name, is_running
from croupier.tui.holdem.table_view import HoldemTableView
from croupier.tui.keys import ENTER
from croupier.tui.number_input import NumberInput
from croupier.tui.scene import Choice, NumberPrompt, PrefilledNumber, Scene, TableAction


class HoldemScene(Scene[Move, HoldemSeat]):
    """The screen of a hold'em table. `clock` returns the server's time in seconds since the epoch.

    Bets are entered as totals of the betting round: `raise to 60`. A person who leaves while joining has to join first:
    the seat has to be given up.
    """

    TITLE = "Hold'em"
    WELCOME = "Welcome. The best five of seven cards win."
    errors = (Violation, ConnectionError, Refusal)
    can_leave_early = False
    timeout_seconds = 3.0
    redraw_seconds = 1.0  # the time that is left is shown in seconds

    def __init__(self, place: str, clock: Callable[[], float]) -> None:
        super().__init__(place)
        self._clock = clock
        self._history = LiveHandHistory()
        self._game: Game | None = None
        self._earlier_nets: list[int] = []
        self._nets: list[int] = []
        self._nets_shown = 0
        self._is_action_pending = False
        self._was_to_act = False  # in the last state that was seen
        self._last_stack = 0  # in the last state that was seen, without bets
        self._has_lost_seat = False

    # The client.

    def sit(self, client: HoldemSeat) -> None:
        """Start to show a seat, after joining or rejoining."""
        super().sit(client)
        self._earlier_nets += self._nets
        self._nets = client.nets
        self._nets_shown = 0
        self._history = LiveHandHistory(client.player.options.user)
        self._game = None
        self._is_action_pending = self._has_lost_seat = False

    async def receive(self) -> Game | None:
        """Wait for the next state; None once the seat is lost."""
        return await self._client.next_game()

    async def submit(self, move: Move) -> str | None:
        """Make a move. Return None if the server accepted it, else the reason: it may have come too late."""
        try:
            return await self._client.make_move(move)
        except IllegalMove as error:
            return str(error)

    def end_reason(self, error: Exception) -> str:
        """Return the text for an error. Raises the error if there is no screen yet."""
        if not self._is_seated:
            raise error
        match error:
            case Violation():
                return f"The server broke the protocol. {error}"
            case Refusal():
                return f"The server refused the request: {error}"
            case _:
                return f"The server is gone: {error}"

    # Events.

    def on_received(self, item: Game) -> None:
        """Show a new state of the game."""
        self._game = item
        self._history.update(item)
        self._show_net()
        own_player = self._own_player
        if own_player is not None:
            self._last_stack = own_player.wealth
            self._was_to_act = bool(self._client.player.legal)
        if not self._legal:
            self._number_input = NumberInput()
        if not self._chips_at_stake:
            self._is_confirming_leave = False

    def on_submitted(self, move: Move) -> None:
        """Note that a move is about to be sent; no other is possible until the server answers."""
        self._is_action_pending, self._was_to_act, self._notice = True, False, ""
        if isinstance(move, int):
            self._last_stack -= move

    def on_answered(self, refusal: str | None) -> None:
        """Note the server's answer to a move."""
        self._is_action_pending = False
        if refusal:
            self._notice = f"The server answers: {refusal}"

    def on_closed(self) -> None:
        """Explain how the seat was lost."""
        self._show_net()
        self._has_lost_seat = True
        if self._was_to_act:
            self._notice = "Your time ran out: you are out of the game."
        elif not self._last_stack:
            self._notice = "You have lost your last chip: you are out of the game."
        else:
            self._notice = "You no longer have a seat in this game."

    # The screen.

    def _render_table(self) -> Sequence[RenderableType]:
        return [] if self._game is None else [HoldemTableView(self._game, self._client.player.guid, self._history)]

    def _score_text(self) -> str:
        nets = self._earlier_nets + self._nets
        return f"Hands: {len(nets)}   Chips won: {sum(nets):+d}"

    def _history_lines(self) -> Iterable[str]:
        return self._history.lines

    # State.

    @property
    def _own_player(self) -> Player | None:
        """The player's own entry at the table, None without a seat."""
        table = () if self._game is None else self._game.table
        return next((one for one in table if one.player_id == self._client.player.guid), None)

    @property
    def _legal(self) -> Legal:
        """The legal moves; none while a move awaits its answer."""
        legal = self._client.player.legal
        return legal if isinstance(legal, Legal) and not self._is_action_pending else NO_MOVES

    @property
    def _chips_at_stake(self) -> int:
        """The chips in the pots that the player would lose by leaving now."""
        player, game = self._own_player, self._game
        if player is None or game is None or player.state == "folded" or not is_running(game):
            return 0
        return max(player.bet_so_far, self._history.stacks_before.get(player.player_id, 0) - player.wealth)

    def _show_net(self) -> None:
        if len(self._nets) > self._nets_shown:
            net = self._nets[-1]
            self._nets_shown = len(self._nets)
            self._notice = f"You {'win' if net > 0 else 'lose'} {abs(net)}." if net else "You neither win nor lose."

    def _status_text(self) -> str:
        game = self._game
        dots = encodable_or("…", "...")
        if not self._is_seated:
            return ""
        if self._has_lost_seat or game is None:
            return "You are not seated at this table." if self._has_lost_seat else f"Waiting for the server {dots}"
        if self._own_player is None:
            is_full = self._client.joined_game.is_queued or len(game.table) >= MAX_TABLE_PLAYERS
            return f"Waiting for a free seat {dots}" if is_full else f"You will be dealt in with the next hand {dots}"
        if len(game.table) == 1:
            return f"Waiting for another player {dots}"
        if not is_running(game):
            return f"The next hand is about to begin {dots}"
        turn = game.turn
        left = seconds_left(turn.expiry, self._clock())
        time = "" if left is None else f", {left} s left"
        if turn.player_id == self._client.player.guid:
            to_call = self._legal.call
            if not self._legal:
                return f"Waiting for the server {dots}"
            return f"It is your turn: {f'{to_call} to call' if to_call else 'nothing to call'}{time}."
        to_act = next((display_name(one) for one in game.table if one.player_id == turn.player_id), "another player")
        return f"It is {to_act}'s turn{time}."

    # Choices.

    def _choices(self) -> Iterator[Choice[Move]]:
        legal = self._legal
        if self._has_lost_seat:
            yield Choice(f"j{ENTER}", "join again", TableAction.REJOIN)
        if legal:
            yield Choice("f", "fold", FOLD)
            yield Choice(
                "c", f"call {legal.call}{self._all_in_suffix(legal.call)}" if legal.call else "check", legal.call
            )
            yield from self._raise_choices(legal)

    def _raise_choices(self, legal: Legal) -> Iterator[Choice[Move]]:
        """Yield the bets and raises that have keys."""
        if legal.raise_range is None:
            return
        low, high = legal.raise_range
        if low < high:
            total = self._own_bet + low
            yield Choice(self._bet_verb[0], f"{self._bet_verb} {total}", PrefilledNumber(total))
        for key, label, chips in (("h", "half the pot", legal.pot_sized(1, 2)), ("p", "the pot", legal.pot_sized())):
            if chips is not None and low < chips < high:
                yield Choice(key, f"{label}: {self._own_bet + chips}", PrefilledNumber(self._own_bet + chips))
        yield Choice("a", f"all-in: {self._own_bet + high}", PrefilledNumber(self._own_bet + high))

    @property
    def _own_bet(self) -> int:
        return 0 if self._game is None else self._game.turn.bet_so_far

    @property
    def _bet_verb(self) -> str:
        return "raise to" if self._game is not None and self._game.turn.bet_to_player else "bet"

    def _all_in_suffix(self, chips: int) -> str:
        player = self._own_player
        return ", all-in" if player is not None and chips == player.wealth else ""

    def _leave_warning(self) -> str:
        chips = self._chips_at_stake
        return f"Your {chips} chips in the pot are lost if you leave." if chips else ""

    def _number_prompt(self) -> NumberPrompt[Move] | None:
        """Return the prompt for the total of a bet or raise; its move is the chips to add."""
        legal, own_bet = self._legal, self._own_bet
        if legal.raise_range is None:
            return None
        low, high = (own_bet + chips for chips in legal.raise_range)
        allowed = f"{low} to {high}" if low < high else f"{high}"

        def make_move(total: int) -> Move | None:
            return total - own_bet if total - own_bet in legal else None

        return NumberPrompt(self._bet_verb, f"{self._bet_verb} another total", allowed, make_move)
