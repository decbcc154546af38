"""What a person sees of a hold'em table, and what the keys mean there."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from math import ceil
from typing import Final, NamedTuple

from rich.console import RenderableType
from rich.constrain import Constrain
from rich.text import Text

from croupier.clients.holdem import Table
from croupier.clients.holdem_api import SEATS
from croupier.rooms.holdem.engine.legal import FOLD, NOTHING, Legal, Move
from croupier.rooms.holdem.wire import Game, Player
from croupier.tui.cards import either
from croupier.tui.frame import Frame, printable
from croupier.tui.holdem.hand_history import Chronicle, name, running
from croupier.tui.holdem.table_view import Felt
from croupier.tui.keys import ENTER, ESCAPE
from croupier.tui.number_input import Number
from croupier.tui.scene import NAMES, WIDTH, Choice
from croupier.tui.table_action import Wish

WELCOME: Final = "Welcome. The best five of seven cards win."


class Fill(NamedTuple):
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
        self._chronicle = Chronicle()
        self._table: Table
        self._game: Game | None = None
        self._number = Number()
        self._earlier: list[int] = []
        self._settled: list[int] = []
        self._hands = 0
        self._told = ""
        self._underway = False
        self._leaving = False
        self._asked = False  # for a decision, when last seen
        self._chips = 0  # behind, as far as we know
        self._lost = False
        self._over = False
        self.seated = False

    # What the table tells the scene.

    def sit(self, table: Table) -> None:
        """We have joined, for the first time or once more."""
        self._earlier += self._settled
        self._table = table
        self._settled = table.settled
        self._hands = 0
        self._chronicle = Chronicle(table.player.options.user)
        self._game = None
        self._told = WELCOME
        self._underway = self._lost = False
        self.seated = True

    def saw(self, game: Game) -> None:
        """The game is like this now."""
        self._game = game
        self._chronicle.saw(game)
        self._settle()
        us = self._us
        if us is not None:
            self._chips = us.wealth
            self._asked = bool(self._table.player.legal)
        if not self._legal:
            self._number = Number()
        if not self._stake:
            self._leaving = False

    def said(self, move: Move) -> None:
        """We act; nothing else can be done until the server has answered."""
        self._underway, self._asked, self._told = True, False, ""
        if isinstance(move, int):
            self._chips -= move

    def answered(self, told: str) -> None:
        """The server has taken an act, or has told something else."""
        self._underway = False
        if told:
            self._told = f"The server says: {told}"

    def lost(self) -> None:
        """We have no seat any more."""
        self._settle()
        self._lost = True
        if self._asked:
            self._told = "Your time was over: you are out of the game."
        elif not self._chips:
            self._told = "You have lost your last chip: you are out of the game."
        else:
            self._told = "You have no seat in this game any more."

    def ended(self, reason: str) -> None:
        """Everything is over; `reason` is for the person."""
        self._told = reason
        self._over = True

    def press(self, key: str) -> Move | Wish | None:
        """What a key says, None when it says nothing."""
        leaving, self._leaving = self._leaving, False
        if leaving and key == ESCAPE:
            self._told = ""
            return None
        if self._legal.bounds and self._number.takes(key):
            return None
        if self._number.typed and key == ENTER:
            return self._typed(self._number.taken())
        self._number = Number()
        for choice in self._offered():
            if key.lower() in choice.keys:
                return self._chosen(choice.says, sure=leaving)
        self._told = f"{NAMES.get(key) or (repr(key) if key.isprintable() else 'That key')} does nothing now."
        return None

    def draw(self) -> RenderableType:
        """The table as it is now, whose turn it is, what was told, what was won, and what may be done."""
        above: list[RenderableType] = []
        if self._game is not None:
            above += [Felt(self._game, self._table.player.guid, self._chronicle)]
        if self.seated and not self._over:
            above += [Text(self._status())]
        nets = self._earlier + self._settled
        above += [
            Text(printable(self._told), style="bold"),
            Text(f"Hands: {len(nets)}   Chips won: {sum(nets):+d}"),
        ]
        below = [] if self._over else [Text(self._hint(), style="reverse")]
        return Constrain(Frame(f"Hold'em at {self._house}", above, self._chronicle.lines, below), WIDTH)

    # What there is.

    @property
    def _us(self) -> Player | None:
        """Ourselves at the table, if we are there."""
        table = () if self._game is None else self._game.table
        return next((one for one in table if one.player_id == self._table.player.guid), None)

    @property
    def _legal(self) -> Legal:
        """What may be done now; nothing while an act is under way."""
        legal = self._table.player.legal
        return legal if isinstance(legal, Legal) and not self._underway else NOTHING

    @property
    def _stake(self) -> int:
        """The chips that we would leave in the pots if we left now."""
        us, game = self._us, self._game
        if us is None or game is None or us.state == "folded" or not running(game):
            return 0
        return max(us.bet_so_far, self._chronicle.brought.get(us.player_id, 0) - us.wealth)

    def _settle(self) -> None:
        """Tell what a hand has brought that is over."""
        if len(self._settled) > self._hands:
            net = self._settled[-1]
            self._hands = len(self._settled)
            self._told = f"You {'win' if net > 0 else 'lose'} {abs(net)}." if net else "You neither win nor lose."

    def _status(self) -> str:
        """What everybody waits for."""
        game = self._game
        dots = either("…", "...")
        if self._lost or game is None:
            return "You do not sit at this table." if self._lost else f"Waiting for the server {dots}"
        if self._us is None:
            full = self._table.place.queued or len(game.table) >= SEATS
            return f"Waiting for a free seat {dots}" if full else f"You will be dealt in with the next hand {dots}"
        if len(game.table) == 1:
            return f"Waiting for somebody to play with {dots}"
        if not running(game):
            return f"The next hand is about to begin {dots}"
        turn = game.turn
        left = seconds_left(turn.expiry, self._clock())
        time = "" if left is None else f", {left} s left"
        if turn.player_id == self._table.player.guid:
            owed = self._legal.call
            if not self._legal:
                return f"Your act is on its way {dots}"
            return f"It is your turn: {f'{owed} to call' if owed else 'nothing to call'}{time}."
        asked = next((name(one) for one in game.table if one.player_id == turn.player_id), "somebody")
        return f"It is {asked}'s turn{time}."

    # What may be done.

    def _offered(self) -> Iterator[Choice[Move | Fill]]:
        """Everything that may be done, and its keys."""
        legal = self._legal
        if self._lost:
            yield Choice(f"j{ENTER}", "join again", Wish.AGAIN)
        if legal:
            yield Choice("f", "fold", FOLD)
            yield Choice("c", f"call {legal.call}{self._all_in(legal.call)}" if legal.call else "check", legal.call)
            yield from self._sizes(legal)
        yield Choice("q", "leave", Wish.LEAVE)

    def _sizes(self, legal: Legal) -> Iterator[Choice[Move | Fill]]:
        """The raises that have keys of their own."""
        if legal.bounds is None:
            return
        low, high = legal.bounds
        if low < high:
            total = self._bet + low
            yield Choice(self._verb[0], f"{self._verb} {total}", Fill(total))
        for key, told, chips in (("h", "half the pot", legal.share(1, 2)), ("p", "the pot", legal.share())):
            if chips is not None and low < chips < high:
                yield Choice(key, f"{told}: {self._bet + chips}", Fill(self._bet + chips))
        yield Choice("a", f"all-in: {self._bet + high}", Fill(self._bet + high))

    @property
    def _bet(self) -> int:
        """Our bet of this round."""
        return 0 if self._game is None else self._game.turn.bet_so_far

    @property
    def _verb(self) -> str:
        return "raise to" if self._game is not None and self._game.turn.bet_to_player else "bet"

    def _all_in(self, chips: int) -> str:
        us = self._us
        return ", all-in" if us is not None and chips == us.wealth else ""

    def _chosen(self, says: Move | Fill | Wish, *, sure: bool) -> Move | Wish | None:
        """What a choice says. Who has chips in the pot is asked whether he is sure that he wants to leave."""
        if isinstance(says, Fill):
            self._number.typed = str(says.total)
            return None
        if says is Wish.LEAVE and self._stake and not sure:
            self._leaving = True
            self._told = f"Your {self._stake} chips in the pot are lost if you leave."
            return None
        return says

    def _typed(self, total: int) -> Move | None:
        """The chips that make a total that has been typed to its end."""
        legal = self._legal
        chips = total - self._bet
        if chips in legal:
            return chips
        assert legal.bounds is not None, "a total is only typed where there are raises"
        low, high = (self._bet + chips for chips in legal.bounds)
        allowed = f"{low} to {high}" if low < high else f"{high}"
        self._told = f"You cannot {self._verb} {total}; allowed: {allowed}."
        return None

    def _hint(self) -> str:
        """The keys that do something now."""
        if self._leaving:
            return "[q] leave all the same  [Esc] stay"
        *choices, leave = [
            f"[{'/'.join(NAMES.get(key, key) for key in keys)}] {told}" for keys, told, _ in self._offered()
        ]
        if self._number.typed:
            choices = [f"{self._verb} {self._number.typed}_".capitalize(), "[Enter] do it", "[Esc] never mind"]
        elif self._legal.bounds:
            choices.append(f"[0-9] {self._verb} another total")
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
